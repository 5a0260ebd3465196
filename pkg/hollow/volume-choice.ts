import { compileSelector, isBeingDeleted, keyOf, type Cached, type Node, type PersistentVolume } from '../api/index.ts';
import { selectorOrNone } from '../controller/index.ts';
import { compileNodeSelector, type NodePredicate } from '../nodes/index.ts';
import {
  classOfVolume,
  isDelayed,
  isReservedFor,
  keyOfReference,
  mismatchOf,
  requestOf,
  selectedNode,
  sizeOf,
  annotationOf,
  type Claim,
  type Class,
  type Volume,
} from '../volumes/index.ts';
import { defineIndex } from '../../informers/index.ts';

/** The provisioner of classes whose volumes are made by hand. */
const noProvisioner = 'kubernetes.io/no-provisioner';

/** Free volumes by class. */
export const freeVolumesByClass = defineIndex<PersistentVolume>('free volumes by class', (volume) =>
  isFree(volume) ? [classOfVolume(volume)] : [],
);

/** Volumes that are bound to a claim, or reserved for it. */
export const volumesByClaim = defineIndex<PersistentVolume>('claim', ({ spec: { claimRef } }) =>
  claimRef === undefined ? [] : [keyOfReference(claimRef)],
);

export function isFree({ metadata, spec, status }: Volume): boolean {
  return spec.claimRef === undefined && status?.phase === 'Available' && !isBeingDeleted(metadata);
}

/** A claim that is not bound, with what may serve it. */
export interface UnboundClaim {
  readonly claim: Claim;
  readonly storageClass: Class | undefined;
  /** The volumes whose claimRef names the claim. */
  readonly reserved: readonly Volume[];
  /** The free volumes of its class. */
  readonly free: readonly Volume[];
}

/** What becomes of the unbound claims of a pod on a node. */
export interface ClaimPlan {
  readonly bind: readonly { readonly claim: Claim; readonly volume: Volume }[];
  /** The claims that are to be provisioned for the node. */
  readonly provision: readonly Claim[];
}

/**
 * How claims that wait for their first consumer are served on a node, like by the scheduler: each by the smallest available
 * volume that fits and that the node can reach, else by its provisioner. Undefined: the node cannot serve them all.
 */
export function compileClaimPlan(unbound: readonly UnboundClaim[]): (node: Cached<Node>) => ClaimPlan | undefined {
  const waiting = unbound
    .filter(({ claim, storageClass }) => (claim.spec.volumeName ?? '') === '' && isDelayed(storageClass))
    .sort((a, b) => Number(requestOf(a.claim) - requestOf(b.claim)))
    .map(compileChoice);
  return (node) => {
    const bind: { claim: Claim; volume: Volume }[] = [];
    const provision: Claim[] = [];
    const taken = new Set<Volume>();
    for (const { claim, choose } of waiting) {
      const choice = choose(node, taken);
      if (choice === undefined) return undefined;
      if (choice === 'provision') provision.push(claim);
      else if (choice !== 'under-way') {
        taken.add(choice);
        bind.push({ claim, volume: choice });
      }
    }
    return { bind, provision };
  };
}

type Choice = Volume | 'provision' | 'under-way' | undefined;

function compileChoice({ claim, storageClass, reserved, free }: UnboundClaim) {
  const own = reserved.find((volume) => isReservedFor(volume, claim));
  const isAtReservedVolume = own && compileReach(own);
  const selects = claim.spec.selector && selectorOrNone(() => compileSelector(claim.spec.selector));
  const fitting = free
    .filter((volume) => mismatchOf(volume, claim, { attributesClasses: true }) === undefined)
    .filter((volume) => selects?.(volume.metadata.labels) !== false)
    .sort(bySize)
    .map((volume) => ({ volume, canReach: compileReach(volume) }));
  const isProvisioning = annotationOf(claim, selectedNode) !== undefined;
  const isProvisionable = storageClass !== undefined && storageClass.provisioner !== noProvisioner;
  const choose = (node: Cached<Node>, taken: ReadonlySet<Volume>): Choice => {
    if (isAtReservedVolume !== undefined) return isAtReservedVolume(node) ? 'under-way' : undefined; // the binder binds it
    if (isProvisioning) return 'under-way';
    const found = fitting.find(({ volume, canReach }) => !taken.has(volume) && canReach(node));
    return found?.volume ?? (isProvisionable ? 'provision' : undefined);
  };
  return { claim, choose };
}

function bySize(a: Volume, b: Volume): number {
  const [left, right] = [sizeOf(a.spec.capacity), sizeOf(b.spec.capacity)];
  if (left !== right) return left < right ? -1 : 1;
  return keyOf(a) < keyOf(b) ? -1 : 1;
}

function compileReach({ spec }: Volume): NodePredicate {
  const required = spec.nodeAffinity?.required;
  return required === undefined ? () => true : compileNodeSelector(required.nodeSelectorTerms);
}
