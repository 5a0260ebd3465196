import {
  isEqualJson,
  type Cached,
  type Deployment,
  type PodTemplateSpec,
  type ReplicaSet,
  type Unsaved,
} from '../../pkg/api/index.ts';

/** The label that distinguishes the pods of different revisions. */
export const templateHashLabel = 'pod-template-hash';

/** A ReplicaSet that exists or is to be created. */
export type AnySet = Cached<ReplicaSet> | Cached<Unsaved<ReplicaSet>>;

export const replicasOf = (set: AnySet): number => set.spec.replicas ?? 1;
export const availableOf = (set: AnySet): number => set.status?.availableReplicas ?? 0;
export const nameOf = (set: AnySet): string => set.metadata.name ?? '';
export const isScaledUp = (set: AnySet): boolean => replicasOf(set) > 0;

export function sum(sets: readonly AnySet[], count: (set: AnySet) => number): number {
  return sets.reduce((total, set) => total + count(set), 0);
}

/** Oldest first, then by name. A ReplicaSet that is to be created is the youngest. */
export function compareByAge(a: AnySet, b: AnySet): number {
  const createdA = a.metadata.creationTimestamp ?? '~';
  const createdB = b.metadata.creationTimestamp ?? '~';
  if (createdA !== createdB) return createdA < createdB ? -1 : 1;
  return nameOf(a) < nameOf(b) ? -1 : 1;
}

/** The Deployment's new ReplicaSet, if it exists, and all others, oldest first. */
export function splitByTemplate(
  deployment: Cached<Deployment>,
  sets: readonly Cached<ReplicaSet>[],
): { readonly current: Cached<ReplicaSet> | undefined; readonly old: readonly Cached<ReplicaSet>[] } {
  const byAge = [...sets].sort(compareByAge);
  // If several match, the oldest is used, so that every sync selects the same one.
  const current = byAge.find((set) => hasTemplate(set, deployment.spec.template));
  return { current, old: byAge.filter((set) => set !== current) };
}

/**
 * Whether the ReplicaSet has this template. Templates are compared by content, not by the hash in the name: the Go binary
 * computes other hashes, and a switch between the two must not cause a rollout.
 */
export function hasTemplate(set: AnySet, template: Cached<PodTemplateSpec>): boolean {
  return set.spec.template !== undefined && isEqualJson(withoutHash(set.spec.template), withoutHash(template));
}

export function withoutHash(template: Cached<PodTemplateSpec>): Cached<PodTemplateSpec> {
  const { [templateHashLabel]: _hash, ...labels } = template.metadata?.labels ?? {};
  return { ...template, metadata: { ...template.metadata, labels } };
}
