export * from './backoff.ts';
export * from './clock.ts';
export * from './duration.ts';
export * from './random.ts';
export * from './system-clock.ts';
export * from './token-bucket.ts';
export * from './time-limit.ts';
export * from './turns.ts';
