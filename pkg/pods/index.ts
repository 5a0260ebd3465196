export * from './claims.ts';
export * from './conditions.ts';
export * from './defaults.ts';
export * from './deletion-ranking.ts';
export * from './phases.ts';
