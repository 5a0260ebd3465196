import {
  formatTime,
  int64Of,
  type Cached,
  type ResourceClaim,
  type ResourcePoolStatus,
  type ResourcePoolStatusRequest,
  type ResourceSlice,
} from '../../pkg/api/index.ts';
import { currentSlices, poolIdOf } from '../../pkg/resourceclaims/index.ts';

const defaultLimit = 100;

export interface PoolSnapshot {
  readonly request: Cached<ResourcePoolStatusRequest>;
  /** Of the driver that the request is about. */
  readonly slices: readonly Cached<ResourceSlice>[];
  readonly claims: readonly Cached<ResourceClaim>[];
  readonly nowMs: number;
}

export type PoolAnswer =
  | { readonly kind: 'complete'; readonly status: NonNullable<ResourcePoolStatusRequest['status']> }
  /** A driver has not yet published all slices of a pool. */
  | { readonly kind: 'incomplete'; readonly problem: string };

/** The pools of a driver, or the one that the request names, sorted by name. */
export function computeAnswer({ request, slices, claims, nowMs }: PoolSnapshot): PoolAnswer {
  const { poolName = '', limit = defaultLimit } = request.spec;
  const wanted = slices.filter(({ spec }) => poolName === '' || spec.pool.name === poolName);
  const allocated = countAllocated(claims);
  const byPool = [...Map.groupBy(wanted, ({ spec }) => spec.pool.name)].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const pools: ResourcePoolStatus[] = [];
  for (const [, ofPool] of byPool.slice(0, limit)) {
    const pool = describePool(currentSlices(ofPool), allocated);
    if (typeof pool === 'string') return { kind: 'incomplete', problem: pool };
    pools.push(pool);
  }
  const complete = {
    type: 'Complete',
    status: 'True',
    lastTransitionTime: formatTime(nowMs),
    reason: 'CalculationComplete',
    message: `Calculated status for ${pools.length} pools`,
  };
  return { kind: 'complete', status: { poolCount: byPool.length, pools, conditions: [complete] } };
}

function countAllocated(claims: readonly Cached<ResourceClaim>[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { status } of claims) {
    for (const device of status?.allocation?.devices?.results ?? []) {
      counts.set(poolIdOf(device), (counts.get(poolIdOf(device)) ?? 0) + 1);
    }
  }
  return counts;
}

/** The status of a pool, or why it is incomplete. */
function describePool(
  slices: readonly Cached<ResourceSlice>[],
  allocated: ReadonlyMap<string, number>,
): ResourcePoolStatus | string {
  const [first] = slices;
  if (first === undefined) return 'the pool has no slices';
  const { driver, pool } = first.spec;
  const nodes = new Set(slices.map(({ spec }) => spec.nodeName ?? ''));
  const [nodeName = ''] = nodes;
  const { generation, resourceSliceCount } = pool;
  if (BigInt(slices.length) < int64Of(resourceSliceCount)) {
    const seen = `${slices.length}/${resourceSliceCount} slices at generation ${generation}`;
    return `pool ${driver}/${pool.name} is incomplete: observed ${seen}`;
  }
  const totalDevices = slices.reduce((sum, { spec }) => sum + (spec.devices ?? []).length, 0);
  const allocatedDevices = allocated.get(poolIdOf({ driver, pool: pool.name })) ?? 0;
  return {
    driver,
    poolName: pool.name,
    generation,
    ...(nodes.size === 1 && nodeName !== '' && { nodeName }),
    resourceSliceCount: slices.length,
    totalDevices,
    allocatedDevices,
    availableDevices: Math.max(0, totalDevices - allocatedDevices),
    unavailableDevices: 0, // Kubernetes 1.36 does not look at the health of devices
  };
}
