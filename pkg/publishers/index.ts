export * from './sync-codes.ts';
