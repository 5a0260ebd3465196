/**
 * Our side of the engine benchmark: an informer of pods, or a work queue. It reads commands from stdin and writes results
 * as lines of JSON. Its counterpart is `engine-go/main.go`. `engine.ts` runs both.
 */
import { once } from 'node:events';
import { createInterface } from 'node:readline';

import { controllerOf, Pods, type Cached, type Pod } from '../../pkg/api/index.ts';
import { ClientBuilder, loadKubeconfig } from '../../pkg/client/index.ts';
import { createSharedInformerFactory, defineIndex } from '../../informers/index.ts';
import { systemClock } from '../../pkg/time/index.ts';
import { silentLogger } from '../support/loggers.ts';
import { runQueueScenarios } from './engine/queue-scenarios.ts';
import { stampAnnotation } from './engine/pods.ts';

const { signal } = new AbortController();

function answer(value: object): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

/** Records the latency of events from the write to the handler, until the expected number has arrived. */
class Counter {
  #latencies = new Float64Array(0);
  #seen = 0;
  #firstMs = 0;
  #lastMs = 0;
  #done = Promise.withResolvers<void>();

  expect(count: number): Promise<void> {
    this.#latencies = new Float64Array(count);
    this.#seen = 0;
    this.#done = Promise.withResolvers();
    return this.#done.promise;
  }

  add({ metadata }: Cached<Pod>): void {
    const nowMs = performanceNowMs();
    const written = metadata.annotations?.[stampAnnotation];
    if (written === undefined || this.#seen >= this.#latencies.length) return;
    if (this.#seen === 0) this.#firstMs = nowMs;
    this.#latencies[this.#seen++] = nowMs - Number(written);
    this.#lastMs = nowMs;
    if (this.#seen === this.#latencies.length) this.#done.resolve();
  }

  result(): object {
    const sorted = this.#latencies.toSorted();
    const at = (part: number): number => sorted[Math.floor(part * (sorted.length - 1))] ?? 0;
    return { seconds: (this.#lastMs - this.#firstMs) / 1000, p50Ms: at(0.5), p99Ms: at(0.99), maxMs: at(1) };
  }
}

/** The clock that all processes of a machine share. */
function performanceNowMs(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1000 + nanoseconds / 1e6;
}

async function runInformer(kubeconfig: string): Promise<void> {
  const connection = await loadKubeconfig({ path: kubeconfig }, systemClock);
  const clients = new ClientBuilder({ connection, clock: systemClock, userAgent: 'engine-bench' });
  const client = clients.clientFor('informers');
  const factory = createSharedInformerFactory({ client, clock: systemClock, logger: silentLogger });
  const pods = factory.informerFor(Pods);
  pods.addIndex(defineIndex('node', ({ spec }) => [spec.nodeName ?? '']));
  pods.addIndex(defineIndex('controller', (pod) => [controllerOf(pod)?.uid ?? '']));
  const seen = new Counter();
  const handler = pods.addHandler({ added() {}, updated: (_before, after) => seen.add(after), deleted() {} });
  answer({ ready: true });
  for await (const line of createInterface({ input: process.stdin })) {
    const [command, argument] = line.split(' ');
    if (command === 'start') {
      factory.start(signal);
      await handler.waitForSync(signal);
      answer({ objects: pods.store.size });
    } else if (command === 'heap') {
      globalThis.gc?.();
      const { heapUsed, external } = process.memoryUsage();
      answer({ heapBytes: heapUsed + external });
    } else if (command === 'expect') {
      const done = seen.expect(Number(argument));
      answer({ expecting: Number(argument) });
      await done;
      answer(seen.result());
    }
  }
  await factory.shutdown();
  clients.close();
}

const [, , mode, argument = ''] = process.argv;
if (mode === 'informer') await runInformer(argument);
else if (mode === 'queue') await runQueueScenarios(Number(argument), answer);
else throw new Error('usage: informer <kubeconfig>, or queue <keys>');
if (process.stdout.writableLength > 0) await once(process.stdout, 'drain');
