import { isEqualJson, type Cached, type KubeObject, type ObjectKey } from '../../pkg/api/index.ts';
import type { Amount, AmountFormat } from '../../pkg/quantities/index.ts';
import { maskUsage, type Evaluator, type ScopeRequirement, type Usage } from '../../pkg/quota/index.ts';

/** How sums have changed. A change that lowers one sum is a decrease, also if it raises another. */
export type Change =
  | { readonly kind: 'none' | 'increase' }
  /** `freed`: by how much each lowered sum was lowered, in billionths. */
  | { readonly kind: 'decrease'; readonly freed: ReadonlyMap<string, bigint> };

const unchanged: Change = { kind: 'none' };
const nothing: Usage = new Map();

interface Sum {
  nanos: bigint;
  /** How many of the charged amounts that are not zero are written in each format. */
  readonly formats: Record<AmountFormat, number>;
}

export interface TallyOptions {
  /** The names that the evaluator tracks. */
  readonly names: ReadonlySet<string>;
  /** `names`, and those that other evaluators track and this one charges. */
  readonly counted: ReadonlySet<string>;
  readonly scopes: readonly ScopeRequirement[];
}

/**
 * What the objects of one resource cost one quota: the charge of each object, and the sums. One change of one object costs
 * the same however many objects there are.
 */
export class Tally {
  /** The names that the evaluator tracks. */
  readonly names: ReadonlySet<string>;
  /** The names under which its sums count. */
  readonly counted: ReadonlySet<string>;
  readonly #scopes: readonly ScopeRequirement[];
  /** All objects of the namespace have been charged once. Until then, the sums are too low. */
  isComplete = false;
  /** The charges are to be computed again from the cache. */
  isDue = true;
  readonly #evaluator: Evaluator;
  readonly #charges = new Map<ObjectKey, Usage>();
  readonly #sums: ReadonlyMap<string, Sum>;

  constructor(evaluator: Evaluator, { names, counted, scopes }: TallyOptions) {
    this.#evaluator = evaluator;
    this.names = names;
    this.counted = counted;
    this.#scopes = scopes;
    this.#sums = new Map(
      [...counted].map((name) => [name, { nanos: 0n, formats: { BinarySI: 0, DecimalSI: 0, DecimalExponent: 0 } }]),
    );
  }

  /** Whether the other one charges the same objects under the same names. */
  isLike(other: Tally): boolean {
    const isSame = isEqualJson([[...this.names], [...this.counted]], [[...other.names], [...other.counted]]);
    return isSame && isEqualJson(this.#scopes, other.#scopes);
  }

  /** The objects that are charged. */
  get keys(): IterableIterator<ObjectKey> {
    return this.#charges.keys();
  }

  /** Charges the object as it is now, in place of what it was charged before. An absent object costs nothing. */
  charge(key: ObjectKey, object: Cached<KubeObject> | undefined): Change {
    const before = this.#charges.get(key);
    const after = object !== undefined && this.#matches(object) ? this.#costOf(object) : undefined;
    if (before === after) return unchanged;
    if (after === undefined) this.#charges.delete(key);
    else this.#charges.set(key, after);
    this.#add(before ?? nothing, -1);
    this.#add(after ?? nothing, 1);
    return changeOf(before ?? nothing, after ?? nothing);
  }

  get sums(): ReadonlyMap<string, Amount> {
    return new Map([...this.#sums].map(([name, sum]) => [name, amountOf(sum)]));
  }

  #matches(object: Cached<KubeObject>): boolean {
    return this.#scopes.every((scope) => this.#evaluator.matchesScope(scope, object));
  }

  #costOf(object: Cached<KubeObject>): Usage {
    const usage = this.#evaluator.usageOf(object);
    // Counts of all objects of a resource share one usage.
    return [...usage.keys()].every((name) => this.counted.has(name)) ? usage : maskUsage(usage, this.counted);
  }

  #add(usage: Usage, sign: 1 | -1): void {
    for (const [name, { nanos, format }] of usage) {
      const sum = this.#sums.get(name);
      if (sum === undefined || nanos === 0n) continue;
      sum.nanos += sign === 1 ? nanos : -nanos;
      sum.formats[format] += sign;
    }
  }
}

function changeOf(before: Usage, after: Usage): Change {
  const freed = new Map<string, bigint>();
  for (const [name, { nanos }] of before) {
    const left = after.get(name)?.nanos ?? 0n;
    if (left < nanos) freed.set(name, nanos - left);
  }
  if (freed.size > 0) return { kind: 'decrease', freed };
  const isRaised = [...after].some(([name, { nanos }]) => nanos > (before.get(name)?.nanos ?? 0n));
  return isRaised ? { kind: 'increase' } : unchanged;
}

function amountOf({ nanos, formats: { BinarySI, DecimalSI, DecimalExponent } }: Sum): Amount {
  // Objects may use different notations. The Go binary takes that of any one of them.
  const format = BinarySI > 0 ? 'BinarySI' : DecimalSI > 0 || DecimalExponent === 0 ? 'DecimalSI' : 'DecimalExponent';
  return { nanos, format };
}
