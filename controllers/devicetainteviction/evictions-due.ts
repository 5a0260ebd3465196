import {
  parseTime,
  type AllocatedDevice,
  type Cached,
  type DeviceTaint,
  type DeviceTaintRule,
  type Pod,
  type ResourceClaim,
} from '../../pkg/api/index.ts';
import { claimEntriesOf, claimNameOf, isForPod, isReservedForPod } from '../../pkg/resourceclaims/index.ts';
import { tolerates } from '../../pkg/taints/index.ts';
import type { DeviceId } from './pools.ts';
import { selects } from './rule-selectors.ts';

/** When a pod must go, and the names of the rules to blame, by uid. Taints of slices are not listed. */
export interface DueEviction {
  readonly dueMs: number;
  readonly rules: ReadonlyMap<string, string>;
}

/** What the caches say about devices and claims. */
export interface DeviceView {
  /** The NoExecute taints that the driver of a device has set. */
  taintsOf(device: DeviceId): readonly Cached<DeviceTaint>[];
  /** The rules with the effect NoExecute. */
  readonly rules: readonly Cached<DeviceTaintRule>[];
  claimOf(pod: Cached<Pod>, name: string): Cached<ResourceClaim> | undefined;
  /** The gate DRAWorkloadResourceClaims. */
  readonly acceptsGroups: boolean;
}

/** Undefined if the pod may stay. A pod without a node does not use its devices. */
export function podEviction(pod: Cached<Pod>, view: DeviceView): DueEviction | undefined {
  if ((pod.spec.nodeName ?? '') === '') return undefined;
  const due = claimEntriesOf(pod).flatMap((entry): DueEviction[] => {
    const name = claimNameOf(pod, entry);
    const claim = name.kind === 'known' ? view.claimOf(pod, name.name) : undefined;
    if (name.kind !== 'known' || claim === undefined) return [];
    if (name.isGenerated && !isForPod(pod, claim, view)) return [];
    if (!isReservedForPod(pod, claim, view)) return [];
    const eviction = claimEviction(claim, view);
    return eviction === undefined ? [] : [eviction];
  });
  return earliest(due);
}

function claimEviction({ status }: Cached<ResourceClaim>, view: DeviceView): DueEviction | undefined {
  const devices = status?.allocation?.devices?.results ?? [];
  return earliest(
    devices.flatMap((device): DueEviction[] => [
      ...view.taintsOf(device).flatMap((taint) => taintEviction(taint, device) ?? []),
      ...view.rules.flatMap((rule): DueEviction[] => {
        if (!selects(rule.spec.deviceSelector, device)) return [];
        const due = taintEviction(rule.spec.taint, device);
        return due === undefined ? [] : [{ ...due, rules: new Map([[rule.metadata.uid, rule.metadata.name]]) }];
      }),
    ]),
  );
}

/** Undefined if the claim tolerates the taint forever. The shortest of several tolerations counts. */
function taintEviction(taint: Cached<DeviceTaint>, device: Cached<AllocatedDevice>): DueEviction | undefined {
  const addedMs = parseTime(taint.timeAdded);
  if (addedMs === undefined) return undefined; // the server sets it
  const matching = (device.tolerations ?? []).filter(
    (toleration) => toleration.effect === 'NoExecute' && tolerates(toleration, taint, { allowComparisons: false }),
  );
  if (matching.some(({ tolerationSeconds }) => tolerationSeconds === undefined)) return undefined;
  const seconds = matching.map(({ tolerationSeconds }) => Math.max(0, Number(tolerationSeconds)));
  return { dueMs: addedMs + (matching.length === 0 ? 0 : Math.min(...seconds) * 1000), rules: new Map() };
}

function earliest(due: readonly DueEviction[]): DueEviction | undefined {
  if (due.length === 0) return undefined;
  return {
    dueMs: Math.min(...due.map(({ dueMs }) => dueMs)),
    rules: new Map(due.flatMap(({ rules }) => [...rules])),
  };
}
