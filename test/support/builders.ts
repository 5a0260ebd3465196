export * from '../../pkg/testing/builders.ts';
