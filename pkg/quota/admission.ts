import type { Cached, KubeObject, ResourceQuota } from '../api/index.ts';
import { formatAmount } from '../quantities/index.ts';
import { scopesOf, type Evaluator } from './evaluator.ts';
import { addUsage, maskUsage, subtractUsage, usageOf, type MutableUsage, type Usage } from './usage.ts';

/** A new object, or a change of one. */
export interface ChargedWrite<T extends KubeObject = KubeObject> {
  readonly object: Cached<T>;
  readonly old?: Cached<T> | undefined;
  /** Usage that a status reports is charged even if the quota does not allow it: it exists already. */
  readonly isStatus?: boolean | undefined;
  /** What the object must set because these names are limited. */
  readonly missing?: ((names: Iterable<string>) => string | undefined) | undefined;
}

/** What an API server answers: the new usage of the quotas that change, or why it refuses the write. */
export type Charges =
  | { readonly refusal: string }
  | { readonly charged: readonly { readonly quota: Cached<ResourceQuota>; readonly used: Usage }[] };

/** Charges a write to all quotas of its namespace that match it, if every one of them allows it. */
export function chargeQuotas<T extends KubeObject>(
  evaluator: Evaluator<T>,
  quotas: Iterable<Cached<ResourceQuota>>,
  write: ChargedWrite<T>,
): Charges {
  const matching = [...quotas].filter((quota) => matches(evaluator, quota, write.object));
  for (const quota of matching) {
    const { name } = quota.metadata;
    const names = trackedNames(evaluator, quota);
    const missing = write.missing?.(names);
    if (missing !== undefined) return { refusal: `failed quota: ${name}: ${missing}` };
    const used = usageOf(quota.status?.used);
    if (!names.every((each) => used.has(each))) {
      return { refusal: `status unknown for quota: ${name}, resources: ${names.toSorted().join(',')}` };
    }
  }
  const usage = evaluator.usageOf(write.object);
  const negative = [...usage].filter(([, { nanos }]) => nanos < 0n).map(([name]) => name);
  if (matching.length > 0 && negative.length > 0) {
    return { refusal: `quota usage is negative for resource(s): ${negative.sort().join(',')}` };
  }
  const charged = [];
  for (const quota of matching) {
    const wasCharged = write.old !== undefined && matches(evaluator, quota, write.old);
    const added = wasCharged ? subtractUsage(usage, evaluator.usageOf(write.old)) : usage;
    const outcome = addTo(quota, new Map([...added].filter(([, { nanos }]) => nanos !== 0n)));
    if (write.isStatus !== true && outcome.exceeded !== undefined) return { refusal: outcome.exceeded };
    if (outcome.isChanged) charged.push({ quota, used: outcome.used });
  }
  return { charged };
}

function matches<T extends KubeObject>(
  evaluator: Evaluator<T>,
  quota: Cached<ResourceQuota>,
  object: Cached<T>,
): boolean {
  if (trackedNames(evaluator, quota).length === 0) return false;
  return scopesOf(quota).every((scope) => evaluator.matchesScope(scope, object));
}

function trackedNames<T extends KubeObject>(evaluator: Evaluator<T>, { status }: Cached<ResourceQuota>): string[] {
  return Object.keys(status?.hard ?? {}).filter((name) => evaluator.tracks(name));
}

interface Addition {
  readonly used: MutableUsage;
  readonly isChanged: boolean;
  readonly exceeded: string | undefined;
}

function addTo({ metadata, status }: Cached<ResourceQuota>, added: Usage): Addition {
  const hard = usageOf(status?.hard);
  const before = usageOf(status?.used);
  const requested = maskUsage(added, new Set(hard.keys()));
  const used = new Map(before);
  addUsage(used, requested);
  const over = new Set(
    [...requested.keys()].filter((name) => (used.get(name)?.nanos ?? 0n) > (hard.get(name)?.nanos ?? 0n)),
  );
  const parts = [
    `requested: ${describe(maskUsage(requested, over))}`,
    `used: ${describe(maskUsage(before, over))}`,
    `limited: ${describe(maskUsage(hard, over))}`,
  ];
  const exceeded = over.size === 0 ? undefined : `exceeded quota: ${metadata.name}, ${parts.join(', ')}`;
  return { used, isChanged: requested.size > 0, exceeded };
}

function describe(usage: Usage): string {
  return [...usage]
    .map(([name, amount]) => `${name}=${formatAmount(amount)}`)
    .sort()
    .join(',');
}
