import type { Controller, ControllerDescriptor } from '../../pkg/controller/index.ts';
import type { ControllerMetrics } from '../../pkg/metrics/index.ts';
import type { HealthChecks } from '../../pkg/server/index.ts';
import { formatDuration, type Clock } from '../../pkg/time/index.ts';
import { createSharedContext, type ContextDeps, type SharedContext } from './context.ts';
import { exitCodes, StartupError } from './exit-codes.ts';
import { Supervisor, type ControllerLife } from './supervisor.ts';

export interface LeadDeps extends ContextDeps {
  readonly health: HealthChecks;
  readonly controllerMetrics: ControllerMetrics;
  /** The debug pages of each controller, by its name. */
  readonly debugPages: Map<string, () => Controller['debugPages']>;
  /** Called if controllers did not end in time. They may still write, so the lease must not be released. */
  readonly onStuck: (names: readonly string[]) => void;
}

/** Aborted requests end at once. Controllers have this long to end after them before they count as stuck. */
const afterGraceMs = 2000;

/**
 * Creates every controller, starts the informers, runs the controllers until the signal aborts, stops the informers.
 * Throws a `StartupError` if a controller cannot be created. When it resolves, nothing is left running.
 */
export async function lead(deps: LeadDeps, signal: AbortSignal): Promise<void> {
  const { health, logger, options, clock } = deps;
  const shared = createSharedContext(deps);
  const supervisors = options.controllers.enabled.map((descriptor) => createSupervisor(descriptor, shared, deps));
  for (const each of supervisors) deps.debugPages.set(each.name, () => each.debugPages);
  health.add(...supervisors.map((each) => ({ name: each.name, check: () => each.problem })));
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
    await shared.informers.shutdown();
    logger.info({ upFor: formatDuration(Math.round(clock.monotonic())) }, 'all controllers have ended');
  }
}

function createSupervisor(descriptor: ControllerDescriptor, shared: SharedContext, deps: LeadDeps): Supervisor {
  const { clock, logger, random, options, controllerMetrics } = deps;
  const { name } = descriptor;
  try {
    const create = descriptor.bind(options.given);
    const build = (): ControllerLife => {
      const { context, discard } = shared.createContext(name);
      try {
        return { controller: create(context), discard };
      } catch (error) {
        discard();
        throw error;
      }
    };
    const onRunning = (running: boolean): void => controllerMetrics.setRunning(name, running);
    return new Supervisor({ name, first: build(), rebuild: build, clock, logger, random, onRunning });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new StartupError(exitCodes.environment, `${name} cannot be started: ${why}`, { cause: error });
  }
}

async function startLater(supervisor: Supervisor, { clock, options, random }: LeadDeps, signal: AbortSignal) {
  const intervalMs = options.flags['controller-start-interval'];
  if (intervalMs > 0) await clock.sleep(intervalMs * (1 + random()), signal).catch(() => undefined); // rejects only on abort
  await supervisor.run(signal);
}

async function reportSync({ informers }: SharedContext, { clock, logger }: LeadDeps, signal: AbortSignal) {
  try {
    await informers.waitForCacheSync(signal);
    logger.info({ sinceStart: formatDuration(Math.round(clock.monotonic())) }, 'leading, and all caches are synced');
  } catch (error) {
    if (!signal.aborted) throw error;
  }
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
  const { clock, options, onStuck } = deps;
  const limitMs = options.flags['controller-shutdown-timeout'];
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
