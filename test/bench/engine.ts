/**
 * Compares the engine with client-go, on the same server in the same run: the start of an informer of pods, events up to
 * a handler, and the work queue.
 *
 *     node test/bench/engine.ts [--pods 20000] [--rounds 3] [--only informer|queue] [--out engine.json]
 *
 * CPU and memory are read from outside, for all programs alike. Trust ratios, not absolute times: server and programs
 * share the machine.
 */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';

import { startCluster, type Cluster } from '../cluster/index.ts';
import { createNamespace } from '../suites/use-cluster.ts';
import { writePods } from './engine/pods.ts';
import { formatReport, type Figures } from './engine/report.ts';
import { Subject, subjectNames, type SubjectName } from './engine/subject.ts';

const { values: options } = parseArgs({
  options: {
    pods: { type: 'string', default: '20000' },
    rounds: { type: 'string', default: '3' },
    keys: { type: 'string', default: '500000' },
    only: { type: 'string' },
    out: { type: 'string' },
  },
});
const podCount = Number(options.pods);

/** Long enough for garbage collectors to free memory. */
const settleMs = 10_000;
/** Faster than any program can process them. */
const floodEvents = Math.min(5000, podCount);
/** So few at a time that no event waits for another: this measures the latency alone. */
const calmEvents = Math.min(1000, podCount);
const calmIntervalMs = 10;

const indexes = Array.from({ length: podCount }, (_, index) => index);
const figures: Figures[] = [];

/** Prints the current phase. */
function progress(text: string): void {
  process.stderr.write(`[engine] ${text}\n`);
}

function record(subject: string, what: string, unit: string, value: number): void {
  figures.push({ subject, what, unit, value });
  progress(`${subject}: ${what}: ${value.toPrecision(3)} ${unit}`);
}

/** Waits for the watch cache of the server, which has to observe the writes to etcd. This is not part of the measurement. */
async function warmUp(goProgram: string, cluster: Cluster): Promise<void> {
  await using subject = await Subject.startInformer('client-go, JSON', goProgram, cluster.kubeconfig());
  while ((await subject.ask('start'))['objects'] !== podCount) await sleep(500);
}

async function measureInformer(name: SubjectName, goProgram: string, cluster: Cluster): Promise<void> {
  progress(name);
  await using subject = await Subject.startInformer(name, goProgram, cluster.kubeconfig());
  const { heapBytes: emptyHeap = 0 } = await subject.ask('heap');
  const before = subject.usage();
  const startMs = performance.now();
  const { objects } = await subject.ask('start');
  if (objects !== podCount) throw new Error(`${name} sees ${String(objects)} pods instead of ${podCount}`);
  const synced = subject.usage();
  record(name, 'start: time until the handler has all pods', 's', (performance.now() - startMs) / 1000);
  record(name, 'start: CPU', 's', synced.cpuSeconds - before.cpuSeconds);
  record(name, 'start: peak RSS', 'MB', synced.peakRssMegabytes);
  record(
    name,
    'start: peak RSS above that at rest, per pod',
    'kB',
    perPod(synced.peakRssMegabytes - before.rssMegabytes),
  );
  await sleep(settleMs);
  const settled = subject.usage();
  record(name, 'settled: CPU since', 's', settled.cpuSeconds - synced.cpuSeconds);
  record(name, 'settled: RSS', 'MB', settled.rssMegabytes);
  record(name, 'settled: RSS above that at rest, per pod', 'kB', perPod(settled.rssMegabytes - before.rssMegabytes));
  const { heapBytes = 0 } = await subject.ask('heap');
  record(name, 'settled: heap in use, per pod', 'kB', (heapBytes - emptyHeap) / 1024 / podCount);

  await measureEvents(subject, name, 'flood', floodEvents, () => writePods(cluster, indexes.slice(0, floodEvents)));
  record(name, 'flood: RSS', 'MB', subject.usage().rssMegabytes);
  await measureEvents(subject, name, 'calm', calmEvents, async () => {
    for (const index of indexes.slice(0, calmEvents)) {
      await Promise.all([writePods(cluster, [index]), sleep(calmIntervalMs)]);
    }
  });
}

function perPod(megabytes: number): number {
  return (megabytes * 1024) / podCount;
}

async function measureEvents(
  subject: Subject,
  name: SubjectName,
  phase: 'flood' | 'calm',
  count: number,
  write: () => Promise<void>,
): Promise<void> {
  progress(`${name}: ${phase}`);
  await subject.ask(`expect ${count}`);
  const before = subject.usage();
  const [result] = await Promise.all([subject.answer(), write()]);
  const { seconds = 0, p50Ms = 0, p99Ms = 0 } = result;
  record(name, `${phase}: CPU per event`, 'µs', ((subject.usage().cpuSeconds - before.cpuSeconds) * 1e6) / count);
  record(name, `${phase}: events at the handler`, '/s', count / seconds);
  record(name, `${phase}: latency, median`, 'ms', p50Ms);
  record(name, `${phase}: latency, 99th percentile`, 'ms', p99Ms);
}

async function measureQueue(name: 'ours' | 'client-go', goProgram: string): Promise<void> {
  const keys = Number(options.keys);
  await using subject = Subject.startQueue(name, goProgram, keys);
  for await (const { scenario, seconds, cpuSeconds } of subject.answers()) {
    const column: SubjectName = name === 'ours' ? 'ours' : 'client-go, protobuf';
    record(column, `queue, ${String(scenario)}: keys`, '/s', keys / Number(seconds));
    record(column, `queue, ${String(scenario)}: CPU per key`, 'µs', (Number(cpuSeconds) * 1e6) / keys);
  }
}

function buildGoProgram(): string {
  const program = join(import.meta.dirname, '../../.cache/engine-go');
  execFileSync('go', ['build', '-o', program, '.'], { cwd: join(import.meta.dirname, 'engine-go'), stdio: 'inherit' });
  return program;
}

const goProgram = buildGoProgram();
if (options.only !== 'queue') {
  await using cluster = await startCluster();
  await createNamespace(cluster, 'bench');
  progress(`writing ${podCount} pods`);
  await writePods(cluster, indexes);
  await warmUp(goProgram, cluster);
  for (let round = 0; round < Number(options.rounds); round++) {
    // The first program finds colder caches than the last. So each round starts with another program.
    const order = [...subjectNames.slice(round % 3), ...subjectNames.slice(0, round % 3)];
    for (const name of order) await measureInformer(name, goProgram, cluster);
  }
}
if (options.only !== 'informer') {
  for (let round = 0; round < Number(options.rounds); round++) {
    for (const name of ['ours', 'client-go'] as const) await measureQueue(name, goProgram);
  }
}
console.log(formatReport(figures));
if (options.out !== undefined) writeFileSync(options.out, `${JSON.stringify(figures, undefined, 2)}\n`);
