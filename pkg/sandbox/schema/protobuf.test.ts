import { describe, expect, test } from 'vitest';

import { field, message, spanOf } from '../../../test/support/encode-protobuf.ts';
import { decodeProtobuf } from './protobuf.ts';
import { objectType } from './schema.ts';

const configMap = objectType('io.k8s.api.core.v1.ConfigMap');
const deployment = objectType('io.k8s.api.apps.v1.Deployment');

describe('decodeProtobuf', () => {
  test('reads text, maps and bytes', () => {
    const metadata = field(1, message(field(1, 'name'), field(11, message(field(1, 'a'), field(2, 'b')))));
    const data = message(
      field(2, message(field(1, 'k'), field(2, 'v'))),
      field(3, message(field(1, 'b'), field(2, 'x'))),
    );
    expect(decodeProtobuf(spanOf(message(metadata, data)), configMap)).toEqual({
      metadata: { name: 'name', labels: { a: 'b' } },
      data: { k: 'v' },
      binaryData: { b: Buffer.from('x').toString('base64') },
    });
  });

  test('reads negative numbers, which have 64 bits', () =>
    expect(decodeProtobuf(spanOf(field(2, field(1, -1n))), deployment)).toEqual({ spec: { replicas: -1 } }));

  test('skips fields of a later version', () =>
    expect(decodeProtobuf(spanOf(message(field(999, 'x'), field(2, field(1, 3n)))), deployment)).toEqual({
      spec: { replicas: 3 },
    }));

  test('reads a time, and treats the zero time of Go as absent', () => {
    const time = (seconds: bigint) => field(1, field(8, field(1, seconds)));
    expect(decodeProtobuf(spanOf(time(1_767_225_600n)), configMap)).toEqual({
      metadata: { creationTimestamp: '2026-01-01T00:00:00Z' },
    });
    expect(decodeProtobuf(spanOf(time(-62_135_596_800n)), configMap)).toEqual({
      metadata: { creationTimestamp: null },
    });
  });

  for (const [name, bytes] of Object.entries({
    'a length beyond the end': Buffer.from([0x0a, 0x05, 0x00]),
    'a number that never ends': Buffer.from([0x80]),
    'an unknown wire type': Buffer.from([0x0b]),
    'a number where a message is expected': field(1, 1n),
  })) {
    test(`refuses ${name}`, () =>
      expect(() => decodeProtobuf(spanOf(bytes), configMap)).toThrow(/end|wire type|another type/));
  }
});
