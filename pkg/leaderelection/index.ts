export * from './durations.ts';
export * from './election-options.ts';
export * from './elector.ts';
export * from './lease-candidate.ts';
export * from './leader-lost-error.ts';
export type { LeaseName } from './lease-lock.ts';
