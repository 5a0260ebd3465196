export * from './node-affinity.ts';
