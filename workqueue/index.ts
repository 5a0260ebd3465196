export { InvalidDelayError } from './delay-heap.ts';
export { createWorkQueue } from './queue.ts';
export type { WorkQueueOptions } from './queue.ts';
export { bucketLimiter, exponentialLimiter, fixedLimiter, maxOfLimiters } from './rate-limiter.ts';
export type { RateLimiter } from './rate-limiter.ts';
export type { KeyPlace, QueueInspection, WorkQueue } from './work-queue.ts';
