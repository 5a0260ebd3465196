/**
 * The bounds of the sandbox: creates a second, how long an event takes to a watcher at rest, and 100 watchers of 10,000
 * pods. Client and server share this process, so that the figures are those of both together.
 *
 *     node test/bench/sandbox.ts
 */
import { objectKey, Pods, type Pod, type Unsaved } from '../../pkg/api/index.ts';
import { ClientBuilder, loadKubeconfig } from '../../pkg/client/index.ts';
import { startSandbox } from '../../pkg/sandbox/index.ts';
import { systemClock } from '../../pkg/time/index.ts';

const pods = 10_000;
const watchers = 100;
const signal = AbortSignal.timeout(600_000);
const startedMs = performance.now();
await using sandbox = await startSandbox();
const tookMs = performance.now() - startedMs;
const connection = await loadKubeconfig({ path: sandbox.kubeconfigFile }, systemClock);
const clients = new ClientBuilder({ connection, clock: systemClock, userAgent: 'bench' });
const client = clients.clientFor('bench');

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

const cpuBefore = process.cpuUsage();
const createMs = performance.now();
await createAll(pods, 'pod');
const createSeconds = (performance.now() - createMs) / 1000;
const cpu = process.cpuUsage(cpuBefore);
const cpuSeconds = (cpu.user + cpu.system) / 1e6;

const listMs = performance.now();
const { items, metadata } = await client.list(Pods, { namespace: 'default' }, signal);
const listedMs = performance.now() - listMs;

const stop = new AbortController();
const waiting = new Map<string, (atMs: number) => void>();
let seen = 0;

async function watch(isFirst: boolean): Promise<void> {
  const options = { namespace: 'default', resourceVersion: metadata.resourceVersion };
  try {
    for await (const event of client.watch(Pods, options, stop.signal)) {
      seen++;
      if (isFirst && event.type === 'ADDED') waiting.get(event.object.metadata.name)?.(performance.now());
    }
  } catch (error) {
    if (!stop.signal.aborted) throw error;
  }
}

/** From the request to the event, sorted. */
async function measureLatencies(prefix: string): Promise<number[]> {
  const latencies: number[] = [];
  for (let index = 0; index < 200; index++) {
    const name = `${prefix}-${index}`;
    const arrival = new Promise<number>((resolve) => waiting.set(name, resolve));
    const sentMs = performance.now();
    await client.create(Pods, pod(name), signal);
    latencies.push((await arrival) - sentMs);
    await systemClock.sleep(2, signal);
  }
  return latencies.sort((a, b) => a - b);
}

const watching = [watch(true)];
const atRest = await measureLatencies('rest');
for (let index = 1; index < watchers; index++) watching.push(watch(false));
const withAll = await measureLatencies('all');

const burst = 1000;
const before = seen;
const burstMs = performance.now();
await createAll(burst, 'burst');
const arrived = (): boolean => seen >= before + burst * watchers;
while (!arrived()) await systemClock.sleep(1, signal);
const burstSeconds = (performance.now() - burstMs) / 1000;
await client.delete(Pods, objectKey('default', 'pod-0'), {}, signal);

console.table({
  'start, ms': Math.round(tookMs),
  'pods in the store': items.length,
  'creates a second (client and server)': Math.round(pods / createSeconds),
  'creates a second of CPU (client and server)': Math.round(pods / cpuSeconds),
  'list of all, ms': Math.round(listedMs),
  'create to event, median ms': Number(atRest[100]?.toFixed(1)),
  'the same, 99th percentile': Number(atRest[197]?.toFixed(1)),
  'create to event beside 99 other watchers, median ms': Number(withAll[100]?.toFixed(1)),
  'events a second to 100 watchers': Math.round((burst * watchers) / burstSeconds),
  'memory, MB': Math.round(process.memoryUsage.rss() / 1e6),
});
stop.abort();
await Promise.all(watching);
clients.close();
