import { controllerOf, int64Of, ownValue, parseTime, type Cached, type Pod, type ResourceClaim } from '../api/index.ts';
import { amountOf, zeroAmount } from '../quantities/index.ts';
import { countName, noScopes, type Evaluator } from './evaluator.ts';
import { isExtendedQuotaName } from './pods.ts';
import { addUsage, raiseUsage, type MutableUsage, type Usage } from './usage.ts';

const one = amountOf(1);
const count = countName('resourceclaims.resource.k8s.io');
const classSuffix = '.deviceclass.resource.k8s.io/devices';
const implicitPrefix = 'requests.deviceclass.resource.kubernetes.io/';
const requestsPrefix = 'requests.';
/** A request for all devices of a class may get as many as a claim can have. */
const mostDevices = amountOf(32);

/** What links claims to the extended resources of pods: the gate DRAExtendedResource. */
export interface ExtendedResources {
  /** Whether a class provides this extended resource. */
  hasClassFor(resource: string): boolean;
  /** The extended resource that a class provides. */
  resourceOf(className: string): string | undefined;
  /** The usage of the pod that a claim was made for. The pod is charged for it already. */
  podUsageOf(claim: Cached<ResourceClaim>): Usage | undefined;
}

export function createResourceClaimEvaluator(extended: ExtendedResources | undefined): Evaluator<ResourceClaim> {
  return {
    resource: 'resourceclaims.resource.k8s.io',
    tracks: (name) =>
      name === count ||
      name.endsWith(classSuffix) ||
      (isExtendedQuotaName(name) && extended?.hasClassFor(name.slice(requestsPrefix.length)) === true),
    // Charged before the class exists, too: pods are, under this name.
    alsoCharges: (name) => extended !== undefined && name.startsWith(implicitPrefix),
    matchesScope: noScopes,
    usageOf: (claim) => {
      const usage = devicesOf(claim);
      if (extended !== undefined) addExtended(usage, extended, extended.podUsageOf(claim) ?? new Map());
      return usage;
    },
  };
}

function devicesOf({ spec }: Cached<ResourceClaim>): MutableUsage {
  const usage: MutableUsage = new Map([[count, one]]);
  for (const { firstAvailable, exactly } of spec.devices?.requests ?? []) {
    const choices = firstAvailable ?? [];
    // Only one of the alternatives is allocated. For each class, the largest of them is charged.
    const largest: MutableUsage = new Map();
    for (const request of choices.length > 0 ? choices : exactly ? [exactly] : []) {
      raiseUsage(largest, new Map([[`${request.deviceClassName}${classSuffix}`, numberOf(request)]]));
    }
    addUsage(usage, largest);
  }
  return usage;
}

interface DeviceCount {
  readonly allocationMode?: string | undefined;
  readonly count?: number | undefined;
}

/** Modes of later versions are not charged. */
function numberOf({ allocationMode, count: devices }: DeviceCount): typeof one {
  if (allocationMode === 'ExactCount') return amountOf(int64Of(devices));
  return allocationMode === 'All' ? mostDevices : zeroAmount;
}

/** Charges devices under the names of extended resources too, as far as the pod is not charged for them. */
function addExtended(usage: MutableUsage, extended: ExtendedResources, podUsage: Usage): void {
  const found: MutableUsage = new Map();
  for (const [name, amount] of usage) {
    const className = name.endsWith(classSuffix) ? name.slice(0, -classSuffix.length) : '';
    if (className === '') continue;
    found.set(`${implicitPrefix}${className}`, amount);
    const resource = extended.resourceOf(className) ?? '';
    if (resource !== '') found.set(`${requestsPrefix}${resource}`, amount);
  }
  for (const [name, { nanos, format }] of found) {
    const left = nanos - (podUsage.get(name)?.nanos ?? 0n);
    if (left > 0n) usage.set(name, { nanos: left, format });
  }
}

/** The uid of the pod that the scheduler made a claim for, because the pod requests an extended resource. */
export function podOfExtendedClaim({ metadata }: Cached<ResourceClaim>): { uid: string; name: string } | undefined {
  if (ownValue(metadata.annotations, 'resource.kubernetes.io/extended-resource-claim') !== 'true') return undefined;
  const owner = controllerOf({ metadata });
  return owner?.kind === 'Pod' && owner.apiVersion === 'v1' ? { uid: owner.uid, name: owner.name } : undefined;
}

/** Whether the claim is the one of the pod. A pod that names none yet has the oldest of those made for it. */
export function isClaimOfPod(
  claim: Cached<ResourceClaim>,
  pod: Cached<Pod>,
  claimsOfPod: readonly Cached<ResourceClaim>[],
): boolean {
  if (podOfExtendedClaim(claim)?.uid !== pod.metadata.uid) return false;
  const named = pod.status?.extendedResourceClaimStatus ?? undefined;
  if (named !== undefined) return named.resourceClaimName === claim.metadata.name;
  const createdMs = parseTime(claim.metadata.creationTimestamp) ?? 0;
  return !claimsOfPod.some(({ metadata }) => {
    const otherMs = parseTime(metadata.creationTimestamp) ?? 0;
    return otherMs < createdMs || (otherMs === createdMs && metadata.name < claim.metadata.name);
  });
}
