export * from './broadcaster.ts';
export * from './recorder.ts';
