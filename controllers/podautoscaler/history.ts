/** A number of replicas that metrics asked for. Times are monotonic. */
export interface Recommendation {
  readonly replicas: number;
  readonly atMs: number;
}

/** A change that was made. */
export interface ScaleEvent {
  /** Without sign. */
  readonly change: number;
  readonly atMs: number;
  /** No policy counted it when it was last looked at: the next event may replace it. */
  readonly isOutdated: boolean;
}

/** What is remembered of an autoscaler between its syncs. A restart forgets it, in Go too. */
export interface History {
  readonly recommendations: readonly Recommendation[];
  readonly scaleUps: readonly ScaleEvent[];
  readonly scaleDowns: readonly ScaleEvent[];
}

/** At the first sync, the present replicas count as recommended: a restart is no reason to scale down. */
export function startHistory(currentReplicas: number, nowMs: number): History {
  return { recommendations: [{ replicas: currentReplicas, atMs: nowMs }], scaleUps: [], scaleDowns: [] };
}

/** Adds a recommendation, in place of one that is not needed any more if there is one. */
export function addRecommendation(
  known: readonly Recommendation[],
  added: Recommendation,
  isOld: (recommendation: Recommendation) => boolean,
): readonly Recommendation[] {
  return replaceLast(known, added, isOld);
}

/** Adds a change of replicas, for an autoscaler whose longest policy has this period. */
export function addScaleEvent(
  known: readonly ScaleEvent[],
  change: number,
  longestPeriodSeconds: number,
  nowMs: number,
): readonly ScaleEvent[] {
  const cutoffMs = nowMs - longestPeriodSeconds * 1000;
  const marked = known.map((event) => ({ ...event, isOutdated: event.isOutdated || event.atMs < cutoffMs }));
  return replaceLast(marked, { change, atMs: nowMs, isOutdated: false }, ({ isOutdated }) => isOutdated);
}

/** The replicas that the events of a period have added or removed. */
export function changeWithin(events: readonly ScaleEvent[], periodSeconds: number, nowMs: number): number {
  const cutoffMs = nowMs - periodSeconds * 1000;
  return events.reduce((sum, { change, atMs }) => (atMs > cutoffMs ? sum + change : sum), 0) | 0;
}

function replaceLast<T>(known: readonly T[], added: T, isReplaceable: (item: T) => boolean): readonly T[] {
  const index = known.findLastIndex(isReplaceable);
  return index < 0 ? [...known, added] : known.with(index, added);
}
