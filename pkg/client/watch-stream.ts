import type { Readable } from 'node:stream';

import type { KubeObject } from '../api/index.ts';
import type { Clock, Timer } from '../time/index.ts';
import type { WatchEvent } from './client.ts';
import { ApiError, ConnectionError } from './errors.ts';
import { cutManagedFields } from './managed-fields.ts';
import { abortReason } from './transport.ts';

const newline = 0x0a;

export interface WatchStreamOptions {
  readonly attempted: string;
  readonly clock: Clock;
  readonly idleTimeoutMs?: number | undefined;
  readonly keepManagedFields?: boolean | undefined;
}

/**
 * The events in a stream of JSON lines, those of one chunk together: under load a chunk holds many, and one promise
 * for all of them is what keeps thousands of events a second cheap. Nothing more is read while the consumer is busy.
 *
 * Ends when the server ends the stream; throws `ConnectionError` when the connection is lost or silent for too long,
 * `ApiError` for an ERROR event (after the events before it).
 */
export async function* readWatchEvents<T extends KubeObject>(
  stream: Readable,
  options: WatchStreamOptions,
  signal: AbortSignal,
): AsyncGenerator<readonly WatchEvent<T>[], void, undefined> {
  const idle = watchForSilence(stream, options);
  const lines = new LineSplitter();
  try {
    for await (const chunk of stream) {
      if (!Buffer.isBuffer(chunk)) continue;
      idle.pause(); // the time that the consumer takes is not the server's silence
      yield* parse<T>(lines.push(chunk), options);
      idle.resume();
    }
    yield* parse<T>(lines.rest(), options);
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

function* parse<T extends KubeObject>(
  lines: readonly Buffer[],
  options: WatchStreamOptions,
): Generator<readonly WatchEvent<T>[], void, undefined> {
  if (lines.length === 0) return;
  const events: WatchEvent<T>[] = [];
  for (const line of lines) {
    const event = parseEvent<T>(line, options);
    if (event instanceof ApiError) {
      if (events.length > 0) yield events;
      throw event;
    }
    events.push(event);
  }
  yield events;
}

interface WireEvent {
  readonly type: string;
  readonly object: KubeObject;
}

function parseEvent<T extends KubeObject>(line: Buffer, options: WatchStreamOptions): WatchEvent<T> | ApiError {
  const json = options.keepManagedFields === true ? line : cutManagedFields(line);
  const { type, object } = JSON.parse(json.toString('utf8')) as WireEvent;
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
      return new ApiError(options.attempted, object);
    default:
      throw new Error(`unknown event ${JSON.stringify(type)}`);
  }
}

/** Cuts a stream of bytes into lines. Works on bytes, so that a character split between two chunks stays whole. */
class LineSplitter {
  /** Parts of a line whose end has not come yet: joined once, however many chunks a large object arrives in. */
  #partial: Buffer[] = [];

  push(chunk: Buffer): Buffer[] {
    const lines: Buffer[] = [];
    let start = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
      const line = this.#complete(chunk.subarray(start, end));
      if (line.length > 0) lines.push(line);
      start = end + 1;
    }
    if (start < chunk.length) this.#partial.push(start === 0 ? chunk : chunk.subarray(start));
    return lines;
  }

  /** What is left when the stream has ended. */
  rest(): Buffer[] {
    const line = this.#complete(Buffer.alloc(0));
    return line.length > 0 ? [line] : [];
  }

  #complete(end: Buffer): Buffer {
    if (this.#partial.length === 0) return end;
    const line = Buffer.concat([...this.#partial, end]);
    this.#partial = [];
    return line;
  }
}

/** Destroys a stream on which nothing has come for too long. One timer, set again only when it fires. */
function watchForSilence(
  stream: Readable,
  { attempted, clock, idleTimeoutMs }: WatchStreamOptions,
): { pause(): void; resume(): void; stop(): void } {
  if (idleTimeoutMs === undefined) return { pause: nothing, resume: nothing, stop: nothing };
  let listeningSinceMs: number | undefined = clock.monotonic();
  let timer: Timer;
  const check = (): void => {
    const silentMs = listeningSinceMs === undefined ? 0 : clock.monotonic() - listeningSinceMs;
    if (silentMs < idleTimeoutMs) {
      timer = clock.setTimer(idleTimeoutMs - silentMs, check);
      return;
    }
    const message = `${attempted}: nothing has come for ${Math.round(silentMs)} ms`;
    stream.destroy(new ConnectionError(message, { mayHaveBeenSent: true }));
  };
  timer = clock.setTimer(idleTimeoutMs, check);
  return {
    pause: () => (listeningSinceMs = undefined),
    resume: () => (listeningSinceMs = clock.monotonic()),
    stop: () => timer.cancel(),
  };
}

function nothing(): void {}
