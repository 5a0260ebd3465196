import type { Readable } from 'node:stream';

import type { KubeObject } from '../api/index.ts';
import { abortReason, type Clock, type Timer } from '../time/index.ts';
import type { WatchEvent } from './client.ts';
import { AnswerError, ApiError, ConnectionError } from './errors.ts';
import type { WatchFormat } from './watch-format.ts';

export interface WatchStreamOptions {
  readonly attempted: string;
  readonly clock: Clock;
  readonly idleTimeoutMs?: number | undefined;
  readonly format: WatchFormat;
}

/**
 * Reads events from a stream and yields the events of each chunk in one array. While the consumer is busy,
 * the stream is not read.
 *
 * The gain of arrays: under load a chunk holds many events, and passing an event on its own through an async generator
 * takes 0.6 µs more.
 *
 * Ends when the server ends the stream. Throws `ConnectionError` when the connection is lost or idle for too long, and
 * `ApiError` for an ERROR event, after the events before it.
 */
export async function* readWatchEvents<T extends KubeObject>(
  stream: Readable,
  options: WatchStreamOptions,
  signal: AbortSignal,
): AsyncGenerator<readonly WatchEvent<T>[], void, undefined> {
  const idle = watchIdle(stream, options);
  const { format } = options;
  try {
    for await (const chunk of stream) {
      if (!Buffer.isBuffer(chunk)) continue;
      idle.pause(); // the time of the consumer does not count as idle
      yield* readAll<T>(format.split(chunk), options);
      idle.resume();
    }
    yield* readAll<T>(format.rest(), options);
  } catch (error) {
    if (signal.aborted) throw abortReason(signal);
    if (error instanceof ApiError || error instanceof ConnectionError) throw error;
    const message = `${options.attempted}: ${error instanceof Error ? error.message : 'lost'}`;
    throw new ConnectionError(message, { mayHaveBeenSent: true, cause: error });
  } finally {
    idle.stop();
    stream.destroy();
  }
}

function* readAll<T extends KubeObject>(
  received: readonly Buffer[],
  options: WatchStreamOptions,
): Generator<readonly WatchEvent<T>[], void, undefined> {
  if (received.length === 0) return;
  const events: WatchEvent<T>[] = [];
  for (const bytes of received) {
    const event = readEvent<T>(bytes, options);
    if (event instanceof ApiError) {
      if (events.length > 0) yield events;
      throw event;
    }
    events.push(event);
  }
  yield events;
}

function readEvent<T extends KubeObject>(
  bytes: Buffer,
  { attempted, format }: WatchStreamOptions,
): WatchEvent<T> | ApiError {
  const { type, object } = format.decode(bytes);
  switch (type) {
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED':
      return { type, object: object as T };
    case 'BOOKMARK': {
      const { resourceVersion, annotations } = object.metadata;
      return { type, resourceVersion, initialEventsEnd: annotations?.['k8s.io/initial-events-end'] === 'true' };
    }
    case 'ERROR':
      return new ApiError(attempted, object);
    default:
      throw new AnswerError(`unknown event ${JSON.stringify(type)}`);
  }
}

/** Destroys a stream that is idle for too long. Uses one timer, which is set again only when it fires. */
function watchIdle(
  stream: Readable,
  { attempted, clock, idleTimeoutMs }: WatchStreamOptions,
): { pause(): void; resume(): void; stop(): void } {
  if (idleTimeoutMs === undefined) return { pause: nothing, resume: nothing, stop: nothing };
  let idleSinceMs: number | undefined = clock.monotonic();
  let timer: Timer;
  const check = (): void => {
    const idleMs = idleSinceMs === undefined ? 0 : clock.monotonic() - idleSinceMs;
    if (idleMs < idleTimeoutMs) {
      timer = clock.setTimer(idleTimeoutMs - idleMs, check);
      return;
    }
    const message = `${attempted}: no data for ${Math.round(idleMs)} ms`;
    stream.destroy(new ConnectionError(message, { mayHaveBeenSent: true, code: 'ETIMEDOUT' }));
  };
  timer = clock.setTimer(idleTimeoutMs, check);
  return {
    pause: () => (idleSinceMs = undefined),
    resume: () => (idleSinceMs = clock.monotonic()),
    stop: () => timer.cancel(),
  };
}

function nothing(): void {}
