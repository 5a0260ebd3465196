export * from './admission.ts';
export * from './counts.ts';
export * from './evaluator.ts';
export * from './pods.ts';
export * from './resource-claims.ts';
export * from './services.ts';
export * from './usage.ts';
export * from './volume-claims.ts';
