import {
  isBeingDeleted,
  keyOf,
  type Cached,
  type DeviceTaintRule,
  type ObjectKey,
  type Pod,
} from '../../pkg/api/index.ts';
import { anyDriver, slicesByDriver } from '../../pkg/controller/index.ts';
import { currentSlices, poolIdOf } from '../../pkg/resourceclaims/index.ts';
import { devicesOf, type Caches } from './caches.ts';
import { podEviction, type DeviceView } from './evictions-due.ts';
import type { DeviceId } from './pools.ts';
import type { RuleCounts } from './rule-condition.ts';
import { selects } from './rule-selectors.ts';

type Rule = Cached<DeviceTaintRule>;

/** What the status of a rule says. A rule with the effect None tells what it would do. */
export function countFor(rule: Rule, caches: Caches): Omit<RuleCounts, 'evicted'> {
  const none = { pods: 0, namespaces: 0, published: 0, allocated: 0 };
  const { taint } = rule.spec;
  if (taint.effect === 'NoExecute') {
    return { ...none, ...countPods(rule, caches, caches.viewOf(caches.evictingRules())) };
  }
  if (taint.effect !== 'None') return none;
  const supposed = { ...rule, spec: { ...rule.spec, taint: { ...taint, effect: 'NoExecute' } } };
  return { ...countPods(rule, caches, caches.viewOf([supposed])), ...countDevices(rule, caches) };
}

/** The pods that the rule evicts. */
function countPods(
  rule: Rule,
  { claimsOf, podsOf }: Caches,
  view: DeviceView,
): Pick<RuleCounts, 'pods' | 'namespaces'> {
  const found = new Map<ObjectKey, Cached<Pod>>();
  for (const pod of claimsOf(rule).flatMap(podsOf)) {
    const isEvicted = !isBeingDeleted(pod.metadata) && podEviction(pod, view)?.rules.has(rule.metadata.uid) === true;
    if (isEvicted) found.set(keyOf(pod), pod);
  }
  return { pods: found.size, namespaces: new Set([...found.values()].map((pod) => pod.metadata.namespace)).size };
}

function countDevices(rule: Rule, { claimsOf, slices }: Caches): Pick<RuleCounts, 'published' | 'allocated'> {
  const { deviceSelector } = rule.spec;
  const allocated = claimsOf(rule).flatMap(devicesOf);
  const candidates = slices.store.byIndex(slicesByDriver, deviceSelector?.driver ?? anyDriver);
  const pools = Map.groupBy(candidates, ({ spec }) => poolIdOf({ driver: spec.driver, pool: spec.pool.name }));
  const published = [...pools.values()]
    .flatMap(currentSlices)
    .flatMap(({ spec: { devices, driver, pool } }) =>
      (devices ?? []).map(({ name }): DeviceId => ({ driver, pool: pool.name, device: name })),
    );
  const count = (devices: readonly DeviceId[]): number =>
    devices.filter((device) => selects(deviceSelector, device)).length;
  return { published: count(published), allocated: count(allocated) };
}
