import type { Cached, EndpointSlice } from '../../pkg/api/index.ts';
import type { IpFamily } from '../../pkg/ip/index.ts';
import { planFamily, type Plan, type Snapshot } from './plan.ts';
import { familiesOf } from './pod-endpoint.ts';

/** The input for the slices of one Service in all its address families. */
export interface ServiceSnapshot extends Omit<Snapshot, 'family' | 'hadHints'> {
  /** The address families in which the Service has hints by topology. */
  readonly hintedFamilies: ReadonlySet<IpFamily>;
}

export interface ServicePlan {
  /** One plan for each address family. */
  readonly plans: ReadonlyMap<IpFamily, Plan>;
  /** Slices of address families that the Service no longer has. */
  readonly foreign: readonly Cached<EndpointSlice>[];
  readonly trafficDistribution: string | undefined;
}

export function planService({ hintedFamilies, ...snapshot }: ServiceSnapshot): ServicePlan {
  const { service, existing, trafficDistribution } = snapshot;
  const hinted = new Set(hintedFamilies);
  const plans = new Map<IpFamily, Plan>();
  for (const family of familiesOf(service)) {
    const ofFamily = existing.filter(({ addressType }) => addressType === family);
    const plan = planFamily({ ...snapshot, family, existing: ofFamily, hadHints: hinted.size > 0 });
    plans.set(family, plan);
    if (plan.hintsByZone === undefined) hinted.delete(family);
    else hinted.add(family);
  }
  const foreign = existing.filter(({ addressType }) => !plans.has(addressType as IpFamily));
  return { plans, foreign, trafficDistribution };
}
