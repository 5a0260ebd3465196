/** To write a cloud controller manager: the interface of a cloud, and the controllers that run on it. */
export { cloudControllers, CloudOptionsError } from './controllers/cloud.ts';
export type { CloudOptions } from './controllers/cloud.ts';
export * from './pkg/cloud/index.ts';
