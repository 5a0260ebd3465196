import {
  isBeingDeleted,
  ownValue,
  parseInt64,
  type Cached,
  type Deployment,
  type ReplicaSet,
} from '../../pkg/api/index.ts';
import { compareByAge, replicasOf, type AnySet } from './replica-sets.ts';
import { desiredOf, fenceposts } from './rolling.ts';

export const revisionAnnotation = 'deployment.kubernetes.io/revision';
export const revisionHistoryAnnotation = 'deployment.kubernetes.io/revision-history';
export const desiredReplicasAnnotation = 'deployment.kubernetes.io/desired-replicas';
export const maxReplicasAnnotation = 'deployment.kubernetes.io/max-replicas';
export const rollbackAnnotation = 'deprecated.deployment.rollback.to';
const lastAppliedAnnotation = 'kubectl.kubernetes.io/last-applied-configuration';

/** Annotations that are never copied between the Deployment and its ReplicaSets. */
const ownAnnotations: ReadonlySet<string> = new Set([
  lastAppliedAnnotation,
  revisionAnnotation,
  revisionHistoryAnnotation,
  desiredReplicasAnnotation,
  maxReplicasAnnotation,
  rollbackAnnotation,
]);

/** The maximum length of a ReplicaSet's revision history. The oldest revisions are dropped. */
const maxHistoryLength = 2000;

/** "Unlimited" in the API: the largest int32. */
const unlimited = 2 ** 31 - 1;

type Annotations = Readonly<Record<string, string>>;

/** The revision of a ReplicaSet: 0 if it is not set, undefined if it is not a number. */
export function revisionOf(set: AnySet): bigint | undefined {
  return parseInt64(set.metadata.annotations?.[revisionAnnotation] ?? '0');
}

export function maxRevision(sets: readonly AnySet[]): bigint {
  return sets.reduce((max, set) => larger(max, revisionOf(set) ?? 0n), 0n);
}

/** The revision of the next template. It wraps around like Go's int64. */
export function nextRevision(oldSets: readonly AnySet[]): bigint {
  return BigInt.asIntN(64, maxRevision(oldSets) + 1n);
}

function larger(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}

/** The previous revision, the target of `rollout undo`; 0 if there is none. */
export function lastRevision(sets: readonly AnySet[]): bigint {
  const revisions = sets.map((set) => revisionOf(set) ?? 0n).sort((a, b) => (a < b ? 1 : a > b ? -1 : 0));
  return larger(revisions[1] ?? 0n, 0n);
}

/** The size in an annotation; undefined if it is absent or invalid. */
export function readCount(set: AnySet, annotation: string): number | undefined {
  const text = ownValue(set.metadata.annotations, annotation);
  if (text === undefined || !/^\d+$/.test(text)) return undefined;
  const count = Number(text);
  return count <= unlimited ? count : undefined;
}

/** The size annotations of a ReplicaSet. Later proportions are computed from them. */
export function sizeAnnotations(deployment: Cached<Deployment>): Annotations {
  const desired = desiredOf(deployment);
  return {
    [desiredReplicasAnnotation]: String(desired),
    [maxReplicasAnnotation]: String(desired + fenceposts(deployment).maxSurge),
  };
}

/**
 * The annotations of the newest ReplicaSet: those of the Deployment, the revision and, if it was in use before, its
 * earlier revisions.
 */
export function newestSetAnnotations(
  deployment: Cached<Deployment>,
  annotations: Annotations | undefined,
  revision: bigint,
): Annotations {
  const result: Record<string, string> = { ...annotations };
  for (const [name, value] of Object.entries(deployment.metadata.annotations ?? {})) {
    if (!ownAnnotations.has(name)) result[name] = value;
  }
  const former = annotations?.[revisionAnnotation];
  const formerRevision = parseInt64(former === undefined || former === '' ? '0' : former);
  if (formerRevision === undefined) return result; // set by a user
  if (formerRevision >= revision) return result;
  result[revisionAnnotation] = String(revision);
  if (former !== undefined) {
    const history = withRevision(annotations?.[revisionHistoryAnnotation] ?? '', former);
    if (history !== undefined) result[revisionHistoryAnnotation] = history;
  }
  return result;
}

/** The history with one more revision. Drops the oldest ones to stay within the limit; undefined if none fits. */
function withRevision(history: string, revision: string): string | undefined {
  if (history === '') return revision;
  const revisions = [...history.split(','), revision];
  while (revisions.length > 1 && revisions.join(',').length > maxHistoryLength) revisions.shift();
  return revisions.join(',').length <= maxHistoryLength ? revisions.join(',') : undefined;
}

/** The Deployment's annotations after a rollback: its own special ones, and those of the ReplicaSet. */
export function rolledBackAnnotations(deployment: Cached<Deployment>, set: AnySet): Annotations {
  const kept = Object.entries(deployment.metadata.annotations ?? {}).filter(
    ([name]) => ownAnnotations.has(name) && name !== rollbackAnnotation,
  );
  const restored = Object.entries(set.metadata.annotations ?? {}).filter(([name]) => !ownAnnotations.has(name));
  return Object.fromEntries([...kept, ...restored]);
}

/** Old ReplicaSets beyond the history limit, oldest revision first. A ReplicaSet that has or may have pods is kept. */
export function selectForCleanup(
  deployment: Cached<Deployment>,
  oldSets: readonly Cached<ReplicaSet>[],
): readonly Cached<ReplicaSet>[] {
  const limit = deployment.spec.revisionHistoryLimit ?? unlimited;
  if (limit === unlimited) return [];
  const candidates = oldSets.filter((set) => !isBeingDeleted(set.metadata)).sort(compareByRevision);
  return candidates.slice(0, Math.max(0, candidates.length - limit)).filter(isIdle);
}

function isIdle(set: Cached<ReplicaSet>): boolean {
  const observed = set.status?.observedGeneration ?? 0;
  return (set.status?.replicas ?? 0) === 0 && replicasOf(set) === 0 && (set.metadata.generation ?? 0) <= observed;
}

function compareByRevision(a: Cached<ReplicaSet>, b: Cached<ReplicaSet>): number {
  const revisionA = revisionOf(a);
  const revisionB = revisionOf(b);
  if (revisionA === undefined || revisionB === undefined || revisionA === revisionB) return compareByAge(a, b);
  return revisionA < revisionB ? -1 : 1;
}
