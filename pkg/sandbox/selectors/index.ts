export { parseFieldSelector } from './fields.ts';
export type { ObjectFilter } from './fields.ts';
export { parseLabelSelector } from './labels.ts';
