export * from './context.ts';
export * from './gates.ts';
export * from './reconcile.ts';
