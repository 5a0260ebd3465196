import {
  isEqualJson,
  type Cached,
  type HorizontalPodAutoscaler,
  type ObjectKey,
  type Scale,
} from '../../pkg/api/index.ts';
import type { Store } from '../../informers/index.ts';
import type { Clock } from '../../pkg/time/index.ts';
import type { History } from './history.ts';
import type { TimedReading } from './metric-reading.ts';
import type { Snapshot } from './plan.ts';
import type { MetricsReader } from './read-metrics.ts';
import { readTarget, type TargetDeps } from './read-target.ts';
import { refuseAmbiguous, refuseMissing, type Selection } from './selection.ts';
import type { Autoscaler, Settings } from './settings.ts';
import { decideStart } from './start.ts';
import type { TargetPods } from './target-pods.ts';

export interface SnapshotDeps extends TargetDeps {
  readonly clock: Clock;
  readonly autoscalers: Store<HorizontalPodAutoscaler>;
  readonly targetPods: TargetPods;
  readonly reader: MetricsReader;
  readonly histories: ReadonlyMap<ObjectKey, History>;
  readonly settings: Settings;
}

/**
 * The input of a sync; undefined if the autoscaler is deleted. Requests take time, so everything that caches have is
 * read after them, and everything is read again if the spec has changed meanwhile.
 */
export async function takeSnapshot(
  key: ObjectKey,
  deps: SnapshotDeps,
  signal: AbortSignal,
): Promise<Snapshot | undefined> {
  const { autoscalers, clock, settings, histories } = deps;
  for (;;) {
    const first = autoscalers.get(key);
    if (first === undefined) return undefined;
    const target = await readTarget(first, deps, signal);
    const selected = target.kind === 'found' ? selectionOf(key, first, target.scale, deps) : undefined;
    const readings = selected?.kind === 'selected' ? await readMetrics(first, selected.selector, deps, signal) : [];
    const autoscaler = autoscalers.get(key);
    if (autoscaler === undefined) return undefined;
    if (!isEqualJson(first.spec, autoscaler.spec) || first.metadata.uid !== autoscaler.metadata.uid) continue;
    const selection = target.kind === 'found' ? selectionOf(key, autoscaler, target.scale, deps) : undefined;
    const times = { nowMs: clock.now(), monotonicMs: clock.monotonic() };
    return { autoscaler, target, selection, readings, history: histories.get(key), settings, ...times };
  }
}

/** The metrics of one autoscaler are read together, so that a slow one costs no more than its own time. */
async function readMetrics(
  { metadata, spec }: Autoscaler,
  selector: string,
  { reader }: SnapshotDeps,
  signal: AbortSignal,
): Promise<readonly TimedReading[]> {
  const scope = { namespace: metadata.namespace ?? '', selector };
  return Promise.all((spec.metrics ?? []).map((metric) => reader.read(metric, scope, signal)));
}

/** Undefined if no metric is needed. */
function selectionOf(
  key: ObjectKey,
  autoscaler: Autoscaler,
  { spec, status }: Cached<Scale>,
  { settings, targetPods }: SnapshotDeps,
): Selection | undefined {
  if (decideStart(autoscaler, spec?.replicas ?? 0, settings).kind !== 'compute') return undefined;
  const selector = status?.selector ?? '';
  if (selector === '') return refuseMissing();
  targetPods.select(key, selector);
  const pods = targetPods.podsOf(key);
  const autoscalers = targetPods.selecting(pods);
  if (autoscalers.length > 1) return refuseAmbiguous(selector, autoscalers);
  return { kind: 'selected', selector, pods };
}
