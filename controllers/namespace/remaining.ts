import { type Kind, type MetadataOnly } from '../../pkg/api/index.ts';

/** Objects of one resource that are still there after their deletion was asked for. */
export interface Remaining {
  readonly kind: Kind;
  readonly count: number;
  /** How many of them each finalizer holds back. */
  readonly finalizers: ReadonlyMap<string, number>;
  /** When to look again; undefined if there is no telling why they are still there. */
  readonly estimateSeconds: number | undefined;
}

/** Finalizers are removed by other controllers, at their own pace. */
const finalizerEstimateSeconds = 15;

/** What is left of a resource. `namespaceGoneForSeconds`: how long ago the namespace was deleted. */
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
 * When to look again. Half the estimate, as nobody gains from asking a resource over and over; but sooner at first,
 * because most pods need far less than the grace they are granted.
 */
export function nextCheckMs(remaining: readonly Remaining[], checksBefore: number): number {
  const estimate = Math.max(0, ...remaining.map(({ estimateSeconds }) => estimateSeconds ?? 0));
  const atLatestMs = (Math.floor(estimate / 2) + 1) * 1000;
  return Math.min(atLatestMs, firstCheckMs * 2 ** checksBefore);
}

const firstCheckMs = 500;
