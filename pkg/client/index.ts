export * from './client.ts';
export * from './credentials.ts';
export * from './discovery.ts';
export * from './errors.ts';
export type * from './observer.ts';
export * from './rest.ts';
export { Transport } from './transport.ts';
export type { ServerAddress, TlsIdentity } from './transport.ts';
