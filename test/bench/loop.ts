/**
 * What the window into the loop costs: CPU and memory of the manager without it (`--profiling=false`), with nobody looking,
 * and with one browser's stream open, while 1,000 pods change 100 times a second.
 *
 *     node test/bench/loop.ts [--program dist/kube-controller-manager] [--rounds 3] [--seconds 20]
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { request, type RequestOptions } from 'node:https';
import { parseArgs } from 'node:util';

import { Deployments, keyOf, objectKey, Pods, type Pod } from '../../pkg/api/index.ts';
import { ClientBuilder, loadKubeconfig, type Client } from '../../pkg/client/index.ts';
import { startHollowNodes } from '../../pkg/hollow/index.ts';
import { silentLogger } from '../../pkg/log/index.ts';
import { startSandbox } from '../../pkg/sandbox/index.ts';
import { findFreePort } from '../../pkg/servers/index.ts';
import { systemClock } from '../../pkg/time/index.ts';

const { values } = parseArgs({
  options: {
    program: { type: 'string' },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '20' },
  },
});
const podCount = 1000;
const open: RequestOptions = { rejectUnauthorized: false, agent: false };
const changesPerSecond = 100;
const stop = new AbortController();
const { signal } = stop;

await using sandbox = await startSandbox();
const connection = await loadKubeconfig({ path: sandbox.kubeconfigFile }, systemClock);
using clients = new DisposableStack();
const builder = clients.adopt(new ClientBuilder({ connection, clock: systemClock, userAgent: 'bench' }), (each) =>
  each.close(),
);
const client = builder.processClientFor('bench', { qps: 0 });
const hollow = await startHollowNodes(
  { client, clock: systemClock, logger: silentLogger, nodes: 20, namePrefix: 'node' },
  signal,
);

const rows = new Map<string, number[]>();
for (let round = 0; round < Number(values.rounds); round++) {
  for (const profiling of round % 2 === 0 ? [false, true] : [true, false]) await measureManager(profiling);
}
stop.abort();
await hollow.stopped.catch(() => undefined); // the abort
for (const [name, figures] of rows) {
  const median = figures.toSorted((a, b) => a - b)[Math.floor(figures.length / 2)];
  console.log(`${name.padEnd(44)} ${median?.toFixed(1)}  (${figures.map((figure) => figure.toFixed(1)).join(', ')})`);
}

async function measureManager(profiling: boolean): Promise<void> {
  const port = await findFreePort();
  const child = start(port, profiling);
  try {
    await workIsDone(client);
    const pods = (await client.listAll(Pods, { namespace: 'default' }, signal)).items;
    const name = profiling ? 'nobody looks' : '--profiling=false';
    await measure(`${name}: CPU, % of a core`, child, pods);
    note(`${name}: memory, MB`, memoryMb(child));
    if (!profiling) return;
    const page = request(`https://127.0.0.1:${port}/debug/loop/stream`, open, (response) => response.resume());
    page.on('error', () => {}); // it is destroyed at the end
    page.end();
    await once(page, 'response');
    await measure('one looks: CPU, % of a core', child, pods);
    note('one looks: memory, MB', memoryMb(child));
    page.destroy();
  } finally {
    child.kill('SIGTERM');
    await once(child, 'exit');
  }
}

function start(port: number, profiling: boolean): ChildProcess {
  const flags = [
    `--kubeconfig=${sandbox.kubeconfigFile}`,
    `--authentication-kubeconfig=${sandbox.kubeconfigFile}`,
    `--authorization-kubeconfig=${sandbox.kubeconfigFile}`,
    '--authorization-always-allow-paths=/healthz,/debug/loop/*',
    '--bind-address=127.0.0.1',
    `--secure-port=${port}`,
    `--profiling=${profiling}`,
    '--leader-elect=false',
  ];
  const source = new URL('../../cmd/kube-controller-manager/main.ts', import.meta.url).pathname;
  const [file, before] = values.program === undefined ? [process.execPath, [source]] : [values.program, []];
  return spawn(file, [...before, ...flags], { stdio: 'ignore' });
}

async function workIsDone(client: Client): Promise<void> {
  const labels = { app: 'web' };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'app', image: 'example' }] } };
  const spec = { replicas: podCount, selector: { matchLabels: labels }, template };
  await client.create(Deployments, { metadata: { namespace: 'default', name: 'web' }, spec }, signal).catch(() => {}); // exists
  for (;;) {
    const { status } = await client.get(Deployments, objectKey('default', 'web'), signal);
    if (status?.availableReplicas === podCount) break;
    await systemClock.sleep(200, signal);
  }
  await systemClock.sleep(5000, signal); // the rest of the start
}

/** Changes pods for some seconds, at an even pace. */
async function measure(name: string, child: ChildProcess, pods: readonly Pod[]): Promise<void> {
  const seconds = Number(values.seconds);
  const [startMs, before] = [systemClock.monotonic(), cpuSeconds(child)];
  for (let change = 0; change < seconds * changesPerSecond; change++) {
    const pod = pods[change % pods.length];
    if (pod === undefined) break;
    const body = { metadata: { annotations: { changed: `${startMs} ${change}` } } };
    await client.patch(Pods, keyOf(pod), { type: 'merge', body }, signal);
    const dueMs = startMs + ((change + 1) * 1000) / changesPerSecond;
    if (dueMs > systemClock.monotonic()) await systemClock.sleep(dueMs - systemClock.monotonic(), signal);
  }
  note(name, ((cpuSeconds(child) - before) / ((systemClock.monotonic() - startMs) / 1000)) * 100);
}

function note(name: string, figure: number): void {
  rows.set(name, [...(rows.get(name) ?? []), figure]);
}

/** User and system time; a tick is 10 ms. */
function cpuSeconds({ pid }: ChildProcess): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

function memoryMb({ pid }: ChildProcess): number {
  const [, kilobytes] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) / 1000;
}
