export * from './token-secrets.ts';
export * from './bootstrap-tokens.ts';
