import { Readable } from 'node:stream';

import { describe, expect, test } from 'vitest';

import { FakeClock, settle } from '../../test/support/fake-clock.ts';
import type { Pod } from '../api/index.ts';
import type { WatchEvent } from './client.ts';
import { ApiError, ConnectionError, isExpired } from './errors.ts';
import { watchFormatOf, type WatchFormat } from './watch-format.ts';
import { readWatchEvents } from './watch-stream.ts';

const never = new AbortController().signal;

const jsonFormat = (): WatchFormat => watchFormatOf('application/json', {});

function line(type: string, object: unknown): string {
  return `${JSON.stringify({ type, object })}\n`;
}

function pod(name: string): object {
  return { metadata: { name, annotations: { note: 'grüße 🎈' }, managedFields: [{ manager: 'x' }] } };
}

async function read(stream: Readable, clock = new FakeClock(), idleTimeoutMs?: number): Promise<WatchEvent<Pod>[][]> {
  const batches: WatchEvent<Pod>[][] = [];
  const options = { attempted: 'watch pods', clock, idleTimeoutMs, format: jsonFormat() };
  for await (const events of readWatchEvents<Pod>(stream, options, never)) batches.push([...events]);
  return batches;
}

function streamOf(...chunks: readonly (string | Buffer)[]): Readable {
  return Readable.from(
    chunks.map((chunk) => Buffer.from(chunk)),
    { objectMode: false },
  );
}

function names(batches: WatchEvent<Pod>[][]): string[] {
  return batches.flat().map((event) => (event.type === 'BOOKMARK' ? 'bookmark' : event.object.metadata.name));
}

describe('readWatchEvents', () => {
  test('yields the events of one chunk together', async () => {
    const batches = await read(
      streamOf(line('ADDED', pod('a')) + line('MODIFIED', pod('b')), line('DELETED', pod('c'))),
    );
    expect(batches.map((batch) => batch.map(({ type }) => type))).toEqual([['ADDED', 'MODIFIED'], ['DELETED']]);
  });

  test('joins lines and characters wherever the stream is split into chunks', async () => {
    const bytes = Buffer.from(line('ADDED', pod('a')) + line('ADDED', pod('b')));
    for (let at = 1; at < bytes.length; at++) {
      const batches = await read(streamOf(Buffer.from(bytes.subarray(0, at)), Buffer.from(bytes.subarray(at))));
      expect(names(batches)).toEqual(['a', 'b']);
      const [first] = batches.flat();
      expect(first).toEqual({ type: 'ADDED', object: { metadata: { name: 'a', annotations: { note: 'grüße 🎈' } } } });
    }
  });

  test('separates the end of a line from the start of the next in the same chunk', async () => {
    const expected = ['a', 'bb', 'ccc', 'dddd'];
    const bytes = Buffer.from(expected.map((name) => line('ADDED', pod(name))).join(''));
    for (let size = 1; size < bytes.length; size++) {
      const count = Math.ceil(bytes.length / size);
      const chunks = Array.from({ length: count }, (_, i) => Buffer.from(bytes.subarray(i * size, (i + 1) * size)));
      expect(names(await read(streamOf(...chunks)))).toEqual(expected);
    }
  });

  test('joins a line that arrives byte by byte', async () => {
    const bytes = Buffer.from(line('ADDED', pod('a')));
    expect(names(await read(streamOf(...Array.from(bytes, (byte) => Buffer.from([byte])))))).toEqual(['a']);
  });

  test('accepts a last line without a newline', async () => {
    expect(names(await read(streamOf(line('ADDED', pod('a')).trimEnd())))).toEqual(['a']);
  });

  test('marks the bookmark that ends the initial events', async () => {
    const end = { metadata: { resourceVersion: '7', annotations: { 'k8s.io/initial-events-end': 'true' } } };
    const batches = await read(
      streamOf(line('BOOKMARK', end), line('BOOKMARK', { metadata: { resourceVersion: '8' } })),
    );
    expect(batches.flat()).toEqual([
      { type: 'BOOKMARK', resourceVersion: '7', initialEventsEnd: true },
      { type: 'BOOKMARK', resourceVersion: '8', initialEventsEnd: false },
    ]);
  });

  test('throws the status of an ERROR event, after the events before it', async () => {
    const status = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old resource version' };
    const seen: string[] = [];
    const reading = (async () => {
      const stream = streamOf(line('ADDED', pod('a')) + line('ERROR', status));
      const options = { attempted: 'watch pods', clock: new FakeClock(), format: jsonFormat() };
      for await (const events of readWatchEvents<Pod>(stream, options, never))
        seen.push(...events.map(({ type }) => type));
    })();
    const error: unknown = await reading.catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(ApiError);
    expect(isExpired(error)).toBe(true);
    expect(seen).toEqual(['ADDED']);
  });

  test('throws when the stream ends in the middle of a line', async () => {
    await expect(read(streamOf(line('ADDED', pod('a')).slice(0, 20)))).rejects.toBeInstanceOf(ConnectionError);
  });

  test('throws when the connection is lost', async () => {
    const stream = new Readable({ read: () => undefined });
    const reading = read(stream);
    stream.destroy(Object.assign(new Error('aborted'), { code: 'ECONNRESET' }));
    await expect(reading).rejects.toMatchObject({ name: 'ConnectionError', code: 'ECONNRESET' });
  });

  test('ends with an error at an unknown type of event', async () => {
    const error: unknown = await read(streamOf(line('RENAMED', pod('a')))).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: 'ConnectionError', cause: { reason: 'UnreadableAnswer' } });
  });

  test('throws when no data has arrived for too long, not even a bookmark', async () => {
    const clock = new FakeClock();
    const stream = new Readable({ read: () => undefined });
    const reading = read(stream, clock, 1000);
    await settle();
    await clock.advance(900);
    stream.push(line('BOOKMARK', { metadata: { resourceVersion: '7' } }));
    await settle();
    await clock.advance(900);
    expect(stream.destroyed).toBe(false);
    const failure = reading.catch((error: unknown) => error);
    await clock.advance(200);
    expect(await failure).toMatchObject({
      name: 'ConnectionError',
      code: 'ETIMEDOUT',
      message: 'watch pods: no data for 1000 ms',
    });
    expect(stream.destroyed).toBe(true);
    expect(clock.pendingTimers).toBe(0);
  });

  test('does not count the time of the consumer as idle', async () => {
    const clock = new FakeClock();
    const stream = new Readable({ read: () => undefined });
    stream.push(line('ADDED', pod('a')));
    const options = { attempted: 'watch pods', clock, idleTimeoutMs: 1000, format: jsonFormat() };
    const events = readWatchEvents<Pod>(stream, options, never);
    await events.next();
    await clock.advance(10_000);
    expect(stream.destroyed).toBe(false);
    await events.return();
    expect(stream.destroyed).toBe(true);
    expect(clock.pendingTimers).toBe(0);
  });
});
