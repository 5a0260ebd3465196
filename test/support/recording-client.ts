export * from '../../pkg/testing/recording-client.ts';
