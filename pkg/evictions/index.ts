export * from './evictions.ts';
export * from './evict-pod.ts';
