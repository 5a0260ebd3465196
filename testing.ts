export * from './pkg/testing/index.ts';
