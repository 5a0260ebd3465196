export * from './conditions.ts';
export * from './deletion-ranking.ts';
export * from './phases.ts';
