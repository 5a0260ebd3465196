import { onTestFinished } from 'vitest';

import { Deployments, type Kind, type KubeObject, type ObjectKey } from '../../pkg/api/index.ts';
import type { FinishedRequest } from '../../pkg/client/index.ts';
import { runWorkers, type Reconcile } from '../../pkg/controller/index.ts';
import type { Loop } from '../../pkg/loop/index.ts';
import { createWorkQueue, type WorkQueue } from '../../workqueue/index.ts';
import { FakeCaches } from './fake-caches.ts';
import type { FakeClock } from './fake-clock.ts';
import { silentLogger } from './loggers.ts';
import { RecordingClient } from './recording-client.ts';

interface StartedWork {
  readonly queue: WorkQueue<ObjectKey>;
  stop(): Promise<void>;
}

export interface LoopHarness {
  readonly caches: FakeCaches;
  readonly client: RecordingClient;
  /** Ends the term as leader. */
  leave(): void;
  /** The cache of a kind, as a controller reads it. */
  storeOf<T extends KubeObject>(kind: Kind<T>): ReturnType<typeof Loop.prototype.storeOf<T>>;
  /** Runs the workers of a controller until the test ends. */
  work(reconcile: Reconcile, options?: { readonly kind?: Kind; readonly name?: string }): StartedWork;
}

/** A leader with caches that the test fills, and with its controllers. */
export function leadInTest(loop: Loop, clock: FakeClock): LoopHarness {
  const caches = new FakeCaches(() => clock.monotonic());
  const client = new RecordingClient();
  const leave = loop.leads({ caches, client });
  const storeOf: LoopHarness['storeOf'] = (kind) => {
    const informer = caches.find(kind);
    if (informer === undefined) throw new Error(`the test has not filled a cache of ${kind.kind}`);
    return loop.storeOf(informer);
  };
  const work: LoopHarness['work'] = (reconcile, { kind = Deployments, name = 'deployment-controller' } = {}) => {
    const stop = new AbortController();
    const queue = createWorkQueue<ObjectKey>({ name, clock });
    const context = { clock, logger: silentLogger, reconciles: loop };
    const running = runWorkers(
      { name, context, queue, reconcile, caches: [], workers: 2, primary: storeOf(kind) },
      stop.signal,
    );
    const end = async (): Promise<void> => {
      stop.abort();
      await running;
    };
    onTestFinished(end);
    return { queue, stop: end };
  };
  return { caches, client, leave, storeOf, work };
}

export function finishedRequest(attempted: string, code = '200'): FinishedRequest {
  return { attempted, code, durationMs: 1, verb: 'GET', host: '127.0.0.1', requestBytes: 0, responseBytes: 0 };
}
