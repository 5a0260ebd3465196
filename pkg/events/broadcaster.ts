import { randomUUID } from 'node:crypto';

import { keyOf } from '../api/index.ts';
import { systemRandom } from '../time/index.ts';
import { composeEvent, eventName } from './event-object.ts';
import { EventSender, type EventSenderOptions } from './event-sender.ts';
import type { EventRecorder } from './recorder.ts';

export interface EventBroadcasterOptions extends EventSenderOptions {
  /** Components whose events are logged at verbosity 0. The events of the others are logged at verbosity 3. */
  readonly alwaysLogged?: ReadonlySet<string> | undefined;
}

/**
 * Sends the events of all recorders. Each component has its own buffer and its own sender, so neither a hung write nor a
 * component with too many events delays the others.
 */
export class EventBroadcaster {
  readonly #options: EventBroadcasterOptions;
  readonly #senders = new Map<string, EventSender>();
  #state: 'new' | 'running' | 'ended' = 'new';
  /** Whether it was said that events are not sent in this state. */
  #warned = false;
  /** Starts a sender that is added while `run` lasts. */
  #start: ((sender: EventSender) => void) | undefined;
  #lastNanos = 0n;

  constructor(options: EventBroadcasterOptions) {
    this.#options = options;
  }

  /** Records events as `component`. Recorders of the same component share a sender. */
  recorderFor(component: string): EventRecorder {
    const { clock, alwaysLogged } = this.#options;
    const logger = this.#options.logger.child({ component });
    const level = alwaysLogged?.has(component) === true ? 'info' : 'verbose';
    const sender = this.#senderFor(component);
    return {
      event: (kind, about, event) => {
        const name = eventName(about.metadata.name, this.#nextNanos()) ?? randomUUID();
        const draft = composeEvent(kind, about, event, { component, name, nowMs: clock.now() });
        logger[level](
          { object: keyOf(about), objectKind: kind.kind, type: event.type, reason: event.reason, note: event.message },
          'event occurred',
        );
        sender.enqueue(draft);
        this.#warnUnlessRunning();
      },
    };
  }

  /** Sends until the signal aborts, then the rest within `drainMs`. No request is in flight when it resolves. */
  async run(signal: AbortSignal): Promise<void> {
    const running: Promise<void>[] = [];
    const aborted = Promise.withResolvers<void>();
    this.#state = 'running';
    this.#start = (sender) => running.push(sender.run(signal));
    for (const sender of this.#senders.values()) this.#start(sender);
    if (signal.aborted) aborted.resolve();
    else signal.addEventListener('abort', () => aborted.resolve(), { once: true });
    await aborted.promise;
    this.#start = undefined;
    await Promise.all(running);
    this.#state = 'ended';
    this.#warned = false;
  }

  /** Without this warning, nothing would show that events are never sent. */
  #warnUnlessRunning(): void {
    if (this.#state === 'running' || this.#warned) return;
    this.#warned = true;
    const { logger } = this.#options;
    if (this.#state === 'new') logger.warn({}, 'the event broadcaster does not run yet: events wait until it does');
    else logger.error({}, 'the event broadcaster has ended: events are lost');
  }

  #senderFor(component: string): EventSender {
    const existing = this.#senders.get(component);
    if (existing !== undefined) return existing;
    const sender = new EventSender({ ...this.#options, logger: this.#options.logger.child({ component }) });
    this.#senders.set(component, sender);
    this.#start?.(sender);
    return sender;
  }

  /** Returns a greater number each time: many events about one object may be recorded within one millisecond. */
  #nextNanos(): bigint {
    const { clock, random = systemRandom } = this.#options;
    const nanos = BigInt(Math.floor(clock.now())) * 1_000_000n + BigInt(Math.floor(random() * 1e6));
    this.#lastNanos = nanos > this.#lastNanos ? nanos : this.#lastNanos + 1n;
    return this.#lastNanos;
  }
}
