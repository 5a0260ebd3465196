import { createSharedInformerFactory, type SharedInformerFactory } from '../../informers/index.ts';
import { createWorkQueue } from '../../workqueue/index.ts';
import type { ObjectKey } from '../api/index.ts';
import { keyOf } from '../api/index.ts';
import { createDiscovery } from '../client/index.ts';
import type { Controller, ControllerContext } from '../controller/index.ts';
import type { NewEvent } from '../events/index.ts';
import { silentLogger, type Logger } from '../log/index.ts';
import { createMetricsRegistry } from '../metrics/index.ts';
import { FakeClock } from './fake-clock.ts';
import { RecordingClient } from './recording-client.ts';

/** An event that a controller recorded. */
export interface RecordedEvent extends NewEvent {
  /** The kind and key of the object that it is about. */
  readonly kind: string;
  readonly object: ObjectKey;
}

export interface TestContext {
  readonly context: ControllerContext;
  /** The controller's own client, which records its reads and writes. */
  readonly client: RecordingClient;
  /** The shared server; its records are those of the informers. */
  readonly server: RecordingClient;
  readonly clock: FakeClock;
  readonly informers: SharedInformerFactory;
  readonly recorded: readonly RecordedEvent[];
}

export interface TestContextOptions {
  /** Freeze cached objects, as in development. Default false. */
  readonly freeze?: boolean | undefined;
  /** The context of a process that has ended: this one has the same server and clock. */
  readonly after?: Pick<TestContext, 'server' | 'clock'> | undefined;
  readonly reconciles?: ControllerContext['reconciles'] | undefined;
  /** Gets the errors of event handlers. */
  readonly informerLogger?: Logger | undefined;
}

/** The context of one controller, with an API server of plain objects, without network and real time. */
export function createTestContext(options: TestContextOptions = {}): TestContext {
  const { freeze = false, after, reconciles = { finished() {} }, informerLogger = silentLogger } = options;
  const clock = after?.clock ?? new FakeClock();
  const server = after?.server ?? new RecordingClient({ name: 'informers', now: () => clock.now() });
  const client = new RecordingClient({ sharing: server });
  const registry = createMetricsRegistry();
  const informers = createSharedInformerFactory({
    client: server,
    clock,
    logger: informerLogger,
    random: () => 0,
    freeze,
  });
  const recorded: RecordedEvent[] = [];
  const context: ControllerContext = {
    informers,
    discovery: createDiscovery(client),
    gates: { isEnabled: () => false },
    clock,
    metrics: registry,
    logger: silentLogger,
    reconciles,
    serverAuthority: undefined,
    clientFor: () => client,
    queueFor: (name, options) => createWorkQueue({ name, clock, metrics: registry, ...options }),
    recorderFor: () => ({
      event: ({ kind }, about, event) => void recorded.push({ kind, object: keyOf(about), ...event }),
    }),
  };
  return { context, client, server, clock, informers, recorded };
}

/** Runs a controller for as long as `use` does. Before `use`, it runs until it is idle. */
export async function whileRunning(test: TestContext, controller: Controller, use: () => Promise<void>): Promise<void> {
  const running = startInTest(test, controller);
  try {
    await settle();
    await use();
  } finally {
    await running.stop();
  }
}

/** Starts a controller and the informers. */
export function startInTest({ informers }: TestContext, controller: Controller): { stop(): Promise<void> } {
  const stop = new AbortController();
  informers.start(stop.signal);
  const running = controller.run(stop.signal);
  return {
    async stop() {
      stop.abort();
      await running;
      await informers.shutdown();
    },
  };
}

/** Waits until all work is done that needs no timer. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await new Promise<void>((resolve) => setImmediate(resolve));
}
