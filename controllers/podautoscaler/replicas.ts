import type { Cached, Pod } from '../../pkg/api/index.ts';
import { isPodReady } from '../../pkg/pods/index.ts';
import { sumInt64, toInt32, toInt64 } from './go-numbers.ts';
import { MetricError, type PodMetric, type PodMetrics } from './metric-reading.ts';
import { groupPods, type PodGroups, type Readiness } from './pod-groups.ts';

/** By which fraction usage may differ from its target without a change of replicas. */
export interface Tolerances {
  readonly scaleDown: number;
  readonly scaleUp: number;
}

export function isWithin({ scaleDown, scaleUp }: Tolerances, ratio: number): boolean {
  return 1 - scaleDown <= ratio && ratio <= 1 + scaleUp;
}

/** Metrics of pods, and what decides how they count. */
export interface PodUsage {
  readonly currentReplicas: number;
  readonly tolerances: Tolerances;
  readonly pods: readonly Cached<Pod>[];
  readonly metrics: PodMetrics;
  readonly readiness: Readiness;
}

export interface UtilizationResult {
  readonly replicas: number;
  /** Percent of the requests. */
  readonly utilization: number;
  /** Per pod, in thousandths. */
  readonly average: bigint;
}

/** Replicas for a usage in percent of the requests. Throws `MetricError`. */
export function replicasForUtilization(
  usage: PodUsage,
  resource: string,
  targetUtilization: number,
  requestsOf: () => ReadonlyMap<string, bigint>,
): UtilizationResult {
  const { groups, metrics } = countedMetrics(usage, resource);
  const requests = requestsOf();
  const { ratio, utilization, average } = utilizationRatio(metrics, requests, targetUtilization);
  const assumedPercent = BigInt(Math.max(100, targetUtilization));
  const replicas = weighPods(usage, groups, metrics, {
    ratio,
    ratioOf: (assumed) => utilizationRatio(assumed, requests, targetUtilization).ratio,
    assumed: (name) => BigInt.asIntN(64, (requests.get(name) ?? 0n) * assumedPercent) / 100n,
  });
  return { replicas, utilization, average };
}

/** Replicas for an average value per pod. `resource` is undefined for a metric that is not a resource. */
export function replicasForAverage(
  usage: PodUsage,
  resource: string | undefined,
  target: bigint,
): { readonly replicas: number; readonly average: bigint } {
  const { groups, metrics } = countedMetrics(usage, resource);
  const { ratio, average } = averageRatio(metrics, target);
  const replicas = weighPods(usage, groups, metrics, {
    ratio,
    ratioOf: (assumed) => averageRatio(assumed, target).ratio,
    assumed: () => target,
  });
  return { replicas, average };
}

/** The metrics without those of pods that do not count. */
function countedMetrics(
  { pods, metrics, readiness }: PodUsage,
  resource: string | undefined,
): { readonly groups: PodGroups; readonly metrics: PodMetrics } {
  if (pods.length === 0) throw new MetricError('no pods returned by selector while calculating replica count');
  const groups = groupPods(pods, metrics, resource, readiness);
  const counted = new Map(metrics);
  for (const name of groups.ignored) counted.delete(name);
  for (const name of groups.unready) counted.delete(name);
  if (counted.size === 0) {
    throw new MetricError('did not receive metrics for targeted pods (pods might be unready)');
  }
  return { groups, metrics: counted };
}

interface Weights {
  /** Of usage to its target. */
  readonly ratio: number;
  readonly ratioOf: (metrics: PodMetrics) => number;
  /** The value that a pod without a metric is assumed to have while the others are below their target. */
  readonly assumed: (pod: string) => bigint;
}

/**
 * Pods without a usable metric make a change smaller, never larger, and never turn it around: above the target they
 * count as idle, below it as busy.
 */
function weighPods(
  { currentReplicas, tolerances }: PodUsage,
  { readyCount, unready, missing }: PodGroups,
  metrics: PodMetrics,
  { ratio, ratioOf, assumed }: Weights,
): number {
  const countsUnready = unready.size > 0 && ratio > 1;
  if (!countsUnready && missing.size === 0) {
    return isWithin(tolerances, ratio) ? currentReplicas : toInt32(Math.ceil(ratio * readyCount));
  }
  const all = new Map<string, PodMetric>(metrics);
  const assume = (name: string, value: bigint): void => void all.set(name, { timestampMs: 0, windowMs: 0, value });
  for (const name of missing) {
    if (ratio < 1) assume(name, assumed(name));
    else if (ratio > 1) assume(name, 0n);
  }
  if (countsUnready) for (const name of unready) assume(name, 0n);
  const weighed = ratioOf(all);
  const isTurned = (ratio < 1 && weighed > 1) || (ratio > 1 && weighed < 1);
  if (isWithin(tolerances, weighed) || isTurned) return currentReplicas;
  const replicas = toInt32(Math.ceil(weighed * all.size));
  const isOpposite = (weighed < 1 && replicas > currentReplicas) || (weighed > 1 && replicas < currentReplicas);
  return isOpposite ? currentReplicas : replicas;
}

function utilizationRatio(
  metrics: PodMetrics,
  requests: ReadonlyMap<string, bigint>,
  target: number,
): { readonly ratio: number; readonly utilization: number; readonly average: bigint } {
  const known = [...metrics].filter(([name]) => requests.has(name)); // an API may report pods that are gone
  const used = sumInt64(known.map(([, { value }]) => value));
  const requested = sumInt64(known.map(([name]) => requests.get(name) ?? 0n));
  if (requested === 0n) throw new MetricError('no metrics returned matched known pods');
  const utilization = Number(BigInt.asIntN(32, BigInt.asIntN(64, used * 100n) / requested));
  return { ratio: utilization / target, utilization, average: used / BigInt(known.length) };
}

function averageRatio(metrics: PodMetrics, target: bigint): { readonly ratio: number; readonly average: bigint } {
  const average = sumInt64([...metrics.values()].map(({ value }) => value)) / BigInt(metrics.size);
  return { ratio: Number(average) / Number(target), average };
}

/** Replicas for a ratio of usage to target that is not measured per pod. Without replicas, the ratio is their number. */
export function replicasForRatio(
  currentReplicas: number,
  ratio: number,
  tolerances: Tolerances,
  pods: readonly Cached<Pod>[],
): number {
  if (currentReplicas === 0) return toInt32(Math.ceil(ratio));
  if (isWithin(tolerances, ratio)) return currentReplicas;
  if (pods.length === 0) {
    const why = 'no pods returned by selector while calculating replica count';
    throw new MetricError(`unable to calculate ready pods: ${why}`);
  }
  const ready = pods.filter((pod) => pod.status?.phase === 'Running' && isPodReady(pod)).length;
  const replicas = ratio * ready;
  return replicas > maxInt32 ? maxInt32 : toInt32(Math.ceil(replicas));
}

const maxInt32 = 2 ** 31 - 1;
const maxInt64 = 2n ** 63n - 1n;

export interface SharedUsage {
  /** Of all pods together, in thousandths. */
  readonly usage: bigint;
  /** Per pod. */
  readonly target: bigint;
  readonly statusReplicas: number;
  readonly tolerances: Tolerances;
}

/** Replicas for a value that all pods share, with a target per pod. */
export function replicasForShare({ usage, target, statusReplicas, tolerances }: SharedUsage): {
  readonly replicas: number;
  readonly average: bigint;
} {
  const total = Number(usage);
  const ratio = total / (Number(target) * statusReplicas);
  const replicas = isWithin(tolerances, ratio) ? statusReplicas : toInt32(Math.ceil(total / Number(target)));
  return { replicas, average: toInt64(Math.ceil(total / statusReplicas)) };
}

/** The same for an external metric, which Go limits to the largest numbers. */
export function replicasForExternalShare(shared: SharedUsage): { readonly replicas: number; readonly average: bigint } {
  const { replicas, average } = replicasForShare(shared);
  const wanted = Math.ceil(Number(shared.usage) / Number(shared.target));
  const isLimited = replicas !== shared.statusReplicas && wanted > maxInt32;
  return {
    replicas: isLimited ? maxInt32 : replicas,
    average: Number(shared.usage) >= Number(maxInt64) ? maxInt64 : average,
  };
}

/** The sum of an external metric's values, at most the largest int64. */
export function sumExternal(values: readonly bigint[], target: 'value' | 'average'): bigint {
  let usage = 0n;
  for (const value of values) {
    if (target === 'value' && value > 0n && usage > maxInt64 - value) return maxInt64;
    usage = BigInt.asIntN(64, usage + value);
    if (target === 'average' && usage < 0n) return maxInt64; // in Go too, though values may be negative
  }
  return usage;
}
