export * from './bindings.ts';
export * from './names.ts';
export * from './pools.ts';
