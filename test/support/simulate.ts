export * from '../../pkg/testing/simulate.ts';
