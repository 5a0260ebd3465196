import { randomUUID } from 'node:crypto';

import { CoreEvents, keyOf, metadataOf } from '../api/index.ts';
import { ApiError, isAlreadyExists, isNamespaceTerminating, isNotFound, type Client } from '../client/index.ts';
import type { Logger } from '../log/index.ts';
import { systemRandom, withTimeLimit, type Clock, type Random } from '../time/index.ts';
import { correlate, createCorrelatorState, type Correlation } from './correlator.ts';
import { composeEvent, eventName } from './event-object.ts';
import type { EventRecorder } from './recorder.ts';

export interface EventBroadcasterOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Events that may wait to be sent; more are dropped. Default 1000. */
  readonly bufferSize?: number | undefined;
  /** How long sending may go on after the signal of `run` aborted. Default 5 s. */
  readonly drainMs?: number | undefined;
  readonly random?: Random | undefined;
}

type Write = Exclude<Correlation, { readonly kind: 'skip' }>;

const maxTries = 12;
const retryDelayMs = 10_000;
/** A server that hangs must not hold up all later events for good. */
const requestLimitMs = 30_000;
/** Nobody reads the answers, so let them be small. */
const Events = metadataOf(CoreEvents);

/**
 * Takes events from any number of recorders and sends them, one at a time and in order. What was recorded before `run`
 * waits for it.
 */
export class EventBroadcaster {
  readonly #options: EventBroadcasterOptions;
  readonly #state = createCorrelatorState();
  readonly #buffer: Write[] = [];
  #wake = Promise.withResolvers<void>();
  #dropped = 0;
  #lastNanos = 0n;

  constructor(options: EventBroadcasterOptions) {
    this.#options = options;
  }

  /** Records events as `component`. */
  recorderFor(component: string): EventRecorder {
    const { clock, logger } = this.#options;
    return {
      event: (kind, about, event) => {
        const name = eventName(about.metadata.name, this.#nextNanos()) ?? randomUUID();
        const draft = composeEvent(kind, about, event, { component, name, nowMs: clock.now() });
        logger.info(
          { object: keyOf(about), objectKind: kind.kind, type: event.type, reason: event.reason, note: event.message },
          'event occurred',
        );
        // Before the buffer, so that what would be skipped anyway cannot crowd out the rest while the server is away.
        const correlation = correlate(this.#state, draft, clock.monotonic());
        if (correlation.kind !== 'skip') this.#enqueue(correlation);
      },
    };
  }

  /** Sends until the signal aborts, then what is left, for a bounded time; resolves when nothing is under way. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, drainMs = 5000 } = this.#options;
    const cutOff = new AbortController();
    let drainTimer: { cancel(): void } | undefined;
    const startDraining = (): void => {
      drainTimer = clock.setTimer(drainMs, () => cutOff.abort(new Error('events: no time left to send')));
      this.#wake.resolve();
    };
    if (signal.aborted) startDraining();
    else signal.addEventListener('abort', startDraining, { once: true });
    try {
      await this.#sendAll(signal, cutOff.signal);
    } finally {
      drainTimer?.cancel();
      signal.removeEventListener('abort', startDraining);
    }
  }

  async #sendAll(stopping: AbortSignal, cutOff: AbortSignal): Promise<void> {
    while (!cutOff.aborted) {
      const next = this.#buffer.shift();
      if (next !== undefined) {
        await this.#send(next, stopping, cutOff);
        continue;
      }
      this.#reportDropped();
      if (stopping.aborted) return;
      this.#wake = Promise.withResolvers<void>();
      await this.#wake.promise;
    }
    this.#dropped += this.#buffer.length;
    this.#buffer.length = 0;
    this.#reportDropped();
  }

  /** Retries what may not have reached the server; takes a refusal for final. */
  async #send(write: Write, stopping: AbortSignal, cutOff: AbortSignal): Promise<void> {
    const { clock, logger, random = systemRandom } = this.#options;
    const about = { event: keyOf(write.event), reason: write.event.reason };
    for (let tries = 1; ; tries += 1) {
      try {
        await this.#write(write, cutOff);
        return;
      } catch (error) {
        if (error instanceof ApiError) {
          logger[isHarmless(error) ? 'debug' : 'error']({ ...about, err: error }, 'server refused an event');
          return;
        }
        if (stopping.aborted || tries === maxTries) {
          logger.error({ ...about, tries, err: error }, 'giving up on an event that cannot be written');
          return;
        }
        logger.warn({ ...about, tries, err: error }, 'cannot write an event, will try again');
      }
      // At random at first: when the server comes back, not everybody's events shall arrive together. A stop cuts the
      // wait short, for one last try.
      await clock.sleep(tries === 1 ? retryDelayMs * random() : retryDelayMs, stopping).catch(() => undefined);
    }
  }

  async #write(write: Write, signal: AbortSignal): Promise<void> {
    const { client, clock } = this.#options;
    const limit = { clock, limitMs: requestLimitMs };
    if (write.kind === 'patch') {
      const patch = { type: 'strategic', body: write.patch } as const;
      try {
        await withTimeLimit(limit, (limited) => client.patch(Events, keyOf(write.event), patch, limited), signal);
        return;
      } catch (error) {
        if (!isNotFound(error)) throw error; // events expire: then it is written anew, with its count
      }
    }
    await withTimeLimit(limit, (limited) => client.create(Events, write.event, limited), signal);
  }

  #enqueue(write: Write): void {
    const { bufferSize = 1000, logger } = this.#options;
    if (this.#buffer.length < bufferSize) {
      this.#buffer.push(write);
      this.#wake.resolve();
      return;
    }
    if (this.#dropped === 0) logger.warn({ bufferSize }, 'too many events wait to be sent, dropping new ones');
    this.#dropped += 1;
  }

  #reportDropped(): void {
    if (this.#dropped > 0) this.#options.logger.warn({ dropped: this.#dropped }, 'events were dropped');
    this.#dropped = 0;
  }

  /** Never twice the same: clocks give milliseconds, in which a controller can record many events about one object. */
  #nextNanos(): bigint {
    const { clock, random = systemRandom } = this.#options;
    const nanos = BigInt(Math.floor(clock.now())) * 1_000_000n + BigInt(Math.floor(random() * 1e6));
    this.#lastNanos = nanos > this.#lastNanos ? nanos : this.#lastNanos + 1n;
    return this.#lastNanos;
  }
}

/** The event is there already, or its namespace is going or gone: nothing is wrong, and nobody will miss it. */
function isHarmless(refusal: ApiError): boolean {
  return isAlreadyExists(refusal) || isNamespaceTerminating(refusal) || isNotFound(refusal);
}
