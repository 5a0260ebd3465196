import { apiVersionOf, type KubeObject } from '../api/index.ts';
import { createResourceClient, type OperatorController, type ResourceClient } from '../operator/index.ts';
import type { FakeClock } from './fake-clock.ts';
import type { Action, RecordingClient } from './recording-client.ts';
import { createTestContext, settle, startInTest, type RecordedEvent } from './test-context.ts';

/** A controller that runs on plain objects: no server, no network, no real time. */
export interface Simulation extends AsyncDisposable {
  /** For the test, in the role of the user. */
  readonly client: ResourceClient;
  /** The controller's writes so far, in order. */
  readonly writes: readonly Action[];
  readonly events: readonly RecordedEvent[];
  readonly clock: FakeClock;
  /** The controller's client: `before` and `after` make its calls fail. */
  readonly controllerClient: RecordingClient;
  /** Resolves once the controller is idle until time passes. */
  settle(): Promise<void>;
}

/**
 * Runs a controller on these objects, with its real loop, until it has settled. Objects are stored as they are: there is no
 * validation, no defaulting and no garbage collection. For those, see `startTestCluster`.
 */
export async function simulate(
  definition: OperatorController,
  objects: readonly KubeObject[] = [],
): Promise<Simulation> {
  const test = createTestContext({ freeze: true });
  const stop = new AbortController();
  for (const object of objects) {
    const kind = definition.kinds.find((each) => apiVersionOf(each) === object.apiVersion && each.kind === object.kind);
    if (kind === undefined) throw new Error(`${definition.name} does not watch ${object.apiVersion} ${object.kind}`);
    test.server.seed(kind, object);
  }
  const running = startInTest(test, definition.create(test.context));
  await settle();
  return {
    client: createResourceClient(test.server, { signal: stop.signal, fieldManager: 'test' }),
    get writes() {
      return test.client.writes;
    },
    events: test.recorded,
    clock: test.clock,
    controllerClient: test.client,
    settle,
    async [Symbol.asyncDispose]() {
      stop.abort();
      await running.stop();
    },
  };
}
