import {
  isEqualJson,
  keyOf,
  type Cached,
  type DeviceTaintRule,
  type Pod,
  type ResourceClaim,
  type ResourceSlice,
} from '../../pkg/api/index.ts';
import type { KeySink } from '../../pkg/controller/index.ts';
import { claimEntriesOf, poolIdOf } from '../../pkg/resourceclaims/index.ts';
import type { Handler, HandlerRegistration } from '../../informers/index.ts';
import type { Caches } from './caches.ts';
import { claimsByDevice, slicesByPool } from './indexes.ts';
import { deviceIdOf, evictingTaintsOf } from './pools.ts';
import { isEvicting } from './rule-selectors.ts';

/**
 * Enqueues the pods that each change concerns, and the rules whose status may change. Keys of pods have a namespace, keys
 * of rules have none.
 */
export function addHandlers(
  caches: Caches,
  queue: KeySink,
  stats: { forget(ruleUid: string): void },
): HandlerRegistration[] {
  const { pods, claims, slices, rules, podsOf, claimsOf } = caches;
  const enqueuePod = (pod: Cached<Pod>): void => {
    if (claimEntriesOf(pod).length > 0) queue.add(keyOf(pod));
  };
  const enqueuePodsOf = (claim: Cached<ResourceClaim>): void => podsOf(claim).forEach(enqueuePod);

  /** The rule comes before its pods: its status says what is about to happen. */
  function enqueueRule(rule: Cached<DeviceTaintRule>): void {
    queue.add(keyOf(rule));
    if (isEvicting(rule)) claimsOf(rule).forEach(enqueuePodsOf);
  }

  const ruleHandler = rules?.addHandler({
    added: enqueueRule,
    updated(before, after) {
      if (isEqualJson(before.spec, after.spec)) return;
      enqueueRule(after);
      if (isEvicting(before)) claimsOf(before).forEach(enqueuePodsOf);
    },
    deleted(last) {
      stats.forget(last.metadata.uid);
      enqueueRule(last);
    },
  });
  return [
    pods.addHandler({
      added: enqueuePod,
      updated(before, after) {
        const isSame =
          before.spec.nodeName === after.spec.nodeName &&
          isEqualJson(before.status?.resourceClaimStatuses, after.status?.resourceClaimStatuses);
        if (!isSame) enqueuePod(after);
      },
      deleted: enqueuePod,
    }),
    claims.addHandler({
      added: enqueuePodsOf,
      updated(before, after) {
        if (isEqualJson(before.status, after.status)) return;
        enqueuePodsOf(before);
        enqueuePodsOf(after);
      },
      deleted: enqueuePodsOf,
    }),
    slices.addHandler(enqueueOnTaintChange(caches, enqueuePodsOf)),
    ...(ruleHandler === undefined ? [] : [ruleHandler]),
  ];
}

/** Enqueues the pods of claims whose devices are tainted differently. */
function enqueueOnTaintChange(
  { claims, slices }: Pick<Caches, 'claims' | 'slices'>,
  enqueuePodsOf: (claim: Cached<ResourceClaim>) => void,
): Handler<ResourceSlice> {
  function enqueueDevices({ spec: { driver, pool } }: Cached<ResourceSlice>, devices: Iterable<string>): void {
    for (const device of devices) {
      const id = deviceIdOf({ driver, pool: pool.name, device });
      claims.store.byIndex(claimsByDevice, id).forEach(enqueuePodsOf);
    }
  }

  /** A new generation of a pool replaces the older slices with all their taints. */
  function enqueuePool(slice: Cached<ResourceSlice>): void {
    const { driver, pool } = slice.spec;
    const others = slices.store.byIndex(slicesByPool, poolIdOf({ driver, pool: pool.name }));
    enqueueDevices(slice, new Set([slice, ...others].flatMap((each) => [...evictingTaintsOf(each).keys()])));
  }

  function enqueueChanges(before: Cached<ResourceSlice>, after: Cached<ResourceSlice>): void {
    const { spec } = after;
    if (!isEqualJson(before.spec.pool, spec.pool) || before.spec.driver !== spec.driver) {
      enqueuePool(before);
      enqueuePool(after);
      return;
    }
    const [earlier, later] = [evictingTaintsOf(before), evictingTaintsOf(after)];
    const devices = new Set([...earlier.keys(), ...later.keys()]);
    enqueueDevices(
      after,
      [...devices].filter((device) => !isEqualJson(earlier.get(device), later.get(device))),
    );
  }

  return { added: enqueuePool, updated: enqueueChanges, deleted: enqueuePool };
}
