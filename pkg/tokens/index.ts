export * from './token-secrets.ts';
