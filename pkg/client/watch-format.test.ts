import { describe, expect, test } from 'vitest';

import { entry, envelope, field, message, watchFrame } from '../../test/support/encode-protobuf.ts';
import { watchFormatOf, type WatchFormat } from './watch-format.ts';

const protobuf = 'application/vnd.kubernetes.protobuf;stream=watch';

function pod(name: string): Buffer {
  const labels = [field(11, entry('app', 'web')), field(11, entry('tier', 'grüße'))];
  return envelope('v1', 'Pod', field(1, message(field(1, name), ...labels)));
}

const asJson = (name: string) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, labels: { app: 'web', tier: 'grüße' } },
});

function readAll(format: WatchFormat, chunks: readonly Buffer[]): unknown[] {
  return chunks.flatMap((chunk) => format.split(chunk).map((event) => format.decode(event)));
}

describe('frames of protobuf', () => {
  test('are joined wherever the stream is split into chunks', () => {
    const bytes = Buffer.concat(['a', 'bb', 'ccc'].map((name) => watchFrame('ADDED', pod(name))));
    const expected = ['a', 'bb', 'ccc'].map((name) => ({ type: 'ADDED', object: asJson(name) }));
    for (let size = 1; size <= bytes.length; size++) {
      const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
        Buffer.from(bytes.subarray(index * size, (index + 1) * size)),
      );
      for (const sharesParts of [false, true]) {
        expect(readAll(watchFormatOf(protobuf, { sharesParts }), chunks)).toEqual(expected);
      }
    }
  });

  test('have no rest: an event that is cut off did not arrive', () => {
    const format = watchFormatOf(protobuf, {});
    expect(format.split(watchFrame('ADDED', pod('a')).subarray(0, -1))).toEqual([]);
    expect(format.rest()).toEqual([]);
  });

  test('of different objects share parts only if the consumer changes none', () => {
    const bytes = ['a', 'b'].map((name) => watchFrame('ADDED', pod(name)));
    const labelsOf = (sharesParts: boolean): unknown[] =>
      readAll(watchFormatOf(protobuf, { sharesParts }), bytes).map(
        (event) => (event as { object: { metadata: { labels: unknown } } }).object.metadata.labels,
      );
    const [own, other] = labelsOf(false);
    expect(own).not.toBe(other);
    const [model, shared] = labelsOf(true);
    expect(shared).toBe(model);
  });

  test('may have an error instead of an object', () => {
    const status = envelope('v1', 'Status', message(field(3, 'too old'), field(4, 'Expired'), field(6, 410n)));
    expect(readAll(watchFormatOf(protobuf, { sharesParts: true }), [watchFrame('ERROR', status)])).toEqual([
      {
        type: 'ERROR',
        object: { apiVersion: 'v1', kind: 'Status', message: 'too old', reason: 'Expired', code: 410 },
      },
    ]);
  });
});

test('a response without the content type of protobuf is read as lines of JSON', () => {
  const format = watchFormatOf('application/json', { sharesParts: true });
  expect(readAll(format, [Buffer.from('{"type":"ADDED","object":{"kind":"Pod"}}\n')])).toEqual([
    { type: 'ADDED', object: { kind: 'Pod' } },
  ]);
});
