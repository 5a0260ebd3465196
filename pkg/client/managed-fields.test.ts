import { describe, expect, test } from 'vitest';

import { cutManagedFields } from './managed-fields.ts';

const entry = {
  manager: 'kubectl',
  operation: 'Update',
  apiVersion: 'v1',
  fieldsType: 'FieldsV1',
  fieldsV1: {
    'f:spec': {
      'f:ports': { 'k:{"port":80,"protocol":"TCP"}': { '.': {}, 'f:port': {} } },
      'v:["a]"]': {},
      'f:x\\': {},
    },
  },
};
const fields = { managedFields: [entry, { ...entry, manager: 'odd ] \\" } name ü' }] };

function cut(value: unknown): unknown {
  return JSON.parse(cutManagedFields(Buffer.from(JSON.stringify(value))).toString());
}

describe('cutManagedFields', () => {
  const rows: readonly { name: string; before: unknown; after: unknown }[] = [
    {
      name: 'cuts the last field of metadata',
      before: { kind: 'Pod', metadata: { name: 'a', ...fields }, spec: {} },
      after: { kind: 'Pod', metadata: { name: 'a' }, spec: {} },
    },
    {
      name: 'cuts the first field of metadata',
      before: { metadata: { ...fields, name: 'a' } },
      after: { metadata: { name: 'a' } },
    },
    { name: 'cuts the only field of metadata', before: { metadata: { ...fields } }, after: { metadata: {} } },
    {
      name: 'cuts a field in the middle, as in custom resources',
      before: { metadata: { labels: { a: 'b' }, ...fields, name: 'a' }, spec: 1 },
      after: { metadata: { labels: { a: 'b' }, name: 'a' }, spec: 1 },
    },
    {
      name: 'cuts an empty array',
      before: { metadata: { name: 'a', managedFields: [] } },
      after: { metadata: { name: 'a' } },
    },
    {
      name: 'cuts every item of a list',
      before: { items: [1, 2, 3].map((n) => ({ metadata: { name: `n${n}`, ...fields }, spec: { n } })) },
      after: { items: [1, 2, 3].map((n) => ({ metadata: { name: `n${n}` }, spec: { n } })) },
    },
    {
      name: 'ignores braces, brackets and quotes in annotations',
      before: { metadata: { annotations: { x: '}}]]{"metadata":{\\"', y: '\\\\' }, ...fields } },
      after: { metadata: { annotations: { x: '}}]]{"metadata":{\\"', y: '\\\\' } } },
    },
    {
      name: 'keeps a field of that name elsewhere',
      before: { metadata: { name: 'a', ...fields }, spec: { ...fields, deeper: { metadata: [fields] } } },
      after: { metadata: { name: 'a' }, spec: { ...fields, deeper: { metadata: [fields] } } },
    },
    {
      name: 'keeps text that resembles the field',
      before: { data: { x: '"metadata":{"managedFields":[1]}', 'y,"managedFields': [1] } },
      after: { data: { x: '"metadata":{"managedFields":[1]}', 'y,"managedFields': [1] } },
    },
    {
      name: 'keeps a field that is not an array',
      before: { metadata: { managedFields: null, name: 'a' } },
      after: { metadata: { managedFields: null, name: 'a' } },
    },
    {
      name: 'keeps an object without the field',
      before: { metadata: { name: 'a' } },
      after: { metadata: { name: 'a' } },
    },
    {
      name: 'keeps characters of several bytes whole',
      before: { metadata: { annotations: { x: 'ünïcödé 🎈' }, ...fields }, spec: '日本' },
      after: { metadata: { annotations: { x: 'ünïcödé 🎈' } }, spec: '日本' },
    },
  ];
  for (const { name, before, after } of rows) test(name, () => expect(cut(before)).toEqual(after));

  test('does not change JSON that ends inside the array', () => {
    const text = '{"metadata":{"managedFields":[{"a":"b"';
    expect(cutManagedFields(Buffer.from(text)).toString()).toBe(text);
  });

  test('equals parsing and deleting for random objects', () => {
    const random = mulberry32(7);
    for (let round = 0; round < 500; round++) {
      const items = Array.from({ length: 1 + Math.floor(random() * 4) }, () => ({
        metadata: shuffled(
          { name: text(random), annotations: { [text(random)]: text(random) }, ...randomFields(random) },
          random,
        ),
        spec: { [text(random)]: [text(random), { [text(random)]: null }] },
      }));
      const expected = structuredClone(items) as { metadata: { managedFields?: unknown } }[];
      for (const { metadata } of expected) delete metadata.managedFields;
      expect(cut({ items })).toEqual({ items: expected });
    }
  });
});

function randomFields(random: () => number): object {
  if (random() < 0.2) return {};
  const nested = Array.from({ length: Math.floor(random() * 3) }, () => ({
    [text(random)]: { [text(random)]: [text(random)] },
  }));
  return { managedFields: nested };
}

function text(random: () => number): string {
  const alphabet = [
    '"',
    '\\',
    '[',
    ']',
    '{',
    '}',
    ',',
    ':',
    'a',
    'ü',
    '🎈',
    '\n',
    'managedFields',
    '"managedFields":[',
  ];
  return Array.from(
    { length: 1 + Math.floor(random() * 8) },
    () => alphabet[Math.floor(random() * alphabet.length)],
  ).join('');
}

function shuffled(object: object, random: () => number): object {
  return Object.fromEntries(Object.entries(object).sort(() => random() - 0.5));
}

/** A small seeded generator, so that a failure can be reproduced. */
function mulberry32(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}
