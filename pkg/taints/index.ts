export * from './tolerations.ts';
export * from './well-known.ts';
