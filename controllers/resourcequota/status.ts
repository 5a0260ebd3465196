import type { Cached, ResourceQuota } from '../../pkg/api/index.ts';
import { isEqualUsage, maskUsage, resourceListOf, usageOf, type Usage } from '../../pkg/quota/index.ts';

export interface QuotaStatus {
  readonly hard: Record<string, string>;
  readonly used: Record<string, string>;
}

/**
 * By how much a status may be lowered. The API server charges an object before it stores it, and the cache observes it
 * later still. So a status that is higher than the usage is not wrong for that reason alone. Values are billionths.
 */
export interface Allowance {
  /** What the cache has observed to become free, and no write has taken off. */
  readonly freed: ReadonlyMap<string, bigint>;
  /**
   * Set if the cache has all objects that were charged up to some time: what the API server has charged since then. Only
   * that may be unobserved.
   */
  readonly charged?: ReadonlyMap<string, bigint> | undefined;
}

/**
 * The status that a quota should have, or undefined if it has that status. Usage that is not known stays as it was last
 * observed. Values are compared, not texts: the API server and this controller may write a sum differently. Without an
 * allowance, the known usage is right and may lower any value.
 */
export function planStatus(
  { spec, status }: Cached<ResourceQuota>,
  known: Usage,
  allowance?: Allowance,
): QuotaStatus | undefined {
  const hard = usageOf(spec?.hard);
  const before = usageOf(status?.used);
  const allowed = allowance === undefined ? known : limitDecreases(before, known, allowance);
  const used = maskUsage(new Map([...before, ...allowed]), new Set(hard.keys()));
  if (isEqualUsage(hard, usageOf(status?.hard)) && isEqualUsage(used, before)) return undefined;
  return { hard: { ...spec?.hard }, used: resourceListOf(used) };
}

function limitDecreases(before: Usage, known: Usage, { freed, charged }: Allowance): Usage {
  const allowed = new Map(known);
  for (const [name, { nanos, format }] of known) {
    const former = before.get(name);
    if (former === undefined || former.nanos <= nanos) continue;
    const withoutFreed = larger(nanos, former.nanos - (freed.get(name) ?? 0n));
    const withCharged = charged === undefined ? former.nanos : nanos + (charged.get(name) ?? 0n);
    const value = withoutFreed < withCharged ? withoutFreed : withCharged;
    allowed.set(name, value === former.nanos ? former : { nanos: value, format });
  }
  return allowed;
}

function larger(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}

/**
 * Whether users wait for the usage of this quota: its limits are new, or one of them has no usage. Until then, the API
 * server refuses what the quota limits. `isTracked`: whether the usage can be computed at all.
 */
export function lacksUsage({ spec, status }: Cached<ResourceQuota>, isTracked: (name: string) => boolean): boolean {
  const hard = usageOf(status?.hard);
  if (!isEqualUsage(usageOf(spec?.hard), hard)) return true;
  const used = usageOf(status?.used);
  return [...hard.keys()].some((name) => !used.has(name) && isTracked(name));
}
