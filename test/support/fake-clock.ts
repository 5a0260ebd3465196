export * from '../../pkg/testing/fake-clock.ts';
