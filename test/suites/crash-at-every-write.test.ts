import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { afterAll, beforeAll, expect, test } from 'vitest';

import { controllers } from '../../controllers/registry.ts';
import { isSandbox } from '../cluster/index.ts';
import { apiScenarios } from '../support/faults/api-scenarios.ts';
import { certificateScenarios } from '../support/faults/certificate-scenarios.ts';
import { claimScenarios } from '../support/faults/claim-scenarios.ts';
import { faults, planAll, planSome } from '../support/faults/faults.ts';
import { networkScenarios } from '../support/faults/network-scenarios.ts';
import { nodeScenarios } from '../support/faults/node-scenarios.ts';
import { objectScenarios } from '../support/faults/object-scenarios.ts';
import { FaultProxy } from '../support/faults/proxy.ts';
import { runScenario } from '../support/faults/runner.ts';
import { volumeScenarios } from '../support/faults/volume-scenarios.ts';
import { workloadScenarios } from '../support/faults/workload-scenarios.ts';
import { useCluster } from './use-cluster.ts';
import { useNodes } from './use-nodes.ts';

/** `CRASH_FAULTS=all`: every fault at every write, some twenty minutes; `-t job-controller` for one controller. */
const isWhole = process.env['CRASH_FAULTS'] === 'all';
const scenarios = [
  ...workloadScenarios,
  ...nodeScenarios,
  ...objectScenarios,
  ...networkScenarios,
  ...certificateScenarios,
  ...volumeScenarios,
  ...apiScenarios,
  ...claimScenarios,
];

const root = join(import.meta.dirname, '../..');
const directory = mkdtempSync(join(tmpdir(), 'crash-'));
const cluster = useCluster({
  featureGates: Object.assign({}, ...scenarios.map(({ needs }) => needs?.featureGates)),
  runtimeConfig: Object.assign({}, ...scenarios.map(({ needs }) => needs?.runtimeConfig)),
});
// Leases are renewed often, because the node scenarios have short timeouts.
const nodes = useNodes(cluster, { nodes: 2, podStopDelayMs: 0, leaseRenewMs: 400 });
let proxy: FaultProxy;

beforeAll(async () => {
  proxy = await FaultProxy.start(cluster());
  // The built manager starts several times faster than the source, and every second fault restarts it.
  await promisify(execFile)(process.execPath, ['scripts/build.ts', '--out', directory], { cwd: root });
});

afterAll(async () => {
  await proxy?.[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true });
});

/** Controllers that write nothing but events. */
const withoutWrites = ['selinux-warning-controller'];

test('every controller has a scenario', () => {
  const covered = new Set([...scenarios.map(({ controller }) => controller), ...withoutWrites]);
  expect(controllers.map(({ name }) => name).filter((name) => !covered.has(name))).toEqual([]);
});

for (const [turn, scenario] of scenarios.entries()) {
  const ended = 'reaches the same end state whatever happens to its writes';
  const settings = isWhole ? { timeout: 3_600_000 } : {};
  const title = [scenario.controller, scenario.about, ended].filter((part) => part !== undefined).join(' ');
  test(title, settings, async ({ signal, annotate, skip }) => {
    skip(isSandbox && scenario.needs !== undefined, 'the sandbox does not serve the beta APIs that it needs');
    const { client, hollow } = nodes();
    const ground = { cluster: cluster(), proxy, client, hollow, program: join(directory, 'kube-controller-manager') };
    const report = await runScenario(
      ground,
      scenario,
      (writes) => (isWhole ? planAll(writes) : planSome(writes, turn)),
      signal,
    );
    const { writes, tried, missed, failures } = report;
    await annotate(
      `${tried} faults of ${faults.length} kinds at ${writes.length} writes; ${missed.length} whose write did not come: ${missed.join(', ')}`,
    );
    expect(writes).not.toEqual([]);
    expect(failures).toEqual([]);
  });
}
