import { describe, expect, test } from 'vitest';

import { seededRandom } from '../../test/support/random.ts';
import { SimilarJson } from './similar-json.ts';

const pod = (name: string, rest: object = {}): object => ({
  metadata: {
    name,
    uid: `uid-of-${name}`,
    labels: { app: 'web' },
    ownerReferences: [{ name: 'web', controller: true }],
  },
  spec: { containers: [{ name: 'app', image: 'app:1', ports: [{ containerPort: 80 }] }], nodeName: null },
  ...rest,
});

const parserAfter = (...values: readonly unknown[]): SimilarJson => {
  const parser = new SimilarJson();
  for (const value of values) parser.parse(bytes(value));
  return parser;
};
const bytes = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));

describe('a text after a similar one', () => {
  const rows: readonly { differs: string; first: unknown; second: unknown }[] = [
    { differs: 'nowhere', first: pod('a'), second: pod('a') },
    { differs: 'in strings of the same length', first: pod('a'), second: pod('b') },
    { differs: 'in shorter strings', first: pod('long-name'), second: pod('a') },
    { differs: 'in longer strings', first: pod('a'), second: pod('long-name') },
    { differs: 'in an empty string', first: pod('a'), second: pod('') },
    { differs: 'in a string that was empty', first: pod(''), second: pod('a') },
    { differs: 'in the end of a string', first: { a: 'ab', b: 1 }, second: { a: 'abc', b: 1 } },
    { differs: 'in escapes', first: pod('a"b\\'), second: pod('a\\"\n\u0001') },
    { differs: 'in an escape at the end', first: { a: 'x\\' }, second: { a: 'x\\\\' } },
    { differs: 'in characters beyond ASCII', first: pod('ä'), second: pod('ö€😀') },
    { differs: 'in longer numbers', first: { a: 1, b: [2] }, second: { a: 12, b: [-2.5e-7] } },
    { differs: 'in shorter numbers', first: { a: 123, b: 4 }, second: { a: 1, b: 4 } },
    { differs: 'in literals', first: [true, null, false], second: [false, true, null] },
    { differs: 'in the type of a scalar', first: { a: 1, b: 'x' }, second: { a: '1', b: null } },
    { differs: 'in what was null and is an object', first: { a: null }, second: { a: { b: 1 } } },
    { differs: 'in what was an object and is null', first: { a: { b: 1 } }, second: { a: null } },
    { differs: 'in a key', first: { a: 1, b: 2 }, second: { a: 1, c: 2 } },
    { differs: 'in the order of keys', first: { a: 1, b: 1 }, second: { b: 1, a: 1 } },
    { differs: 'by one key more', first: { a: 1 }, second: { a: 1, b: 2 } },
    { differs: 'by one key less', first: { a: 1, b: 2 }, second: { a: 1 } },
    { differs: 'by one item more', first: [1], second: [1, 2] },
    { differs: 'by one item less', first: [1, 2], second: [1] },
    { differs: 'by a longer last item', first: [1], second: [11] },
    { differs: 'in what was an empty list', first: { a: [] }, second: { a: [1] } },
    { differs: 'in nesting', first: [[1], 2], second: [[1, 2]] },
    {
      differs: 'in a key that is a property of every object',
      first: JSON.parse('{"__proto__":1}'),
      second: JSON.parse('{"__proto__":2}'),
    },
    { differs: 'in keys that are numbers', first: { 1: 'a', 0: 'b' }, second: { 1: 'a', 0: 'c' } },
    { differs: 'in all', first: pod('a'), second: 'text' },
    { differs: 'in scalars alone', first: 'a', second: 'b' },
  ];
  for (const { differs, first, second } of rows) {
    test(`that differs ${differs} is parsed correctly`, () => {
      const parser = parserAfter(first);
      expect(parser.parse(bytes(second))).toEqual(second);
      expect(parser.parse(bytes(first))).toEqual(first);
      expect(parser.parse(bytes(second))).toEqual(second);
    });
  }

  test('shares equal parts with it', () => {
    const parser = new SimilarJson();
    const first = parser.parse(bytes(pod('a'))) as { metadata: { labels: object }; spec: object };
    const second = parser.parse(bytes(pod('b'))) as { metadata: { labels: object }; spec: object };
    expect(second.spec).toBe(first.spec);
    expect(second.metadata.labels).toBe(first.metadata.labels);
  });

  test('does not change earlier values', () => {
    const parser = new SimilarJson();
    const texts = ['a', 'bb', 'ccc', 'a', ''].map((name) => pod(name));
    const values = texts.map((text) => parser.parse(bytes(text)));
    expect(values).toEqual(texts);
  });

  test('may be in a buffer that is overwritten later', () => {
    const parser = parserAfter(pod('a'));
    const memory = bytes(pod('b'));
    const value = parser.parse(memory);
    memory.fill(0);
    expect(value).toEqual(pod('b'));
    expect(parser.parse(bytes(pod('c')))).toEqual(pod('c'));
  });
});

describe('invalid JSON', () => {
  const broken = [
    '{"a":1',
    '{"a":"x',
    '{"a":"x\n"}',
    '{"a":"\\q"}',
    '{"a":tru}',
    '{"a":--1}',
    '{"a":01}',
    '{"a":1}}',
    '',
  ];
  for (const text of broken) {
    test(`${JSON.stringify(text)} is refused, and has no effect on later texts`, () => {
      const parser = parserAfter({ a: 1 }, { a: 'x' });
      expect(() => parser.parse(Buffer.from(text))).toThrow(SyntaxError);
      expect(parser.parse(bytes({ a: 2 }))).toEqual({ a: 2 });
      expect(parser.parse(bytes({ a: 'y' }))).toEqual({ a: 'y' });
    });
  }
});

describe('texts of many shapes', () => {
  const random = seededRandom(7);
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
  const scalars = ['', 'a', 'web-1', 'é', '"', '\\', '\u2028', 0, -1, 12, 1.5e300, true, false, null];
  const shape = (depth: number): unknown => {
    if (depth === 0 || random() < 0.3) return undefined; // a scalar, chosen when it is filled
    const children = Array.from({ length: Math.floor(random() * 4) }, () => shape(depth - 1));
    return random() < 0.5
      ? children
      : Object.fromEntries(children.map((child, i) => [pick(['a', 'b"', 'ç']) + i, child]));
  };
  const fill = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(fill);
    if (typeof node !== 'object' || node === null) return pick(scalars);
    return Object.fromEntries(Object.entries(node).map(([key, child]) => [key, fill(child)]));
  };

  test('are parsed like JSON.parse', () => {
    const shapes = Array.from({ length: 30 }, () => shape(4));
    const parser = new SimilarJson();
    for (let i = 0; i < 5000; i++) {
      const value = fill(pick(random() < 0.8 ? shapes.slice(0, 5) : shapes));
      const text = JSON.stringify(value);
      expect(parser.parse(Buffer.from(text))).toEqual(JSON.parse(text));
    }
  });
});

describe('integers beyond 2^53', () => {
  const texts = [
    '{"a":{"seconds":30},"b":"x"}',
    '{"a":{"seconds":9223372036854775807},"b":"x"}',
    '{"a":{"seconds":9223372036854775807},"b":"y"}',
    '{"a":{"seconds":9007199254740993},"b":"y"}',
    '{"a":{"seconds":30},"b":"y"}',
  ];
  test('keep every digit, whatever the earlier texts were', () => {
    const parser = new SimilarJson();
    for (const text of [...texts, ...texts.toReversed()]) {
      expect(JSON.stringify(parser.parse(Buffer.from(text)))).toBe(text);
    }
  });
});
