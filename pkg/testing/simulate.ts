import * as api from '../api/index.ts';
import { apiVersionOf, type Kind, type KubeObject } from '../api/index.ts';
import type { OperatorController, ResourceClient } from '../operator/index.ts';
import type { FakeClock } from './fake-clock.ts';
import type { Action, RecordingClient } from './recording-client.ts';
import { SimulationErrors, type SimulatedFailure } from './simulation-errors.ts';
import { createTestContext, settle, startInTest, type RecordedEvent } from './test-context.ts';
import { createUserClient } from './user-client.ts';

/** An object that exists at the start. With its kind, if neither the controller nor Kubernetes knows it. */
export type SeedObject = KubeObject | { readonly kind: Kind; readonly object: KubeObject };

export interface SimulationOptions {
  /**
   * The test reads mistakes in `errors`, such as a `DefinitionError` or `TypeError` of a reconcile. Default false: they
   * fail the test.
   */
  readonly expectsErrors?: boolean | undefined;
}

/** A controller that runs on plain objects: no server, no network, no real time. */
export interface Simulation extends AsyncDisposable {
  /** For the test, in the role of the user. */
  readonly client: ResourceClient;
  /** The controller's writes so far, in order. */
  readonly writes: readonly Action[];
  readonly events: readonly RecordedEvent[];
  /** The errors so far of reconciles, without conflicts, and of mappings, predicates and indexes. */
  readonly errors: readonly SimulatedFailure[];
  readonly clock: FakeClock;
  /** The controller's client: `before` and `after` make its calls fail. */
  readonly controllerClient: RecordingClient;
  /** Resolves once the controller is idle until time passes. Rejects with a mistake that `errors` has not shown yet. */
  settle(): Promise<void>;
}

/**
 * Runs a controller on these objects, with its real loop, until it has settled. Objects get the defaults of their custom
 * resource. There is no validation and no garbage collection: for those, see `startTestCluster`.
 */
export async function simulate(
  definition: OperatorController,
  objects: readonly SeedObject[] = [],
  { expectsErrors = false }: SimulationOptions = {},
): Promise<Simulation> {
  const errors = new SimulationErrors();
  const test = createTestContext({ freeze: true, reconciles: errors.observer, informerLogger: errors.logger });
  const stop = new AbortController();
  for (const kind of definition.kinds) test.server.define(kind);
  for (const seed of objects) {
    const { kind, object } = resolveSeed(definition, seed);
    test.server.seed(kind, object);
  }
  const running = startInTest(test, definition.create(test.context));
  const check = (): void => {
    if (!expectsErrors) errors.throwUnread();
  };
  const settleAndCheck = async (): Promise<void> => {
    await settle();
    check();
  };
  const end = async (): Promise<void> => {
    stop.abort();
    await running.stop();
  };
  try {
    await settleAndCheck();
  } catch (error) {
    await end();
    throw error;
  }
  return {
    client: createUserClient(test.server, stop.signal),
    get writes() {
      return test.client.writes;
    },
    get errors() {
      return errors.read();
    },
    events: test.recorded,
    clock: test.clock,
    controllerClient: test.client,
    settle: settleAndCheck,
    async [Symbol.asyncDispose]() {
      await end();
      check();
    },
  };
}

function resolveSeed({ name, kinds }: OperatorController, seed: SeedObject): { kind: Kind; object: KubeObject } {
  if (isPair(seed)) return seed;
  const wanted = `${String(seed.apiVersion)} ${String(seed.kind)}`;
  const candidates: readonly unknown[] = [...kinds, ...Object.values(api)];
  const kind = candidates.find((each): each is Kind => isKind(each) && `${apiVersionOf(each)} ${each.kind}` === wanted);
  if (kind !== undefined) return { kind, object: seed };
  throw new Error(`${name} names no kind ${wanted}: give the object as { kind, object }`);
}

function isPair(seed: SeedObject): seed is Exclude<SeedObject, KubeObject> {
  return typeof seed.kind === 'object';
}

function isKind(value: unknown): value is Kind {
  return (
    typeof value === 'object' && value !== null && 'resource' in value && 'namespaced' in value && 'group' in value
  );
}
