export * from './address.ts';
export * from './cidr.ts';
