/**
 * Thousands of Deployments in one namespace, all updated at once: what a controller that looks at the whole namespace
 * for each of them does not survive. Prints what the manager needed for it.
 *
 *     npm run build && node test/bench/deployment-storm.ts [--scale 0.2] [--manager ours,go]
 *
 * Scale 1 is 3,000 Deployments with 10,000 pods.
 */
import { parseArgs } from 'node:util';

import type { ManagerName } from './managers/manager-process.ts';
import { type Conditions, measureWork } from './managers/measure.ts';
import { storm, type Workload } from './managers/workloads.ts';

const { values } = parseArgs({
  options: { scale: { type: 'string', default: '0.2' }, manager: { type: 'string', default: 'ours' } },
});

const conditions: Conditions = {
  controllers: ['deployment-controller', 'replicaset-controller'],
  flags: ['--kube-api-qps=10000', '--kube-api-burst=10000'],
  scale: Number(values.scale),
  nodes: 20,
};

/** Says when it begins: at full size a workload takes minutes. */
const announced = (workload: Workload): Workload => ({
  name: workload.name,
  run(stage, namespace) {
    console.log(`${new Date().toISOString()} ${workload.name}`);
    return workload.run(stage, namespace);
  },
});

for (const manager of values.manager.split(',') as ManagerName[]) {
  const measurements = await measureWork(manager, storm(conditions.scale).map(announced), conditions);
  for (const { workload, wallSeconds, cpuSeconds, peakMegabytes, settledMegabytes, requests } of measurements) {
    const seconds = `${wallSeconds.toFixed(1)} s, CPU ${cpuSeconds.toFixed(1)} s`;
    const memory = `memory ${peakMegabytes.toFixed(0)} MB at most, ${settledMegabytes.toFixed(0)} MB at the end`;
    console.log(`${manager}: ${workload}: ${seconds}, ${memory}, requests ${JSON.stringify(requests)}`);
  }
}
