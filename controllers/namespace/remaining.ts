import { type Kind, type MetadataOnly } from '../../pkg/api/index.ts';

/** Objects of one resource that remain after their deletion was requested. */
export interface Remaining {
  readonly kind: Kind;
  readonly count: number;
  /** The number of objects with each finalizer. */
  readonly finalizers: ReadonlyMap<string, number>;
  /** The estimated time until they are gone; undefined if there is no known reason for them to remain. */
  readonly estimateSeconds: number | undefined;
}

/** The estimate for objects with finalizers, which other controllers remove. */
const finalizerEstimateSeconds = 15;

/** The remaining objects of a resource. `namespaceGoneForSeconds`: how long ago the namespace was deleted. */
export function computeRemaining(
  kind: Kind,
  items: readonly Pick<MetadataOnly, 'metadata'>[],
  namespaceGoneForSeconds: number,
): Remaining | undefined {
  if (items.length === 0) return undefined;
  const finalizers = new Map<string, number>();
  let graceSeconds = 0;
  for (const { metadata } of items) {
    graceSeconds = Math.max(graceSeconds, metadata.deletionGracePeriodSeconds ?? 0);
    for (const finalizer of metadata.finalizers ?? []) finalizers.set(finalizer, (finalizers.get(finalizer) ?? 0) + 1);
  }
  const withinGrace = namespaceGoneForSeconds < graceSeconds;
  const estimateSeconds = withinGrace ? graceSeconds : finalizers.size > 0 ? finalizerEstimateSeconds : undefined;
  return { kind, count: items.length, finalizers, estimateSeconds };
}

/**
 * When to requeue: after half the estimate, but sooner at first, because most pods stop long before the end of their
 * grace period.
 */
export function nextCheckMs(remaining: readonly Remaining[], checksBefore: number): number {
  const estimate = Math.max(0, ...remaining.map(({ estimateSeconds }) => estimateSeconds ?? 0));
  const atLatestMs = (Math.floor(estimate / 2) + 1) * 1000;
  return Math.min(atLatestMs, firstCheckMs * 2 ** checksBefore);
}

const firstCheckMs = 500;
