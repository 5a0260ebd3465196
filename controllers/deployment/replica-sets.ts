import {
  isEqualJson,
  type Cached,
  type Deployment,
  type PodTemplateSpec,
  type ReplicaSet,
  type Unsaved,
} from '../../pkg/api/index.ts';

/** The label that keeps the pods of one revision apart from those of all others. */
export const templateHashLabel = 'pod-template-hash';

/** A ReplicaSet in the cluster, or one that is about to be created. */
export type AnySet = Cached<ReplicaSet> | Cached<Unsaved<ReplicaSet>>;

export const replicasOf = (set: AnySet): number => set.spec.replicas ?? 1;
export const availableOf = (set: AnySet): number => set.status?.availableReplicas ?? 0;
export const nameOf = (set: AnySet): string => set.metadata.name ?? '';
export const isScaledUp = (set: AnySet): boolean => replicasOf(set) > 0;

export function sum(sets: readonly AnySet[], count: (set: AnySet) => number): number {
  return sets.reduce((total, set) => total + count(set), 0);
}

/** Oldest first; the name decides between those of the same second. One that is yet to be created is the youngest. */
export function compareByAge(a: AnySet, b: AnySet): number {
  const createdA = a.metadata.creationTimestamp ?? '~';
  const createdB = b.metadata.creationTimestamp ?? '~';
  if (createdA !== createdB) return createdA < createdB ? -1 : 1;
  return nameOf(a) < nameOf(b) ? -1 : 1;
}

/** The Deployment's present ReplicaSet, if it exists, and all the others, oldest first. */
export function splitByTemplate(
  deployment: Cached<Deployment>,
  sets: readonly Cached<ReplicaSet>[],
): { readonly current: Cached<ReplicaSet> | undefined; readonly old: readonly Cached<ReplicaSet>[] } {
  const byAge = [...sets].sort(compareByAge);
  // Should several match, the oldest wins, so that every sync picks the same one.
  const current = byAge.find((set) => hasTemplate(set, deployment.spec.template));
  return { current, old: byAge.filter((set) => set !== current) };
}

/**
 * Whether the set was made from this template. Sets are matched by content, not by the hash in their name: hashes
 * differ between implementations, and a Deployment must survive a change of controller without a rollout.
 */
export function hasTemplate(set: AnySet, template: Cached<PodTemplateSpec>): boolean {
  return set.spec.template !== undefined && isEqualJson(withoutHash(set.spec.template), withoutHash(template));
}

export function withoutHash(template: Cached<PodTemplateSpec>): Cached<PodTemplateSpec> {
  const { [templateHashLabel]: _hash, ...labels } = template.metadata?.labels ?? {};
  return { ...template, metadata: { ...template.metadata, labels } };
}
