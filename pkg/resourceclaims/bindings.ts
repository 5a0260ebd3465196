import {
  controllerOf,
  isControlledBy,
  keyOf,
  PodGroups,
  Pods,
  type Cached,
  type Pod,
  type PodGroup,
  type ResourceClaim,
  type ResourceClaimConsumer,
} from '../api/index.ts';
import { claimEntriesOf, type ClaimEntry } from './names.ts';

export function podGroupNameOf({ spec }: Cached<Pod>): string | undefined {
  return spec.schedulingGroup?.podGroupName;
}

export interface GroupOption {
  /** The gate DRAWorkloadResourceClaims: a claim of the pod's group is one of the pod. */
  readonly acceptsGroups: boolean;
}

/** Whether a generated claim was made for this pod, or for its group. A pod knows its group by name only. */
export function isForPod(pod: Cached<Pod>, claim: Cached<ResourceClaim>, { acceptsGroups }: GroupOption): boolean {
  if (isControlledBy(claim, pod)) return true;
  const groupName = podGroupNameOf(pod);
  if (!acceptsGroups || groupName === undefined) return false;
  const controller = controllerOf(claim);
  return (
    controller?.kind === PodGroups.kind &&
    controller.name === groupName &&
    controller.apiVersion.startsWith(`${PodGroups.group}/`)
  );
}

export function isPodConsumer({ apiGroup = '', resource }: Cached<ResourceClaimConsumer>): boolean {
  return apiGroup === Pods.group && resource === Pods.resource;
}

export function isGroupConsumer({ apiGroup, resource }: Cached<ResourceClaimConsumer>): boolean {
  return apiGroup === PodGroups.group && resource === PodGroups.resource;
}

export function isReservedForPod(
  pod: Cached<Pod>,
  { status }: Cached<ResourceClaim>,
  { acceptsGroups }: GroupOption,
): boolean {
  const groupName = podGroupNameOf(pod);
  return (status?.reservedFor ?? []).some((consumer) => {
    if (consumer.uid === pod.metadata.uid) return true;
    return acceptsGroups && groupName !== undefined && isGroupConsumer(consumer) && consumer.name === groupName;
  });
}

/** What a claim is reserved for. */
export type Binding =
  | { readonly kind: 'pod' | 'group'; readonly consumer: ResourceClaimConsumer }
  | { readonly kind: 'unknown'; readonly problem: string };

/**
 * A claim that the pod's group names in the same way belongs to the group, any other to the pod. `group` is undefined
 * if the pod has none, or groups have no claims (gate DRAWorkloadResourceClaims).
 */
export function bindingOf(pod: Cached<Pod>, group: Cached<PodGroup> | undefined, entry: ClaimEntry): Binding {
  const { name, resourceClaimName, resourceClaimTemplateName } = entry;
  for (const other of group === undefined ? [] : claimEntriesOf(group)) {
    if (other.resourceClaimName === undefined && other.resourceClaimTemplateName === undefined) {
      const problem = `PodGroup ${group === undefined ? '' : keyOf(group)} claim ${other.name}: ${unsupportedEntry}`;
      return { kind: 'unknown', problem };
    }
    const isSame =
      other.name === name &&
      other.resourceClaimName === resourceClaimName &&
      other.resourceClaimTemplateName === resourceClaimTemplateName;
    if (group !== undefined && isSame) return { kind: 'group', consumer: consumerOf(PodGroups, group) };
  }
  return { kind: 'pod', consumer: consumerOf(Pods, pod) };
}

export const unsupportedEntry = 'none of the supported fields are set';

/** Go omits the empty group of pods. */
function consumerOf(
  { group, resource }: typeof Pods | typeof PodGroups,
  { metadata }: Cached<Pod> | Cached<PodGroup>,
): ResourceClaimConsumer {
  const { name, uid } = metadata;
  return group === '' ? { resource, name, uid } : { apiGroup: group, resource, name, uid };
}
