/**
 * The memory of a controller manager that runs only the garbage collector in a cluster of large objects, ours and the Go
 * binary:
 * `npm run build && node test/bench/gc-memory.ts [objects] [kilobytes each]`.
 */
import { randomBytes } from 'node:crypto';

import { apiVersionOf, ConfigMaps, keyOf } from '../../pkg/api/index.ts';
import { ClientBuilder, isNotFound, loadKubeconfig, type Client } from '../../pkg/client/index.ts';
import { runBounded } from '../../pkg/controller/index.ts';
import { systemClock } from '../../pkg/time/index.ts';
import { startCluster, type Cluster } from '../cluster/index.ts';
import { createNamespace } from '../suites/use-cluster.ts';
import { ManagerProcess, type ManagerName } from './managers/manager-process.ts';

const objects = Number(process.argv[2] ?? 2000);
const kilobytes = Number(process.argv[3] ?? 100);
/** By then, the process has freed its garbage. */
const settleMs = 15_000;
const { signal } = new AbortController();

/** Resolves when the manager has collected an object: then it has observed all objects. */
async function untilAtWork(client: Client, namespace: string): Promise<void> {
  const owner = await client.create(ConfigMaps, { metadata: { namespace, generateName: 'owner-' } }, signal);
  const { name, uid } = owner.metadata;
  const ownerReferences = [{ apiVersion: apiVersionOf(ConfigMaps), kind: ConfigMaps.kind, name, uid }];
  const metadata = { namespace, generateName: 'dependent-', ownerReferences };
  const dependent = await client.create(ConfigMaps, { metadata }, signal);
  await client.delete(ConfigMaps, keyOf(owner), { propagationPolicy: 'Background' }, signal);
  for (;;) {
    try {
      await client.get(ConfigMaps, keyOf(dependent), signal);
    } catch (error) {
      if (isNotFound(error)) return;
      throw error;
    }
    await systemClock.sleep(100, signal);
  }
}

async function measure(manager: ManagerName, cluster: Cluster, client: Client, namespace: string): Promise<void> {
  const flags = ['--controllers=garbage-collector-controller', '--leader-elect=false'];
  await using running = await ManagerProcess.start(manager, cluster, flags);
  await untilAtWork(client, namespace);
  await systemClock.sleep(settleMs, signal);
  const { peakMegabytes, settledMegabytes, cpuSeconds } = running.readUsage();
  const figures = `peak ${peakMegabytes.toFixed(0)} MB, settled ${settledMegabytes.toFixed(0)} MB`;
  console.log(`  ${manager.padEnd(4)} ${figures}, ${cpuSeconds.toFixed(1)} s of CPU`);
}

async function fill(client: Client, namespace: string): Promise<void> {
  const indexes = [...Array(objects).keys()];
  await runBounded(8, indexes, async (index) => {
    const data = { content: randomBytes(kilobytes * 512).toString('hex') };
    await client.create(ConfigMaps, { metadata: { namespace, name: `large-${index}` }, data }, signal);
  });
}

const cluster = await startCluster();
try {
  const connection = await loadKubeconfig({ path: cluster.kubeconfig() }, systemClock);
  const clients = new ClientBuilder({ connection, clock: systemClock, userAgent: 'gc-memory' });
  const client = clients.clientFor('user');
  const namespace = await createNamespace(cluster, 'memory');
  console.log('an empty cluster');
  for (const manager of ['ours', 'go'] as const) await measure(manager, cluster, client, namespace);
  await fill(client, namespace);
  console.log(`${objects} ConfigMaps of ${kilobytes} kB each`);
  for (const manager of ['ours', 'go'] as const) await measure(manager, cluster, client, namespace);
  clients.close();
} finally {
  await cluster.stop();
}
