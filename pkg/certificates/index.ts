export * from './certificates.ts';
export * from './pem.ts';
