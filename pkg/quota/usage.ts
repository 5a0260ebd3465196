import { setOwn, type Cached } from '../api/index.ts';
import { addAmounts, formatAmount, parseAmount, zeroAmount, type Amount } from '../quantities/index.ts';

/** Amounts by the name of their resource, such as `requests.cpu`. */
export type Usage = ReadonlyMap<string, Amount>;
export type MutableUsage = Map<string, Amount>;

/** A map of resources to quantities, as objects have it. */
export type ResourceList = Readonly<Record<string, string>> | null | undefined;

/** Reads a resource list. The server stores valid quantities only, so others count as absent. */
export function usageOf(list: Cached<ResourceList>): MutableUsage {
  const usage: MutableUsage = new Map();
  for (const [name, text] of Object.entries(list ?? {})) {
    const amount = parseAmount(text);
    if (amount !== undefined) usage.set(name, amount);
  }
  return usage;
}

export function resourceListOf(usage: Usage): Record<string, string> {
  const list: Record<string, string> = {};
  for (const [name, amount] of usage) setOwn(list, name, formatAmount(amount));
  return list;
}

/** Adds every amount of `added` to `total`. */
export function addUsage(total: MutableUsage, added: Usage): void {
  for (const [name, amount] of added) {
    const before = total.get(name);
    total.set(name, before === undefined ? amount : addAmounts(before, amount));
  }
}

/** Raises the amounts in `total` to at least those of `other`. */
export function raiseUsage(total: MutableUsage, other: Usage): void {
  for (const [name, amount] of other) {
    const before = total.get(name);
    if (before === undefined || amount.nanos > before.nanos) total.set(name, amount);
  }
}

/** `first` - `second`, at least zero. Has the names of both. */
export function subtractUsage(first: Usage, second: Usage): MutableUsage {
  const result: MutableUsage = new Map();
  for (const name of new Set([...first.keys(), ...second.keys()])) {
    const { nanos, format } = first.get(name) ?? zeroAmount;
    const left = nanos - (second.get(name)?.nanos ?? 0n);
    result.set(name, left > 0n ? { nanos: left, format } : zeroAmount);
  }
  return result;
}

/** The amounts of these names only. */
export function maskUsage(usage: Usage, names: ReadonlySet<string>): MutableUsage {
  return new Map([...usage].filter(([name]) => names.has(name)));
}

/** Whether both have the same names with the same values, in any notation. */
export function isEqualUsage(first: Usage, second: Usage): boolean {
  return first.size === second.size && [...first].every(([name, { nanos }]) => second.get(name)?.nanos === nanos);
}
