import { createSharedInformerFactory, type SharedInformerFactory } from '../../informers/index.ts';
import type { Controller, ControllerContext } from '../../pkg/controller/index.ts';
import { createDiscovery } from '../../pkg/client/index.ts';
import { createMetricsRegistry } from '../../pkg/metrics/index.ts';
import { createWorkQueue } from '../../workqueue/index.ts';
import { FakeClock } from './fake-clock.ts';
import { silentLogger } from './loggers.ts';
import { RecordingClient } from './recording-client.ts';

export interface TestContext {
  readonly context: ControllerContext;
  /** The controller's own client: what it asks for and writes. */
  readonly client: RecordingClient;
  /** The server that all see; its records are of the informers alone. */
  readonly server: RecordingClient;
  readonly clock: FakeClock;
  readonly informers: SharedInformerFactory;
}

/** The context of one controller, with an API server of plain objects, without network and real time. */
export function createTestContext(): TestContext {
  const clock = new FakeClock();
  const server = new RecordingClient({ name: 'informers', now: () => clock.now() });
  const client = new RecordingClient({ sharing: server });
  const registry = createMetricsRegistry();
  const informers = createSharedInformerFactory({ client: server, clock, logger: silentLogger, random: () => 0 });
  const context: ControllerContext = {
    informers,
    discovery: createDiscovery(client),
    gates: { isEnabled: () => false },
    clock,
    metrics: registry,
    logger: silentLogger,
    reconciles: { finished() {} },
    serverAuthority: undefined,
    clientFor: () => client,
    queueFor: (name, options) => createWorkQueue({ name, clock, metrics: registry, ...options }),
    recorderFor: () => ({ event() {} }),
  };
  return { context, client, server, clock, informers };
}

/** Runs a controller for as long as `use` does; all that can happen without time passing has happened before it. */
export async function whileRunning(
  { informers }: TestContext,
  controller: Controller,
  use: () => Promise<void>,
): Promise<void> {
  const stop = new AbortController();
  informers.start(stop.signal);
  const running = controller.run(stop.signal);
  try {
    await settle();
    await use();
  } finally {
    stop.abort();
    await running;
    await informers.shutdown();
  }
}

/** Waits until all work is done that needs no timer. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await new Promise<void>((resolve) => setImmediate(resolve));
}
