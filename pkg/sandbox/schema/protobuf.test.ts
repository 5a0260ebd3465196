import { describe, expect, test } from 'vitest';

import { decodeProtobuf, readEnvelope } from './protobuf.ts';
import { objectType } from './schema.ts';

/** Encodes a field: text and messages with their length, numbers as varints. */
function field(number: number, value: string | Buffer | bigint): Buffer {
  if (typeof value === 'bigint') return Buffer.concat([varint(BigInt(number << 3)), varint(value)]);
  const bytes = Buffer.from(value);
  return Buffer.concat([varint(BigInt((number << 3) | 2)), varint(BigInt(bytes.length)), bytes]);
}

function varint(value: bigint): Buffer {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, value);
  while (rest >= 0x80n) {
    bytes.push(Number(rest & 0x7fn) | 0x80);
    rest >>= 7n;
  }
  return Buffer.from([...bytes, Number(rest)]);
}

const message = (...fields: Buffer[]): Buffer => Buffer.concat(fields);
const configMap = objectType('io.k8s.api.core.v1.ConfigMap');
const deployment = objectType('io.k8s.api.apps.v1.Deployment');

describe('readEnvelope', () => {
  test('has kind, version and the object', () => {
    const typeMeta = message(field(1, 'v1'), field(2, 'ConfigMap'));
    const body = message(Buffer.from('k8s\0'), field(1, typeMeta), field(2, 'raw'));
    expect(readEnvelope(body)).toEqual({ apiVersion: 'v1', kind: 'ConfigMap', raw: Buffer.from('raw') });
  });

  test('refuses bytes without the prefix of Kubernetes protobuf', () =>
    expect(() => readEnvelope(Buffer.from('{}'))).toThrow('not Kubernetes protobuf'));
});

describe('decodeProtobuf', () => {
  test('reads text, maps and bytes', () => {
    const metadata = field(1, message(field(1, 'name'), field(11, message(field(1, 'a'), field(2, 'b')))));
    const data = message(
      field(2, message(field(1, 'k'), field(2, 'v'))),
      field(3, message(field(1, 'b'), field(2, 'x'))),
    );
    expect(decodeProtobuf(message(metadata, data), configMap)).toEqual({
      metadata: { name: 'name', labels: { a: 'b' } },
      data: { k: 'v' },
      binaryData: { b: Buffer.from('x').toString('base64') },
    });
  });

  test('reads negative numbers, which have 64 bits', () =>
    expect(decodeProtobuf(field(2, field(1, -1n)), deployment)).toEqual({ spec: { replicas: -1 } }));

  test('skips fields of a later version', () =>
    expect(decodeProtobuf(message(field(999, 'x'), field(2, field(1, 3n))), deployment)).toEqual({
      spec: { replicas: 3 },
    }));

  test('reads a time, and treats the zero time of Go as absent', () => {
    const time = (seconds: bigint) => field(1, field(8, field(1, seconds)));
    expect(decodeProtobuf(time(1_767_225_600n), configMap)).toEqual({
      metadata: { creationTimestamp: '2026-01-01T00:00:00Z' },
    });
    expect(decodeProtobuf(time(-62_135_596_800n), configMap)).toEqual({ metadata: { creationTimestamp: null } });
  });

  for (const [name, bytes] of Object.entries({
    'a length beyond the end': Buffer.from([0x0a, 0x05, 0x00]),
    'a number that never ends': Buffer.from([0x80]),
    'an unknown wire type': Buffer.from([0x0b]),
    'a number where a message is expected': field(1, 1n),
  })) {
    test(`refuses ${name}`, () =>
      expect(() => decodeProtobuf(bytes, configMap)).toThrow(/end|wire type|expected bytes/));
  }
});
