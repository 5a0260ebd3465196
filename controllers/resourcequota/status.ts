import type { Cached, ResourceQuota } from '../../pkg/api/index.ts';
import { isEqualUsage, maskUsage, resourceListOf, usageOf, type Usage } from '../../pkg/quota/index.ts';

export interface QuotaStatus {
  readonly hard: Record<string, string>;
  readonly used: Record<string, string>;
}

/**
 * The status that a quota should have, or undefined if it has that status. Usage that is not known stays as it was last
 * observed. Values are compared, not texts: the API server and this controller may write a sum differently.
 */
export function planStatus({ spec, status }: Cached<ResourceQuota>, known: Usage): QuotaStatus | undefined {
  const hard = usageOf(spec?.hard);
  const before = usageOf(status?.used);
  const used = maskUsage(new Map([...before, ...known]), new Set(hard.keys()));
  if (isEqualUsage(hard, usageOf(status?.hard)) && isEqualUsage(used, before)) return undefined;
  return { hard: { ...spec?.hard }, used: resourceListOf(used) };
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
