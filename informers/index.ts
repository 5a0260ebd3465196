export { createInformer, createSharedInformerFactory, settingsFor } from './factory.ts';
export type { KindSettings, SharedInformerFactory, SharedInformerFactoryOptions } from './factory.ts';
export * from './informer.ts';
export { createLister } from './lister.ts';
export type { Lister } from './lister.ts';
export { createInformerMetrics } from './metrics.ts';
export type { InformerMetrics, InformerMetricsSource } from './metrics.ts';
export type { InformerDependencies, InformerSettings } from './shared-informer.ts';
