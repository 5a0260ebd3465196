export { metricsAnswer, metricsResources } from './answer.ts';
export { usageSettings } from './usage.ts';
