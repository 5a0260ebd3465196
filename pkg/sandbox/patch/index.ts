export { applyJsonPatch } from './json.ts';
export { applyMerge } from './merge.ts';
export { applyStrategicMerge } from './strategic.ts';
