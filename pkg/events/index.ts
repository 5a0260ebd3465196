export * from './recorder.ts';
