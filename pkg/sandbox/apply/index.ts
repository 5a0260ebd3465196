export { applyFields, trackUpdate } from './managers.ts';
export type { Conflict, ManagedFields, Writer } from './managers.ts';
export { shapeOf } from './shape.ts';
