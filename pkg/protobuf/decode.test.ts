import { describe, expect, test } from 'vitest';

import { entry, field, message, spanOf } from '../../test/support/encode-protobuf.ts';
import { ExactInteger } from '../api/index.ts';
import { decodeMessage, type Model } from './decode.ts';
import { createMessages } from './message.ts';

const messages = createMessages({
  Thing: {
    1: 'name string?',
    2: 'count integer?',
    3: 'given integer',
    4: 'part Part',
    5: 'parts []Part?',
    6: 'labels {}string?',
    7: '@Inlined',
    8: 'hosts []string',
    9: 'time time',
    10: 'micro microtime?',
    11: 'size {}quantity?',
    12: 'port int-or-string',
    13: 'blob bytes?',
    14: 'raw json',
    15: 'extra {}strings?',
    16: 'ready boolean?',
    17: 'numbers []integer?',
  },
  Part: { 1: 'name string', 2: 'inner Part' },
  Inlined: { 1: 'path string?', 2: 'secret Part' },
});
const thing = messages('Thing');
const decode = (bytes: Buffer, model?: Model) => decodeMessage(thing, spanOf(bytes), model);
const part = (name: string, ...more: Buffer[]): Buffer => message(field(1, name), ...more);

const rows: { name: string; bytes: Buffer; expected: object }[] = [
  {
    name: 'omits zero values where JSON does',
    bytes: message(field(1, ''), field(2, 0n), field(16, 0n)),
    expected: {},
  },
  { name: 'keeps zero values where JSON does', bytes: field(3, 0n), expected: { given: 0 } },
  { name: 'keeps an empty message', bytes: field(4, ''), expected: { part: {} } },
  { name: 'reads negative numbers', bytes: field(3, -5n), expected: { given: -5 } },
  { name: 'reads numbers of 32 bits', bytes: field(3, 4_000_000_000n), expected: { given: 4_000_000_000 } },
  {
    name: 'reads lists',
    bytes: message(field(5, part('a')), field(5, part('b'))),
    expected: { parts: [{ name: 'a' }, { name: 'b' }] },
  },
  { name: 'reads lists of numbers', bytes: message(field(17, 0n), field(17, 300n)), expected: { numbers: [0, 300] } },
  {
    name: 'reads maps',
    bytes: message(field(6, entry('a', 'x')), field(6, entry('b', ''))),
    expected: { labels: { a: 'x', b: '' } },
  },
  {
    name: 'reads maps of lists',
    bytes: field(15, entry('a', message(field(1, 'x'), field(1, 'y')))),
    expected: { extra: { a: ['x', 'y'] } },
  },
  {
    name: 'adds the fields of inlined messages',
    bytes: field(7, message(field(1, '/x'), field(2, part('s')))),
    expected: { path: '/x', secret: { name: 's' } },
  },
  {
    name: 'reads times',
    bytes: field(9, message(field(1, 1_767_225_600n), field(2, 0n))),
    expected: { time: '2026-01-01T00:00:00Z' },
  },
  {
    name: 'reads the beginning of 1970',
    bytes: field(9, message(field(1, 0n), field(2, 0n))),
    expected: { time: '1970-01-01T00:00:00Z' },
  },
  { name: 'reads the zero time as null', bytes: field(9, ''), expected: { time: null } },
  {
    name: 'reads microseconds',
    bytes: field(10, message(field(1, 1_767_225_600n), field(2, 1000n))),
    expected: { micro: '2026-01-01T00:00:00.000001Z' },
  },
  {
    name: 'writes microseconds also if they are zero',
    bytes: field(10, message(field(1, 1_767_225_600n), field(2, 0n))),
    expected: { micro: '2026-01-01T00:00:00.000000Z' },
  },
  { name: 'reads quantities', bytes: field(11, entry('cpu', field(1, '100m'))), expected: { size: { cpu: '100m' } } },
  {
    name: 'reads a port number',
    bytes: field(12, message(field(1, 0n), field(2, 8080n), field(3, ''))),
    expected: { port: 8080 },
  },
  {
    name: 'reads a port name',
    bytes: field(12, message(field(1, 1n), field(2, 0n), field(3, 'http'))),
    expected: { port: 'http' },
  },
  { name: 'reads bytes as base64', bytes: field(13, 'hello'), expected: { blob: 'aGVsbG8=' } },
  { name: 'reads JSON', bytes: field(14, field(1, '{"a":[1]}')), expected: { raw: { a: [1] } } },
  {
    name: 'skips fields of a later version',
    bytes: message(field(99, 'x'), field(98, 3n), field(1, 'a')),
    expected: { name: 'a' },
  },
];

describe('decodeMessage', () => {
  for (const { name, bytes, expected } of rows) {
    test(name, () => expect(decode(bytes)).toEqual({ hosts: null, ...expected })); // Go writes hosts without any as null
  }

  test('keeps every digit of an int64', () =>
    expect(decode(field(3, 9_223_372_036_854_775_807n))['given']).toBe(ExactInteger.of('9223372036854775807')));

  test('has an own field for each key of a map', () => {
    const { labels } = decode(message(field(6, entry('__proto__', 'x')), field(6, entry('constructor', 'y'))));
    expect(Object.entries(labels as object)).toEqual([
      ['__proto__', 'x'],
      ['constructor', 'y'],
    ]);
  });

  for (const [name, bytes] of Object.entries({
    'a length beyond the end': Buffer.from([0x0a, 0x05, 0x00]),
    'a field that is longer than its message': field(4, Buffer.from([0x0a, 0x02])),
    'a number that does not end': Buffer.from([0x18, 0x80]),
    'a number of eleven bytes': Buffer.from([0x18, ...Array.from({ length: 10 }, () => 0x80), 0]),
    'a length of more than 32 bits': Buffer.from([0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]),
    'an unknown wire type': Buffer.from([0x9b, 0x06]),
    'a number where text is expected': field(1, 1n),
    'text where a number is expected': field(2, 'x'),
    'a time out of range': field(9, field(1, 9_223_372_036_854_775_807n)),
    'a raw field without JSON': field(14, field(1, '{')),
  })) {
    // The bytes after the end of a message are those of others.
    test(`refuses ${name}`, () =>
      expect(() => decode(message(bytes))).toThrow(expect.objectContaining({ name: 'ProtobufError' })));
  }
});

describe('decodeMessage with a model', () => {
  const fields = {
    name: field(1, 'a'),
    given: field(3, 1n),
    part: field(4, part('p', field(2, part('inner')))),
    parts: [field(5, part('a')), field(5, part('b', field(2, part('x'))))],
    labels: [field(6, entry('1', 'x')), field(6, entry('0', 'y'))],
    inlined: field(7, message(field(1, '/x'), field(2, part('s')))),
  };
  const bytesOf = (changes: Partial<Record<keyof typeof fields, Buffer | Buffer[]>>): Buffer =>
    message(...Object.values({ ...fields, ...changes }).flat());
  const span = spanOf(bytesOf({}));
  const model: Model = { span, value: decodeMessage(thing, span) };

  const changes: { name: string; changes: Parameters<typeof bytesOf>[0]; shared: readonly string[] }[] = [
    { name: 'nothing', changes: {}, shared: ['part', 'parts', 'labels', 'secret'] },
    { name: 'a text', changes: { name: field(1, 'b') }, shared: ['part', 'parts', 'labels', 'secret'] },
    {
      name: 'a text of another length',
      changes: { name: field(1, 'bbb') },
      shared: ['part', 'parts', 'labels', 'secret'],
    },
    { name: 'an absent field', changes: { name: [] }, shared: ['part', 'parts', 'labels', 'secret'] },
    {
      name: 'a new field',
      changes: { given: [field(2, 7n), field(3, 1n)] },
      shared: ['part', 'parts', 'labels', 'secret'],
    },
    { name: 'a zero value', changes: { name: field(1, '') }, shared: ['part', 'parts', 'labels', 'secret'] },
    {
      name: 'a nested field',
      changes: { part: field(4, part('p', field(2, part('other')))) },
      shared: ['parts', 'labels', 'secret'],
    },
    { name: 'a shorter list', changes: { parts: [field(5, part('a'))] }, shared: ['part', 'labels', 'secret'] },
    {
      name: 'a longer list',
      changes: { parts: [...fields.parts, field(5, part('c'))] },
      shared: ['part', 'labels', 'secret'],
    },
    { name: 'no list', changes: { parts: [] }, shared: ['part', 'labels', 'secret'] },
    {
      name: 'a value in a map',
      changes: { labels: [field(6, entry('1', 'z')), field(6, entry('0', 'y'))] },
      shared: ['part', 'parts', 'secret'],
    },
    { name: 'a shorter map', changes: { labels: [field(6, entry('1', 'x'))] }, shared: ['part', 'parts', 'secret'] },
    {
      name: 'a longer map',
      changes: { labels: [...fields.labels, field(6, entry('2', 'y'))] },
      shared: ['part', 'parts', 'secret'],
    },
    {
      name: 'an inlined field',
      changes: { inlined: field(7, message(field(1, '/y'), field(2, part('s')))) },
      shared: ['part', 'parts', 'labels', 'secret'],
    },
    {
      name: 'another field of the inlined ones',
      changes: { inlined: field(7, field(2, part('other'))) },
      shared: ['part', 'parts', 'labels'],
    },
    {
      name: 'an unknown field',
      changes: { inlined: [fields.inlined, field(99, 'x')] },
      shared: ['part', 'parts', 'labels', 'secret'],
    },
  ];
  for (const { name, changes: changed, shared } of changes) {
    test(`that differs in ${name} gives the same object as without one, and shares what is equal`, () => {
      const bytes = bytesOf(changed);
      const result = decode(bytes, model);
      expect(result).toEqual(decode(bytes));
      const kept = ['part', 'parts', 'labels', 'secret'].filter((field) => result[field] === model.value[field]);
      expect(kept).toEqual(shared);
    });
  }

  test('shares the equal items of a list that differs', () => {
    const result = decode(bytesOf({ parts: [fields.parts[0] ?? Buffer.alloc(0), field(5, part('c'))] }), model);
    const [first] = result['parts'] as unknown[];
    expect(first).toBe((model.value['parts'] as unknown[])[0]);
  });

  test('leaves the model as it was', () => {
    const before = structuredClone(model.value);
    for (const { changes: changed } of changes) decode(bytesOf(changed), model);
    expect(model.value).toEqual(before);
  });
});
