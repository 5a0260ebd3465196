import { CoreEvents, keyOf, metadataOf } from '../api/index.ts';
import { ApiError, isAlreadyExists, isNamespaceTerminating, isNotFound, type Client } from '../client/index.ts';
import type { Logger } from '../log/index.ts';
import { systemRandom, withTimeLimit, type Clock, type Random, AbortedError } from '../time/index.ts';
import { correlate, createCorrelatorState, type Correlation, type CorrelatorState } from './correlator.ts';
import type { EventDraft } from './event-object.ts';

export interface EventSenderOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Events that may wait to be sent, per component. Further events are dropped. Default 1000. */
  readonly bufferSize?: number | undefined;
  /** How long `run` may send remaining events after its signal aborted. Default 5 s. */
  readonly drainMs?: number | undefined;
  readonly random?: Random | undefined;
}

type Write = Exclude<Correlation, { readonly kind: 'skip' }>;

const maxTries = 12;
const retryDelayMs = 10_000;
/** The time limit of one request. */
const requestLimitMs = 30_000;
/** The answers are not read, so ask for metadata only. */
const Events = metadataOf(CoreEvents);

/** Sends the events of one component, one at a time and in order. Events recorded before `run` wait for it. */
export class EventSender {
  readonly #options: EventSenderOptions;
  /** Created for the first event: most components record none, and a state takes 2 ms and 90 kB. */
  #state: CorrelatorState | undefined;
  readonly #buffer: Write[] = [];
  #wake = Promise.withResolvers<void>();
  #dropped = 0;

  constructor(options: EventSenderOptions) {
    this.#options = options;
  }

  /** Returns at once. Drops the event when the buffer is full. */
  enqueue(draft: EventDraft): void {
    // Correlate before buffering: events that would be skipped anyway must not fill the buffer during an outage.
    this.#state ??= createCorrelatorState();
    const correlation = correlate(this.#state, draft, this.#options.clock.monotonic());
    if (correlation.kind === 'skip') return;
    const { bufferSize = 1000, logger } = this.#options;
    if (this.#buffer.length < bufferSize) {
      this.#buffer.push(correlation);
      this.#wake.resolve();
      return;
    }
    if (this.#dropped === 0) logger.warn({ bufferSize }, 'too many events wait to be sent: dropping new ones');
    this.#dropped += 1;
  }

  /** Sends until the signal aborts, then the rest within `drainMs`. No request is in flight when it resolves. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, drainMs = 5000 } = this.#options;
    const cutOff = new AbortController();
    let drainTimer: { cancel(): void } | undefined;
    const startDraining = (): void => {
      drainTimer = clock.setTimer(drainMs, () => cutOff.abort(new AbortedError('no time left to send events')));
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

  /** Retries while the server cannot be reached. A refusal is final. */
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
          logger.error({ ...about, tries, err: error }, 'cannot write an event: giving up');
          return;
        }
        logger.warn({ ...about, tries, err: error }, 'cannot write an event: will retry');
      }
      // The first delay is random, so that not all processes write at once when the server is back. An abort ends the
      // wait, and one last try follows.
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
        if (!isNotFound(error)) throw error; // the event has expired: create it again, with its count
      }
    }
    await withTimeLimit(limit, (limited) => client.create(Events, write.event, limited), signal);
  }

  #reportDropped(): void {
    if (this.#dropped > 0) this.#options.logger.warn({ dropped: this.#dropped }, 'events were dropped');
    this.#dropped = 0;
  }
}

/** The event exists already, or its namespace is terminating or gone. */
function isHarmless(refusal: ApiError): boolean {
  return isAlreadyExists(refusal) || isNamespaceTerminating(refusal) || isNotFound(refusal);
}
