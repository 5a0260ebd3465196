export { tableOf } from './table.ts';
export type { IncludeObject } from './table.ts';
export { readPath } from './custom.ts';
