export * from './amount.ts';
export { approximateValue, canonicalQuantity, milliInt64, milliValue, nanoValue, quantityValue } from './quantity.ts';
