import type { Readable } from 'node:stream';

import { parseJson, type KubeObject } from '../api/index.ts';
import { abortReason, type Clock, type Timer } from '../time/index.ts';
import type { WatchEvent } from './client.ts';
import { AnswerError, ApiError, ConnectionError } from './errors.ts';
import { cutManagedFields } from './managed-fields.ts';

const newline = 0x0a;
const nothingHeld = Buffer.alloc(0);
/** Don't keep the buffer of an unusually large object: it would stay that large. */
const maxSpareBytes = 256 * 1024;

export interface WatchStreamOptions {
  readonly attempted: string;
  readonly clock: Clock;
  readonly idleTimeoutMs?: number | undefined;
  readonly keepManagedFields?: boolean | undefined;
}

/**
 * Reads events from a stream of JSON lines and yields the events of each chunk in one array. While the consumer is busy,
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
  const lines = new LineSplitter();
  try {
    for await (const chunk of stream) {
      if (!Buffer.isBuffer(chunk)) continue;
      idle.pause(); // the time of the consumer does not count as idle
      yield* readAll<T>(lines.push(chunk), options);
      idle.resume();
    }
    yield* readAll<T>(lines.rest(), options);
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
  lines: readonly Buffer[],
  options: WatchStreamOptions,
): Generator<readonly WatchEvent<T>[], void, undefined> {
  if (lines.length === 0) return;
  const events: WatchEvent<T>[] = [];
  for (const line of lines) {
    const event = readEvent<T>(line, options);
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

function readEvent<T extends KubeObject>(line: Buffer, options: WatchStreamOptions): WatchEvent<T> | ApiError {
  const json = options.keepManagedFields === true ? line : cutManagedFields(line);
  const { type, object } = parseJson(json) as WireEvent;
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
      throw new AnswerError(`unknown event ${JSON.stringify(type)}`);
  }
}

/**
 * Splits a stream of bytes into lines. Works on bytes, so that a character split between two chunks stays whole. The next
 * call may overwrite the returned lines.
 *
 * The gain of the kept buffers: 2 µs for a line of 11 kB that arrives in chunks of 16 kB, where `Buffer.concat` takes 5 µs.
 */
class LineSplitter {
  /** The start of a line whose end has not arrived yet. */
  #held = nothingHeld;
  #length = 0;
  /** A second buffer, for the next line while the caller reads the line in the first. */
  #spare = nothingHeld;

  push(chunk: Buffer): Buffer[] {
    const lines: Buffer[] = [];
    let start = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
      const line = this.#complete(chunk.subarray(start, end));
      if (line.length > 0) lines.push(line);
      start = end + 1;
    }
    if (start < chunk.length) this.#hold(chunk.subarray(start));
    return lines;
  }

  /** The last line, if the stream did not end with a newline. */
  rest(): Buffer[] {
    const line = this.#complete(Buffer.alloc(0));
    return line.length > 0 ? [line] : [];
  }

  #complete(end: Buffer): Buffer {
    if (this.#length === 0) return end;
    this.#hold(end);
    const line = this.#held.subarray(0, this.#length);
    const used = this.#held.length > maxSpareBytes ? nothingHeld : this.#held;
    [this.#held, this.#spare] = [this.#spare, used];
    this.#length = 0;
    return line;
  }

  #hold(part: Buffer): void {
    const needed = this.#length + part.length;
    if (needed > this.#held.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.#held.length));
      this.#held.copy(larger, 0, 0, this.#length);
      this.#held = larger;
    }
    part.copy(this.#held, this.#length);
    this.#length = needed;
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
