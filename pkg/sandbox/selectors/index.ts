export { parseFieldSelector } from './fields.ts';
export { parseLabelSelector } from './labels.ts';
