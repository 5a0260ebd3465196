import type { ControllerDefinition } from '../controller/index.ts';
import type { ControllerMetrics } from '../metrics/index.ts';
import type { HealthChecks } from '../server/index.ts';
import { formatDuration, type Clock } from '../time/index.ts';
import { createSharedContext, type ContextDeps, type SharedContext } from './context.ts';
import { ManagerError } from './errors.ts';
import type { DebugPages } from './serving.ts';
import { Supervisor, type ControllerLife } from './supervisor.ts';

export interface LeadDeps extends ContextDeps {
  readonly controllers: readonly ControllerDefinition[];
  /** The shortest pause before each controller starts, so that not all list at once. */
  readonly startIntervalMs: number;
  /** No limit if 0. */
  readonly shutdownTimeoutMs: number;
  readonly health: Readonly<Record<'healthz' | 'readyz', HealthChecks>>;
  readonly controllerMetrics: ControllerMetrics;
  readonly debugPages: DebugPages;
  /** The name of the check that fails until all caches are synced. Default `informer-sync`. */
  readonly syncCheck?: string | undefined;
  /** Called when all caches are synced. */
  readonly onLeading?: (() => void) | undefined;
  /** Called if controllers did not end in time. They may still write, so the lease must not be released. */
  readonly onStuck: (names: readonly string[]) => void;
}

/** Aborted requests end at once. Controllers that have not ended this long after that are stuck. */
const afterGraceMs = 2000;

/**
 * Creates every controller, starts the informers, runs the controllers until the signal aborts, stops the informers.
 * Throws a `ManagerError` if a controller cannot be created. When it resolves, nothing is left running.
 */
export async function lead(deps: LeadDeps, signal: AbortSignal): Promise<void> {
  const { health, logger, controllers, clock } = deps;
  const shared = createSharedContext(deps);
  const supervisors = controllers.map((definition) => createSupervisor(definition, shared, deps));
  for (const each of supervisors) deps.debugPages.set(each.name, () => each.debugPages);
  health.healthz.add(...supervisors.map((each) => ({ name: each.name, check: () => each.problem })));
  health.readyz.add({ name: deps.syncCheck ?? 'informer-sync', check: () => describeUnsynced(shared) });
  const leave = deps.loop?.leads({ caches: shared.informers, client: deps.clients.processClientFor('loop') });
  const informing = new AbortController();
  shared.informers.start(informing.signal);
  logger.info({ controllers: supervisors.map(({ name }) => name) }, 'started controllers');
  const working = Promise.all([
    ...supervisors.map((supervisor) => startLater(supervisor, deps, signal)),
    reportSync(shared, deps, signal),
    untilAborted(signal),
  ]);
  const watch = watchForStuck(supervisors, deps, signal);
  try {
    await working;
  } finally {
    watch.release();
    leave?.();
    await shared.informers.shutdown();
    logger.info({ upFor: formatDuration(Math.round(clock.monotonic())) }, 'all controllers have ended');
  }
}

function createSupervisor(definition: ControllerDefinition, shared: SharedContext, deps: LeadDeps): Supervisor {
  const { clock, logger, random, controllerMetrics } = deps;
  const { name } = definition;
  try {
    const build = (): ControllerLife => {
      const { context, discard } = shared.createContext(name);
      try {
        return { controller: definition.create(context), discard };
      } catch (error) {
        discard();
        throw error;
      }
    };
    const onRunning = (running: boolean): void => controllerMetrics.setRunning(name, running);
    return new Supervisor({ name, first: build(), rebuild: build, clock, logger, random, onRunning });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new ManagerError('ControllerNotCreated', `${name} cannot be started: ${why}`, { cause: error });
  }
}

async function startLater(supervisor: Supervisor, { clock, startIntervalMs, random }: LeadDeps, signal: AbortSignal) {
  if (startIntervalMs > 0) await clock.sleep(startIntervalMs * (1 + random()), signal).catch(() => undefined); // rejects only on abort
  await supervisor.run(signal);
}

async function reportSync({ informers }: SharedContext, { clock, logger, onLeading }: LeadDeps, signal: AbortSignal) {
  try {
    await informers.waitForCacheSync(signal);
    logger.info({ sinceStart: formatDuration(Math.round(clock.monotonic())) }, 'leading, and all caches are synced');
    onLeading?.();
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

function describeUnsynced({ informers }: SharedContext): string | undefined {
  const { unsynced } = informers;
  return unsynced.length === 0 ? undefined : `not listed yet: ${unsynced.join(', ')}`;
}

/** Keeps a leader without controllers leading. */
function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** Reports the controllers that are still active after the shutdown timeout. */
function watchForStuck(supervisors: readonly Supervisor[], deps: LeadDeps, signal: AbortSignal) {
  const { clock, shutdownTimeoutMs: limitMs, onStuck } = deps;
  let cancel = (): void => {};
  const onAbort = (): void => {
    if (limitMs <= 0) return;
    cancel = startTimer(clock, limitMs + afterGraceMs, () =>
      onStuck(supervisors.filter(({ active }) => active).map(({ name }) => name)),
    );
  };
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
  return {
    release(): void {
      signal.removeEventListener('abort', onAbort);
      cancel();
    },
  };
}

function startTimer(clock: Clock, ms: number, callback: () => void): () => void {
  const timer = clock.setTimer(ms, callback);
  return () => timer.cancel();
}
