/**
 * The limits of the sandbox: creates per second, the latency of a change to its watchers on an idle server, and 100
 * watchers of 10,000 pods. The server is its own process, limited to one core if `taskset` exists.
 *
 *     node test/bench/sandbox.ts
 */
import { spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { Worker } from 'node:worker_threads';
import { Pods, type Pod, type Unsaved } from '../../pkg/api/index.ts';
import { ClientBuilder, loadKubeconfig } from '../../pkg/client/index.ts';
import { systemClock } from '../../pkg/time/index.ts';

const pods = 10_000;
const watchers = 100;
const changes = 500;
const burst = 1000;
const signal = AbortSignal.timeout(600_000);
const main = new URL('../../cmd/sandbox/main.ts', import.meta.url).pathname;

const startedMs = performance.now();
const pinned = spawnSync('taskset', ['--version']).status === 0 ? ['taskset', '--cpu-list', '0'] : [];
const [program, ...args] = [...pinned, process.execPath, main, '--quiet', '--no-controllers', '--nodes=0'];
const server = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] });
process.once('exit', () => server.kill('SIGKILL'));
const path = await kubeconfigOf(server.stdout);
const connection = await loadKubeconfig({ path }, systemClock);
const startMs = performance.now() - startedMs;
const clients = new ClientBuilder({ connection, clock: systemClock, userAgent: 'bench' });
const client = clients.processClientFor('bench', { qps: 0 });

async function kubeconfigOf(output: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface({ input: output })) {
    const path = /KUBECONFIG=(\S+)/.exec(line)?.[1];
    if (path !== undefined) return path;
  }
  throw new Error('the sandbox has ended before it served');
}

/** The CPU time of the server, in seconds. Zero if the system does not provide it. */
function cpuSeconds(): number {
  try {
    const fields =
      readFileSync(`/proc/${String(server.pid)}/stat`, 'utf8')
        .split(') ')[1]
        ?.split(' ') ?? [];
    return (Number(fields[11]) + Number(fields[12])) / 100;
  } catch {
    return 0;
  }
}

function memoryMb(): number {
  try {
    const kilobytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${String(server.pid)}/status`, 'utf8'))?.[1];
    return Math.round(Number(kilobytes) / 1000);
  } catch {
    return 0;
  }
}

const pod = (name: string): Unsaved<Pod> => ({
  metadata: { namespace: 'default', name, labels: { app: 'bench' } },
  spec: { containers: [{ name: 'main', image: 'example.com/main:1', ports: [{ containerPort: 80 }] }] },
});

async function createAll(count: number, prefix: string): Promise<void> {
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < count) await client.create(Pods, pod(`${prefix}-${next++}`), signal);
  };
  await Promise.all(Array.from({ length: 32 }, work));
}

const cpuBefore = cpuSeconds();
const createdMs = performance.now();
await createAll(pods, 'pod');
const createSeconds = (performance.now() - createdMs) / 1000;
const createCpuSeconds = cpuSeconds() - cpuBefore;

const listMs = performance.now();
const { items, metadata } = await client.list(Pods, { namespace: 'default' }, signal);
const listedMs = performance.now() - listMs;

const stop = new AbortController();
let seen = 0;
let onEvent = (_name: string): void => {};

async function watch(resourceVersion: string | undefined, until: AbortSignal): Promise<void> {
  try {
    for await (const event of client.watch(Pods, { namespace: 'default', resourceVersion }, until)) {
      if (event.type !== 'ADDED') continue;
      seen++;
      onEvent(event.object.metadata.name);
    }
  } catch (error) {
    if (!until.aborted) throw error;
  }
}

/** From the request to its event, in milliseconds. */
async function measureChange(name: string): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  onEvent = (created) => {
    if (created === name) resolve(performance.now());
  };
  const sentMs = performance.now();
  await client.create(Pods, pod(name), signal);
  return (await promise) - sentMs;
}

const percentile = (values: readonly number[], share: number): number => {
  const sorted = values.toSorted((a, b) => a - b);
  return Number((sorted[Math.ceil(sorted.length * share) - 1] ?? NaN).toFixed(1));
};

/** Changes one after the other, each when there is nothing left to do for the one before. */
async function measureAtRest(prefix: string, rest: () => Promise<void>): Promise<readonly number[]> {
  for (let index = 0; index < 100; index++) await measureChange(`${prefix}-warm-${index}`);
  const latencies: number[] = [];
  for (let index = 0; index < changes; index++) {
    await rest();
    latencies.push(await measureChange(`${prefix}-${index}`));
  }
  return latencies;
}

const pause = (): Promise<void> => systemClock.sleep(20, signal);
const ofOne = await (async () => {
  const alone = new AbortController();
  const watching = watch(metadata.resourceVersion, alone.signal);
  const latencies = await measureAtRest('alone', pause);
  alone.abort();
  await watching;
  return latencies;
})();

seen = 0;
const { resourceVersion } = (await client.list(Pods, { namespace: 'default', limit: 1 }, signal)).metadata;
const counter = new SharedArrayBuffer(4);
const workerData = { path, resourceVersion, watchers: watchers - 1, counter };
const crowd = new Worker(new URL('sandbox-watchers.ts', import.meta.url), { workerData });
const eventsOfCrowd = (): number => Atomics.load(new Int32Array(counter), 0);
/** Until everybody has heard of everything, and there is nothing left to do. */
async function haveAllHeard(): Promise<void> {
  while (eventsOfCrowd() !== seen * (watchers - 1)) await systemClock.sleep(1, signal);
  await pause();
}

// A change before anybody watches is one that all of them begin with: from then on it can be told who watches.
await createAll(1, 'begin');
while (eventsOfCrowd() < watchers - 1) await systemClock.sleep(10, signal);
const watching = watch(resourceVersion, stop.signal); // the last of all, and so the last to be told
const ofLast = await measureAtRest('last', haveAllHeard);

await haveAllHeard();
const before = seen + eventsOfCrowd();
const burstMs = performance.now();
await createAll(burst, 'burst');
const haveArrived = (): boolean => seen + eventsOfCrowd() >= before + burst * watchers;
while (!haveArrived()) await systemClock.sleep(1, signal);
const burstSeconds = (performance.now() - burstMs) / 1000;

console.table({
  'start, ms': Math.round(startMs),
  'pods in the store': items.length,
  'creates a second': Math.round(pods / createSeconds),
  "creates a second of the server's CPU": Math.round(pods / createCpuSeconds),
  'list of all, ms': Math.round(listedMs),
  'from a create to its event at rest, median ms': percentile(ofOne, 0.5),
  'from a create to its event at rest, 99th percentile ms': percentile(ofOne, 0.99),
  [`to the last of ${watchers} watchers, median ms`]: percentile(ofLast, 0.5),
  [`to the last of ${watchers} watchers, 99th percentile ms`]: percentile(ofLast, 0.99),
  [`events a second to ${watchers} watchers`]: Math.round((burst * watchers) / burstSeconds),
  'memory of the server, MB': memoryMb(),
});
stop.abort();
await watching;
await crowd.terminate();
clients.close();
server.kill();
