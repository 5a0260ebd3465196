export * from './fifo.ts';
