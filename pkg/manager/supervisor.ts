import type { Controller } from '../controller/index.ts';
import type { Logger } from '../log/index.ts';
import { backoffDelay, formatDuration, type Clock } from '../time/index.ts';

/** One run of a controller. `discard` removes what its creation added to shared informers. */
export interface ControllerLife {
  readonly controller: Controller;
  discard(): void;
}

export interface SupervisorOptions {
  readonly name: string;
  /** Created before anything runs, so that a controller that cannot be created stops the start. */
  readonly first: ControllerLife;
  /** Creates the controller again after a crash. */
  readonly rebuild: () => ControllerLife;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly random: () => number;
  readonly onRunning: (running: boolean) => void;
}

/** Doubles with each crash: quick after a single crash, easy on the server if the controller keeps crashing. */
const restartBackoff = { baseMs: 1000, maxMs: 60_000, jitter: 0.2 };
/** A controller that has run for this long has recovered: its next crash counts as the first. */
const recoveredAfterMs = 120_000;

/**
 * Keeps one controller running until the signal aborts. A crash is logged, and reported by `problem` until the
 * controller runs again. The controller is created again after a back-off. Other controllers are not affected.
 */
export class Supervisor {
  readonly name: string;
  readonly #options: SupervisorOptions;
  #problem: string | undefined;
  #active = false;
  #running: Controller | undefined;

  constructor(options: SupervisorOptions) {
    this.name = options.name;
    this.#options = options;
  }

  /** Why the controller is not running, if it should be. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** Whether any part of the controller may still be running. */
  get active(): boolean {
    return this.#active;
  }

  /** The debug pages of the controller; undefined while it does not run. */
  get debugPages(): Controller['debugPages'] {
    return this.#running?.debugPages;
  }

  async run(signal: AbortSignal): Promise<void> {
    this.#active = true;
    try {
      await this.#runLives(signal);
    } finally {
      this.#active = false;
    }
  }

  async #runLives(signal: AbortSignal): Promise<void> {
    const { clock, first, rebuild } = this.#options;
    let crashes = 0;
    let next = (): ControllerLife => first;
    while (!signal.aborted) {
      const startedMs = clock.monotonic();
      const ended = await this.#runLife(next, signal);
      if (ended === 'finished') return;
      crashes = clock.monotonic() - startedMs >= recoveredAfterMs ? 1 : crashes + 1;
      await this.#pause(crashes, signal);
      next = rebuild;
    }
  }

  async #runLife(build: () => ControllerLife, signal: AbortSignal): Promise<'finished' | 'crashed'> {
    const { logger, name, onRunning } = this.#options;
    let life: ControllerLife | undefined;
    try {
      life = build();
      this.#problem = undefined;
      this.#running = life.controller;
      onRunning(true);
      await life.controller.run(signal);
      if (!signal.aborted) logger.info({ controller: name }, 'controller has nothing to do');
      return 'finished';
    } catch (error) {
      if (signal.aborted) return 'finished';
      this.#problem = `crashed: ${error instanceof Error ? error.message : String(error)}`;
      logger.error({ controller: name, err: error }, 'controller crashed');
      return 'crashed';
    } finally {
      this.#running = undefined;
      onRunning(false);
      life?.discard();
    }
  }

  async #pause(crashes: number, signal: AbortSignal): Promise<void> {
    const { clock, logger, name, random } = this.#options;
    const delayMs = backoffDelay(restartBackoff, crashes - 1, random());
    logger.info({ controller: name, after: formatDuration(Math.round(delayMs)) }, 'restarting controller');
    await clock.sleep(delayMs, signal).catch(() => undefined); // rejects only on abort, which the loop checks
  }
}
