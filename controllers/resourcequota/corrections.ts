import { keyOf, type Cached, type ObjectKey, type ResourceQuota } from '../../pkg/api/index.ts';
import { usageOf, type Usage } from '../../pkg/quota/index.ts';
import type { Allowance, QuotaStatus } from './status.ts';

type Nanos = ReadonlyMap<string, bigint>;

/** The time since a status was observed, within which its difference from the usage is judged. */
interface Window {
  /** The status at its begin. */
  readonly used: NonNullable<Cached<ResourceQuota>['status']>['used'];
  /** By how much this controller has lowered the status since. */
  readonly lowered: Map<string, bigint>;
  /** How many windows before this one ended with a stale cache. */
  readonly staleBefore: number;
  /** The cache has all objects that were charged before the window. */
  isProven: boolean;
}

/**
 * What is known about the differences between statuses and usage: how much has become free, and what the API server has
 * charged lately. While a quota rests and is right, nothing is kept for it.
 */
export class Corrections {
  readonly #freed = new Map<ObjectKey, Map<string, bigint>>();
  readonly #windows = new Map<ObjectKey, Window>();

  addFreed(key: ObjectKey, amounts: Nanos): void {
    const freed = this.#freed.get(key) ?? new Map<string, bigint>();
    this.#freed.set(key, freed);
    for (const [name, nanos] of amounts) add(freed, name, nanos);
  }

  /** Returns whether a window begins with this call: one that is open stays. */
  open(quota: Cached<ResourceQuota>): boolean {
    const key = keyOf(quota);
    if (this.#windows.has(key)) return false;
    this.#begin(quota, 0);
    return true;
  }

  /** Begins a new window. Returns how many before it ended with a stale cache. */
  reopen(quota: Cached<ResourceQuota>, { isStale }: { readonly isStale: boolean }): number {
    const before = this.#windows.get(keyOf(quota))?.staleBefore ?? 0;
    const staleBefore = isStale ? before + 1 : 0;
    this.#begin(quota, staleBefore);
    return staleBefore;
  }

  prove(key: ObjectKey): void {
    const window = this.#windows.get(key);
    if (window !== undefined) window.isProven = true;
  }

  /** `isProven`: as if the cache were proven. */
  allowanceOf(quota: Cached<ResourceQuota>, { isProven = false } = {}): Allowance {
    const key = keyOf(quota);
    const window = this.#windows.get(key);
    const freed = new Map(this.#freed.get(key));
    if (window === undefined || !(isProven || window.isProven)) return { freed };
    return { freed, charged: chargedSince(window, usageOf(quota.status?.used)) };
  }

  /** What had become free is no longer in the status. */
  takeOff(key: ObjectKey, { freed: taken }: Allowance): void {
    const freed = this.#freed.get(key);
    if (freed === undefined) return;
    for (const [name, nanos] of taken) add(freed, name, -nanos);
    if (freed.size === 0) this.#freed.delete(key);
  }

  /** The status is written. Returns whether a window begins. */
  wrote(quota: Cached<ResourceQuota>, { used }: QuotaStatus, allowance: Allowance): boolean {
    const key = keyOf(quota);
    this.takeOff(key, allowance);
    if (this.#windows.get(key)?.isProven === true) this.#windows.delete(key);
    const present = this.#windows.get(key);
    const window = present ?? this.#begin(quota, 0);
    const written = usageOf(used);
    for (const [name, { nanos }] of usageOf(quota.status?.used)) {
      const less = nanos - (written.get(name)?.nanos ?? 0n);
      if (less > 0n) add(window.lowered, name, less);
    }
    return present === undefined;
  }

  close(key: ObjectKey): void {
    this.#windows.delete(key);
  }

  forget(key: ObjectKey): void {
    this.#windows.delete(key);
    this.#freed.delete(key);
  }

  #begin(quota: Cached<ResourceQuota>, staleBefore: number): Window {
    const window = { used: quota.status?.used, lowered: new Map<string, bigint>(), staleBefore, isProven: false };
    this.#windows.set(keyOf(quota), window);
    return window;
  }
}

/** What the API server has charged since the window began: the difference of the statuses, and what was taken off. */
function chargedSince({ used, lowered }: Window, now: Usage): Nanos {
  const charged = new Map<string, bigint>();
  const before = usageOf(used);
  for (const [name, { nanos }] of now) {
    const more = nanos - (before.get(name)?.nanos ?? 0n) + (lowered.get(name) ?? 0n);
    if (more > 0n) charged.set(name, more);
  }
  return charged;
}

function add(amounts: Map<string, bigint>, name: string, nanos: bigint): void {
  const sum = (amounts.get(name) ?? 0n) + nanos;
  if (sum > 0n) amounts.set(name, sum);
  else amounts.delete(name);
}
