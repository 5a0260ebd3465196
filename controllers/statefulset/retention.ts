import {
  apiVersionOf,
  controllerReference,
  Pods,
  StatefulSets,
  type Cached,
  type Kind,
  type KubeObject,
  type OwnerReference,
  type Pod,
  type StatefulSet,
} from '../../pkg/api/index.ts';
import { claimNamesOf, type Claim, type KnownClaims } from './claims.ts';
import { isInRange } from './ordinals.ts';

type Reference = Cached<OwnerReference>;

/** The pod of a claim. It has no uid before it is created. */
export interface ClaimUser {
  readonly name: string;
  readonly uid: string | undefined;
  readonly ordinal: number;
}

type Policy = NonNullable<StatefulSet['spec']['persistentVolumeClaimRetentionPolicy']>;

function policyOf({ spec }: Cached<StatefulSet>): { readonly whenDeleted: string; readonly whenScaled: string } {
  const { whenDeleted = 'Retain', whenScaled = 'Retain' }: Cached<Policy> =
    spec.persistentVolumeClaimRetentionPolicy ?? {};
  return { whenDeleted, whenScaled };
}

const referencesOf = ({ metadata }: Cached<Claim>): readonly Reference[] => metadata.ownerReferences ?? [];

/** Whether a reference has the name of this object, with any uid. */
function names(reference: Reference, kind: Kind, name: string): boolean {
  return reference.apiVersion === apiVersionOf(kind) && reference.kind === kind.kind && reference.name === name;
}

const namesSet = (reference: Reference, set: Cached<StatefulSet>): boolean =>
  names(reference, StatefulSets, set.metadata.name);
const namesPod = (reference: Reference, pod: ClaimUser): boolean => names(reference, Pods, pod.name);
const hasUid = (claim: Cached<Claim>, uid: string | undefined): boolean =>
  referencesOf(claim).some((reference) => reference.uid === uid);

/** Whether the claim belongs to an earlier object of the same name. The garbage collector deletes it. */
function isStale(
  references: readonly Reference[],
  isNamed: (reference: Reference) => boolean,
  uid: string | undefined,
) {
  const reference = references.find(isNamed);
  return reference !== undefined && reference.uid !== uid;
}

/**
 * Whether a claim of a scale-down, which the garbage collector will delete, still exists. The new pod must not use it,
 * because it would be deleted. Claims that are retained are never stale.
 */
export function hasStaleClaim(set: Cached<StatefulSet>, pod: ClaimUser, known: KnownClaims): boolean {
  if (policyOf(set).whenScaled === 'Retain') return false;
  return claimNamesOf(set, pod.ordinal).some((name) => {
    const claim = known.get(name);
    return claim !== undefined && isStale(referencesOf(claim), (reference) => namesPod(reference, pod), pod.uid);
  });
}

/**
 * Whether another controller owns the claim, so that the retention policy cannot apply. A policy that retains all
 * claims sets no owners, so it never conflicts.
 */
export function hasOtherController(claim: Cached<Claim>, set: Cached<StatefulSet>, pod: ClaimUser): boolean {
  const { whenDeleted, whenScaled } = policyOf(set);
  if (whenDeleted === 'Retain' && whenScaled === 'Retain') return false;
  return referencesOf(claim).some((reference) => {
    if (namesSet(reference, set)) return reference.uid !== set.metadata.uid;
    if (namesPod(reference, pod)) return reference.uid !== pod.uid;
    return reference.controller === true;
  });
}

/** The owner that the claim should have: the pod of a scale-down, the set, or none. */
function wantedOwner(set: Cached<StatefulSet>, pod: ClaimUser): 'set' | 'pod' | 'nobody' {
  const { whenDeleted, whenScaled } = policyOf(set);
  if (whenScaled === 'Delete' && !isInRange(set, pod.ordinal)) return 'pod';
  return whenDeleted === 'Delete' ? 'set' : 'nobody';
}

/**
 * Whether the owners of the claim match the retention policy. A claim of an earlier set or pod of the same name, or of
 * another controller, is left alone.
 */
export function isRetentionCurrent(claim: Cached<Claim>, set: Cached<StatefulSet>, pod: ClaimUser): boolean {
  const references = referencesOf(claim);
  const isOfEarlierSet = isStale(references, (reference) => namesSet(reference, set), set.metadata.uid);
  if (isOfEarlierSet || isStale(references, (reference) => namesPod(reference, pod), pod.uid)) return true;
  const [ofSet, ofPod] = [hasUid(claim, set.metadata.uid), hasUid(claim, pod.uid)];
  if (hasOtherController(claim, set, pod)) return !ofSet && !ofPod;
  const isOurs = ({ uid }: Reference): boolean => uid === set.metadata.uid || uid === pod.uid;
  if (references.some((reference) => isOurs(reference) && reference.controller !== true)) return false;
  const wanted = wantedOwner(set, pod);
  return ofSet === (wanted === 'set') && ofPod === (wanted === 'pod');
}

/** The owners of the claim that match the retention policy. References to other objects are kept. */
export function retentionOwners(claim: Cached<Claim>, set: Cached<StatefulSet>, pod: ClaimUser): Reference[] {
  const others = referencesOf(claim).filter((reference) => !namesSet(reference, set) && !namesPod(reference, pod));
  if (hasOtherController(claim, set, pod)) return others;
  const owner = ownerReference(set, pod);
  return owner === undefined || others.some(({ uid }) => uid === owner.uid) ? others : [...others, owner];
}

function ownerReference(set: Cached<StatefulSet>, pod: ClaimUser): Reference | undefined {
  switch (wantedOwner(set, pod)) {
    case 'set':
      return controllerReference(StatefulSets, set);
    case 'pod': {
      const { name, uid = '' } = pod;
      return controllerReference(Pods, { metadata: { name, uid } } as Cached<KubeObject>);
    }
    case 'nobody':
      return undefined;
  }
}

export interface RetentionPlan {
  /** Claims with another controller. The set gets a warning for each. */
  readonly conflicts: readonly string[];
  readonly update: readonly { readonly claim: Cached<Claim>; readonly owners: readonly Reference[] }[];
}

/** The claims of the pod whose owners must change. A claim that does not exist yet is not among them. */
export function planRetention(set: Cached<StatefulSet>, pod: ClaimUser, known: KnownClaims): RetentionPlan {
  const claims = claimNamesOf(set, pod.ordinal)
    .map((name) => known.get(name))
    .filter((claim) => claim !== undefined);
  return {
    conflicts: claims.filter((claim) => hasOtherController(claim, set, pod)).map(({ metadata }) => metadata.name),
    update: claims
      .filter((claim) => !isRetentionCurrent(claim, set, pod))
      .map((claim) => ({ claim, owners: retentionOwners(claim, set, pod) })),
  };
}

export function podAsUser(pod: Cached<Pod>, ordinal: number): ClaimUser {
  return { name: pod.metadata.name, uid: pod.metadata.uid, ordinal };
}
