import { ConfigMaps, Deployments, objectKey, Pods, ReplicaSets } from '../../../pkg/api/index.ts';
import { systemClock } from '../../../pkg/time/index.ts';
import { ManagerProcess, type ManagerName } from './manager-process.ts';
import { Stage } from './stage.ts';
import { dailyWork, storm, type Workload } from './workloads.ts';

/** The measurements of one manager for one workload in one round. */
export interface Measurement {
  readonly workload: string;
  readonly manager: ManagerName;
  readonly wallSeconds: number;
  readonly cpuSeconds: number;
  readonly peakMegabytes: number;
  readonly settledMegabytes: number;
  readonly requests: Readonly<Record<string, number>>;
}

export interface Conditions {
  readonly controllers: readonly string[];
  /** Flags for both managers. */
  readonly flags: readonly string[];
  readonly scale: number;
  readonly nodes: number;
  /** A text in the names of the workloads of a day that are measured. Default: all are. */
  readonly match?: string;
}

const settleMs = 5000;

export function managerFlags(manager: ManagerName, { controllers, flags }: Conditions): string[] {
  // A separate lease for every start, which is never held: the Go binary does not release its lease.
  const lease = `bench-${manager}-${process.hrtime.bigint()}`;
  return [`--controllers=${controllers.join(',')}`, `--leader-elect-resource-name=${lease}`, ...flags];
}

/** Runs a list of workloads with one manager on a fresh cluster. */
export async function measureWork(
  manager: ManagerName,
  work: readonly Workload[],
  conditions: Conditions,
): Promise<Measurement[]> {
  await using stage = await Stage.open(conditions.nodes);
  const namespace = await stage.createNamespace();
  await using process = await ManagerProcess.start(manager, stage.cluster, managerFlags(manager, conditions));
  await firstReconcile(stage, await stage.createNamespace());
  const results: Measurement[] = [];
  for (const workload of work) {
    results.push(await measure(workload.name, manager, process, () => workload.run(stage, namespace)));
  }
  return results;
}

export const measureDay = (manager: ManagerName, conditions: Conditions): Promise<Measurement[]> =>
  measureWork(
    manager,
    dailyWork(conditions.scale).filter(({ name }) => name.includes(conditions.match ?? '')),
    conditions,
  );

/** Thousands of Deployments in one namespace, all updated at once. */
export const measureStorm = (manager: ManagerName, conditions: Conditions): Promise<Measurement[]> =>
  measureWork(manager, storm(conditions.scale), conditions);

/** Start and idle, on an empty cluster and on full ones. Both managers have the same objects. */
export async function measureStarts(
  order: readonly ManagerName[],
  conditions: Conditions,
  calmSeconds: number,
): Promise<Measurement[]> {
  const size = (count: number): number => Math.max(1, Math.round(count * conditions.scale));
  const results: Measurement[] = [];
  await using stage = await Stage.open(1);
  const startAll = async (name: string, calmFor = 0): Promise<void> => {
    for (const manager of order) results.push(...(await measureStart(name, manager, stage, conditions, calmFor)));
  };
  await startAll('start-up, empty cluster');
  const namespace = await stage.createNamespace();
  const pods = (from: number, to: number): object[] =>
    Array.from({ length: to - from }, (_, i) => ({
      metadata: { name: `pod-${from + i}`, namespace, labels: { app: 'idle', part: String((from + i) % 100) } },
      // No node runs it, so that only the managers have work.
      spec: { schedulerName: 'none', nodeSelector: { nowhere: 'true' }, containers: [{ name: 'app', image: 'app:1' }] },
    }));
  await stage.createAll(Pods, pods(0, size(5000)));
  await startAll(`start-up, ${size(5000)} pods`, calmSeconds);
  await stage.createAll(Pods, pods(size(5000), size(20_000)));
  await startAll(`start-up, ${size(20_000)} pods`);
  const data = { blob: 'x'.repeat(100_000) };
  const configMaps = Array.from({ length: size(2000) }, (_, i) => ({
    metadata: { name: `blob-${i}`, namespace },
    data,
  }));
  await stage.createAll(ConfigMaps, configMaps);
  await startAll(`start-up, and ${size(2000)} ConfigMaps of 100 KB`);
  return results;
}

async function measureStart(
  name: string,
  manager: ManagerName,
  stage: Stage,
  conditions: Conditions,
  calmSeconds: number,
): Promise<Measurement[]> {
  const started = await startManager(manager, stage, conditions);
  await using process = started.process;
  const { wallSeconds } = started;
  await systemClock.sleep(settleMs, stage.signal); // some caches may not be synced yet
  const usage = process.readUsage();
  const requests = Object.fromEntries(await process.readRequests());
  const start: Measurement = { workload: name, manager, wallSeconds, ...usage, requests };
  if (calmSeconds === 0) return [start];
  const idle = (): Promise<void> => systemClock.sleep(calmSeconds * 1000, stage.signal);
  return [start, await measure(`${calmSeconds} s of calm after that`, manager, process, idle)];
}

/** Starts a manager and waits until it has reconciled a first object. */
export async function startManager(
  manager: ManagerName,
  stage: Stage,
  conditions: Conditions,
): Promise<{ readonly process: ManagerProcess; readonly wallSeconds: number }> {
  const namespace = await stage.createNamespace();
  await prepareReplicaSet(stage, namespace);
  const startMs = systemClock.monotonic();
  const process = await ManagerProcess.start(manager, stage.cluster, managerFlags(manager, conditions));
  await stage.untilPods(namespace, 1);
  return { process, wallSeconds: (systemClock.monotonic() - startMs) / 1000 };
}

export async function measure(
  workload: string,
  manager: ManagerName,
  process: ManagerProcess,
  run: () => Promise<void>,
): Promise<Measurement> {
  // Reading the requests is not part of the workload, so it happens before the start and after the end.
  const requestsBefore = await process.readRequests();
  const before = process.readUsage();
  process.resetPeak();
  const startMs = systemClock.monotonic();
  await run();
  const wallSeconds = (systemClock.monotonic() - startMs) / 1000;
  const after = process.readUsage();
  const requests = [...(await process.readRequests())].map(
    ([method, count]) => [method, count - (requestsBefore.get(method) ?? 0)] as const,
  );
  const cpuSeconds = after.cpuSeconds - before.cpuSeconds;
  return { workload, manager, wallSeconds, ...after, cpuSeconds, requests: Object.fromEntries(requests) };
}

async function prepareReplicaSet(stage: Stage, namespace: string): Promise<void> {
  const labels = { app: 'first' };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'app', image: 'app:1' }] } };
  const spec = { replicas: 1, selector: { matchLabels: labels }, template };
  await stage.createAll(ReplicaSets, [{ metadata: { name: 'first', namespace }, spec }]);
}

/** Waits until the manager leads and has done some work. From then on it measures the workload. */
async function firstReconcile(stage: Stage, namespace: string): Promise<void> {
  await prepareReplicaSet(stage, namespace);
  await stage.untilPods(namespace, 1);
  await stage.client.delete(ReplicaSets, objectKey(namespace, 'first'), {}, stage.signal);
  await stage.until(Deployments, namespace, () => true);
}
