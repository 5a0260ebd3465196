import { describe, expect, test } from 'vitest';

import { entry, envelope, field, message, spanOf } from '../../test/support/encode-protobuf.ts';
import { ObjectDecoder } from './object-decoder.ts';
import { decodeObject, messageOf, readEnvelope, readWatchEvent } from './objects.ts';

const owner = (name: string): Buffer => message(field(1, 'ReplicaSet'), field(3, name), field(4, `uid-${name}`));
function pod(name: string, ownerName?: string): Buffer {
  const owners = ownerName === undefined ? [] : [field(13, owner(ownerName))];
  const metadata = message(field(1, name), field(11, entry('of', ownerName ?? 'nobody')), ...owners);
  return envelope('v1', 'Pod', field(1, metadata));
}
const labelsOf = (object: Record<string, unknown>): unknown => (object['metadata'] as { labels: unknown }).labels;

describe('ObjectDecoder', () => {
  test('lets objects share parts with the last one of the same owner', () => {
    const decoder = new ObjectDecoder();
    const decode = (name: string, ownerName?: string) => labelsOf(decoder.decode(spanOf(pod(name, ownerName))));
    const [a, b, alone] = [decode('a-1', 'a'), decode('b-1', 'b'), decode('x')];
    expect([decode('b-2', 'b') === b, decode('a-2', 'a') === a, decode('y') === alone]).toEqual([true, true, true]);
  });

  test('does not need the bytes of earlier objects', () => {
    const decoder = new ObjectDecoder();
    const bytes = pod('a-1', 'a');
    decoder.decode(spanOf(bytes));
    bytes.fill(0xff);
    expect(decoder.decode(spanOf(pod('a-2', 'a')))).toEqual(decodeObject(spanOf(pod('a-2', 'a'))));
  });

  test('decodes objects of more owners than it remembers, larger and smaller ones', () => {
    const decoder = new ObjectDecoder();
    for (let index = 0; index < 1000; index++) {
      const bytes = pod('x'.repeat(1 + (index % 7) * 40), `owner-${index % 300}`);
      expect(decoder.decode(spanOf(bytes))).toEqual(decodeObject(spanOf(bytes)));
    }
  });

  test('does not keep large objects', () => {
    const decoder = new ObjectDecoder();
    const large = (name: string): Buffer => envelope('v1', 'ConfigMap', message(field(1, field(1, name)), data));
    const data = field(2, entry('a', 'x'.repeat(70_000)));
    const [a, b] = [decoder.decode(spanOf(large('a'))), decoder.decode(spanOf(large('b')))];
    expect(b['data']).toEqual(a['data']);
    expect(b['data']).not.toBe(a['data']);
  });

  test('does not take an object of another kind as a model', () => {
    const decoder = new ObjectDecoder();
    const status = envelope('v1', 'Status', message(field(2, 'Failure'), field(3, 'too old')));
    decoder.decode(spanOf(pod('a')));
    expect(decoder.decode(spanOf(status))).toEqual({
      apiVersion: 'v1',
      kind: 'Status',
      status: 'Failure',
      message: 'too old',
    });
  });

  test('refuses a kind that is not described', () =>
    expect(() => new ObjectDecoder().decode(spanOf(envelope('v2', 'Pod', Buffer.alloc(0))))).toThrow(
      'v2 Pod is not described',
    ));
});

describe('readEnvelope', () => {
  test('has kind, version and the object', () => {
    const { apiVersion, kind, content } = readEnvelope(spanOf(envelope('v1', 'ConfigMap', Buffer.from('raw'))));
    const text = content.bytes.toString('utf8', content.start, content.end);
    expect({ apiVersion, kind, text }).toEqual({ apiVersion: 'v1', kind: 'ConfigMap', text: 'raw' });
  });

  for (const body of ['{}', '', 'k8s']) {
    test(`refuses ${JSON.stringify(body)}: it lacks the prefix of Kubernetes`, () =>
      expect(() => readEnvelope(spanOf(Buffer.from(body)))).toThrow('not Kubernetes protobuf'));
  }
});

test('an event without an object is refused', () =>
  expect(() => readWatchEvent(field(1, 'ADDED'))).toThrow('an event without a type or an object'));

test('kinds that are not described have no message', () => {
  expect(messageOf('v1', 'Pod')).toBeDefined();
  expect(messageOf('v1', 'constructor')).toBeUndefined();
});
