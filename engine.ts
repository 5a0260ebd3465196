/** The parts that controllers and managers are made of, for authors who need more than `runManager`. */
export * from './informers/index.ts';
export * from './workqueue/index.ts';
export * from './pkg/controller/index.ts';
export * from './pkg/events/index.ts';
export * from './pkg/flags/index.ts';
export * from './pkg/leaderelection/index.ts';
export * from './pkg/log/index.ts';
export * from './pkg/metrics/index.ts';
export * from './pkg/time/index.ts';
export type { ReconcileOutcome } from './pkg/controller/index.ts'; // metrics have their own of the same name
