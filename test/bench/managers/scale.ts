import { systemClock } from '../../../pkg/time/index.ts';
import { ManagerProcess, type ManagerName } from './manager-process.ts';
import { managerFlags, measure, startManager, type Conditions, type Measurement } from './measure.ts';
import { ScaleCluster } from './scale-cluster.ts';
import { scaleSize } from './scale-objects.ts';
import { Stage } from './stage.ts';

/** Pod changes of one row. */
const changes = 1000;
/** How long statuses may follow the endpoints of a change. Both managers are given the same time. */
const statusMs = 3000;

/**
 * A cluster close to the limits of Kubernetes. Both managers find it as another left it: the first start, which is not
 * measured, writes what a new cluster lacks, such as EndpointSlices and statuses.
 */
export async function measureScale(
  order: readonly ManagerName[],
  conditions: Conditions,
  calmSeconds: number,
): Promise<Measurement[]> {
  await using stage = await Stage.open(0);
  await using cluster = await ScaleCluster.open(stage, scaleSize(conditions.scale));
  await serveOnce(stage, cluster, conditions);
  const results: Measurement[] = [];
  for (const manager of order) {
    results.push(...(await measureManager(manager, { stage, cluster, conditions, calmSeconds })));
  }
  return results;
}

async function serveOnce(stage: Stage, cluster: ScaleCluster, conditions: Conditions): Promise<void> {
  await using manager = await ManagerProcess.start('ours', stage.cluster, managerFlags('ours', conditions));
  await cluster.untilServed();
  await untilCalm(manager, stage);
}

interface ScaleRun {
  readonly stage: Stage;
  readonly cluster: ScaleCluster;
  readonly conditions: Conditions;
  readonly calmSeconds: number;
}

async function measureManager(name: ManagerName, run: ScaleRun): Promise<Measurement[]> {
  const { stage, cluster, conditions, calmSeconds } = run;
  const { nodes, pods, services } = cluster.size;
  const { process, wallSeconds } = await startManager(name, stage, conditions);
  await using manager = process;
  await untilCalm(manager, stage);
  const title = `take over ${nodes} nodes, ${pods} pods, ${services} Services`;
  const requests = Object.fromEntries(await manager.readRequests());
  const results: Measurement[] = [
    { workload: title, manager: name, wallSeconds, ...manager.readUsage(), requests },
    await measure(`${calmSeconds} s of calm after that`, name, manager, () =>
      systemClock.sleep(calmSeconds * 1000, stage.signal),
    ),
  ];
  const count = Math.max(1, Math.round(changes * Math.min(1, conditions.scale)));
  const rows: readonly (readonly [string, () => Promise<void>])[] = [
    [`${count} pods unready, then ready again`, () => cluster.flipReadiness(count)],
    [`${count} pods replaced`, () => cluster.replacePods(count)],
  ];
  for (const [row, change] of rows) {
    const before = manager.readUsage().cpuSeconds;
    const measured = await measure(row, name, manager, change);
    await systemClock.sleep(statusMs, stage.signal);
    results.push({ ...measured, cpuSeconds: manager.readUsage().cpuSeconds - before });
  }
  return results;
}

const calmWindowMs = 5000;
/** Of one core: heartbeats of thousands of nodes are part of calm. */
const calmShare = 0.25;

/** Until the manager has done what it found to do. */
async function untilCalm(manager: ManagerProcess, stage: Stage): Promise<void> {
  for (;;) {
    const before = manager.readUsage().cpuSeconds;
    await systemClock.sleep(calmWindowMs, stage.signal);
    const share = ((manager.readUsage().cpuSeconds - before) * 1000) / calmWindowMs;
    if (share < calmShare) return;
  }
}
