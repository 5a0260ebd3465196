import type { Controller } from '../../pkg/controller/index.ts';
import type { Logger } from '../../pkg/log/index.ts';
import { backoffDelay, formatDuration, type Clock } from '../../pkg/time/index.ts';

/** One life of a controller. `discard` frees what building it has left in shared places. */
export interface ControllerLife {
  readonly controller: Controller;
  discard(): void;
}

export interface SupervisorOptions {
  readonly name: string;
  /** Built before anything runs, so that a controller that cannot be built stops the start. */
  readonly first: ControllerLife;
  /** Builds the next one after a crash. */
  readonly rebuild: () => ControllerLife;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly random: () => number;
  readonly onRunning: (running: boolean) => void;
}

/** A second, then twice as long each time: quick after a single accident, easy on the server when it keeps failing. */
const restartBackoff = { baseMs: 1000, maxMs: 60_000, jitter: 0.2 };
/** Who has run for this long is counted as recovered, and its next crash as its first. */
const recoveredAfterMs = 120_000;

/**
 * Keeps one controller running until the signal aborts. A crash is logged, shown by `problem` until the controller runs
 * again, and followed by a new life after a back-off; it concerns no other controller.
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

  /** Why the controller is not running although it should. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** Whether something of the controller may still be running. */
  get active(): boolean {
    return this.#active;
  }

  /** What the controller shows of itself; undefined while it does not run. */
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
    await clock.sleep(delayMs, signal).catch(() => undefined); // rejects only because of the signal: the loop sees it
  }
}
