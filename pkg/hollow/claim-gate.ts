import {
  keyOf,
  metadataOf,
  isBeingDeleted,
  PersistentVolumeClaims,
  PersistentVolumes,
  type Cached,
  type Node,
  type PersistentVolume,
  type PersistentVolumeClaim,
  type Pod,
} from '../api/index.ts';
import type { Client } from '../client/index.ts';
import { claimReferencesOf } from '../pods/index.ts';
import {
  boundByController,
  classOfClaim,
  referenceTo,
  selectedNode,
  type Claim,
  type Class,
} from '../volumes/index.ts';
import type { Store } from '../../informers/index.ts';
import { compileClaimPlan, freeVolumesByClass, volumesByClaim, type ClaimPlan } from './volume-choice.ts';

export interface ClaimGateOptions {
  readonly client: Client;
  readonly claims: Pick<Store<PersistentVolumeClaim>, 'get'>;
  /** With the indexes of `volume-choice.ts`. */
  readonly volumes: Pick<Store<PersistentVolume>, 'byIndex'>;
  classOf(claim: Claim): Class | undefined;
}

/** Holds pods back as a scheduler and a kubelet do. */
export interface ClaimGate {
  /** What the claims of a pod need that are not bound. */
  claimsOf(pod: Cached<Pod>): PodClaims;
  /** Whether a pod may start. A kubelet asks the server: a claim that is being deleted may be gone soon. */
  areClaimsUsable(pod: Cached<Pod>, signal: AbortSignal): Promise<boolean>;
}

export interface PodClaims {
  readonly areBound: boolean;
  /** Whether volumes for the unbound claims are there, or can be made, on a node. */
  canServe(node: Cached<Node>): boolean;
  /** Has the unbound claims that wait for a node bound or provisioned. */
  prepare(node: Cached<Node>, signal: AbortSignal): Promise<void>;
}

export function createClaimGate({ client, claims, classOf, volumes }: ClaimGateOptions): ClaimGate {
  return {
    claimsOf(pod) {
      const given = claimReferencesOf(pod).map(({ key }) => claims.get(key));
      const unbound = given.filter((claim) => claim !== undefined).filter((claim) => !isUsable(claim));
      const planFor = compileClaimPlan(
        unbound.map((claim) => ({
          claim,
          storageClass: classOf(claim),
          reserved: volumes.byIndex(volumesByClaim, keyOf(claim)),
          free: volumes.byIndex(freeVolumesByClass, classOfClaim(claim)),
        })),
      );
      return {
        areBound: given.every(isUsable),
        canServe: (node) => planFor(node) !== undefined,
        async prepare(node, signal) {
          const plan = planFor(node);
          if (plan !== undefined) await applyClaimPlan(client, plan, node.metadata.name, signal);
        },
      };
    },
    async areClaimsUsable(pod, signal) {
      for (const { key } of claimReferencesOf(pod)) {
        if (!isUsable(await client.get(PersistentVolumeClaims, key, signal))) return false;
      }
      return true;
    },
  };
}

function isUsable(claim: Claim | undefined): boolean {
  return claim?.status?.phase === 'Bound' && !isBeingDeleted(claim.metadata);
}

/** The binder completes what the claimRef of a volume begins, and asks the provisioner for claims with a selected node. */
async function applyClaimPlan(
  client: Client,
  { bind, provision }: ClaimPlan,
  nodeName: string,
  signal: AbortSignal,
): Promise<void> {
  for (const { claim, volume } of bind) {
    const { resourceVersion } = volume.metadata; // another pod may choose the volume too
    const metadata = { resourceVersion, annotations: { [boundByController]: 'yes' } };
    const body = { metadata, spec: { claimRef: referenceTo(claim) } };
    await client.patch(metadataOf(PersistentVolumes), keyOf(volume), { type: 'merge', body }, signal);
  }
  for (const claim of provision) {
    const body = { metadata: { annotations: { [selectedNode]: nodeName } } };
    await client.patch(metadataOf(PersistentVolumeClaims), keyOf(claim), { type: 'merge', body }, signal);
  }
}
