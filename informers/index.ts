export * from './informer.ts';
