export type { PrinterColumn } from './custom.ts';
export { Registry } from './registry.ts';
export { apiVersionOf, storageId } from './resource.ts';
export type { DiscoverableResource, Resource } from './resource.ts';
