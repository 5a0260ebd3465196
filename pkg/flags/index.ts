export * from './checks.ts';
export * from './flag.ts';
export { formatValue, isBoolean, isRepeatable, type FlagType } from './go-types.ts';
