export * from '../../pkg/testing/test-context.ts';
