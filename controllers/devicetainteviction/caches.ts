import {
  objectKey,
  Pods,
  ResourceClaims,
  ResourceSlices,
  type Cached,
  type DeviceTaintRule,
  type Kind,
  type Pod,
  type ResourceClaim,
} from '../../pkg/api/index.ts';
import { podsByGroup, slicesByDriver, type ControllerContext } from '../../pkg/controller/index.ts';
import { currentSlices, isGroupConsumer, isPodConsumer, poolIdOf } from '../../pkg/resourceclaims/index.ts';
import { podEviction, type DeviceView, type DueEviction } from './evictions-due.ts';
import { claimsByDevice, rulesByEffect, slicesByPool, slicesByTaintedDevice } from './indexes.ts';
import { deviceIdOf, evictingTaintsOf, type DeviceId } from './pools.ts';
import { selects, valueToFind } from './rule-selectors.ts';

type Rule = Cached<DeviceTaintRule>;
export type Caches = ReturnType<typeof createCaches>;

/** The caches of the controller, with their indexes. `ruleKind` is undefined if rules are off, or not served. */
export function createCaches({ gates, informers }: ControllerContext, ruleKind: Kind<DeviceTaintRule> | undefined) {
  const pods = informers.informerFor(Pods);
  const claims = informers.informerFor(ResourceClaims);
  const slices = informers.informerFor(ResourceSlices);
  const rules = ruleKind && informers.informerFor(ruleKind);
  const acceptsGroups = gates.isEnabled('DRAWorkloadResourceClaims');
  if (acceptsGroups) pods.addIndex(podsByGroup);
  claims.addIndex(claimsByDevice);
  for (const index of [slicesByPool, slicesByTaintedDevice, slicesByDriver]) slices.addIndex(index);
  rules?.addIndex(rulesByEffect);

  function taintsOf(device: DeviceId): ReturnType<DeviceView['taintsOf']> {
    if (slices.store.byIndex(slicesByTaintedDevice, deviceIdOf(device)).length === 0) return [];
    const current = currentSlices(slices.store.byIndex(slicesByPool, poolIdOf(device)));
    return current.flatMap((slice) => evictingTaintsOf(slice).get(device.device) ?? []);
  }

  const viewOf = (evicting: readonly Rule[]): DeviceView => ({
    taintsOf,
    rules: evicting,
    claimOf: ({ metadata }, name) => claims.store.get(objectKey(metadata.namespace, name)),
    acceptsGroups,
  });

  /** The pods that a claim is reserved for. */
  function podsOf({ metadata: { namespace }, status }: Cached<ResourceClaim>): readonly Cached<Pod>[] {
    return (status?.reservedFor ?? []).flatMap((consumer): readonly Cached<Pod>[] => {
      const key = objectKey(namespace, consumer.name);
      if (acceptsGroups && isGroupConsumer(consumer)) return pods.store.byIndex(podsByGroup, key);
      const pod = isPodConsumer(consumer) ? pods.store.get(key) : undefined;
      return pod !== undefined && pod.metadata.uid === consumer.uid ? [pod] : [];
    });
  }

  /** The claims with a device that the rule selects. */
  function claimsOf({ spec: { deviceSelector } }: Rule): readonly Cached<ResourceClaim>[] {
    const value = valueToFind(deviceSelector);
    const found = value === undefined ? [] : claims.store.byIndex(claimsByDevice, value);
    return found.filter((claim) => devicesOf(claim).some((device) => selects(deviceSelector, device)));
  }

  const evictingRules = (): readonly Rule[] => rules?.store.byIndex(rulesByEffect, 'NoExecute') ?? [];
  const dueOf = (pod: Cached<Pod>): DueEviction | undefined => podEviction(pod, viewOf(evictingRules()));

  return { pods, claims, slices, rules, evictingRules, viewOf, podsOf, claimsOf, dueOf };
}

export function devicesOf({ status }: Cached<ResourceClaim>): readonly DeviceId[] {
  return status?.allocation?.devices?.results ?? [];
}
