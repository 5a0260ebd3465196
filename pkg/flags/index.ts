export * from './checks.ts';
export * from './flag.ts';
export { formatValue, isBoolean, isRepeatable, type FlagType, type FlagValue } from './go-types.ts';
