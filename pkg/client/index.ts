export * from './client.ts';
export * from './discovery.ts';
