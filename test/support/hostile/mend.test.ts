import { describe, expect, test } from 'vitest';
import { createChoose } from './choose.ts';
import { complete, mend } from './mend.ts';
import type { FieldType } from './schema.ts';

const refusalOf = (...causes: readonly object[]): object => ({ kind: 'Status', details: { causes } });

describe('mend', () => {
  const base = { metadata: { labels: { app: 'one' } }, spec: { replicas: 1, ports: [{ port: 80 }] } };
  const rows = [
    { name: 'a field that the base has', field: 'spec.replicas', object: { replicas: -1, ports: [{ port: 80 }] } },
    { name: 'a field that it does not have', field: 'spec.x', object: { replicas: 1, x: 1, ports: [{ port: 80 }] } },
    { name: 'a field of an item', field: 'spec.ports[0].port', object: { replicas: 1, ports: [{ port: 0 }] } },
    { name: 'an item', field: 'spec.ports[1]', object: { replicas: 1, ports: [{ port: 80 }, {}] } },
    {
      name: 'the parent of a missing field',
      field: 'spec.ports[0].name',
      object: { replicas: 1, ports: [{}] },
    },
    {
      name: 'a key with dots and a name that objects have',
      field: 'spec.selector[a.b/constructor]',
      object: { replicas: 1, selector: { 'a.b/constructor': 'x' }, ports: [{ port: 80 }] },
      expected: { replicas: 1, selector: {}, ports: [{ port: 80 }] },
    },
  ];
  for (const { name, field, object: spec, expected = base.spec } of rows) {
    test(`puts back ${name}`, () => {
      const object = { ...structuredClone(base), spec };
      expect(mend({ object, base, answer: refusalOf({ field }) }, createChoose(1))).toBe(true);
      expect(object).toEqual({ ...base, spec: expected });
    });
  }

  test('returns to the base when the server names no field, and then gives up', () => {
    const object = { metadata: { labels: null }, spec: { replicas: 2 ** 40, ports: 'x', z: {} } };
    const choose = createChoose(1);
    let mendings = 0;
    while (mend({ object, base, answer: 'bad request' }, choose)) mendings++;
    expect(object).toEqual(base);
    expect(mendings).toBeGreaterThan(1);
  });
});

describe('complete', () => {
  const text: FieldType = { kind: 'string', options: [] };
  const inner: FieldType = { kind: 'object', fields: new Map([['mode', () => text]]), required: new Set(['mode']) };
  const type: FieldType = { kind: 'object', fields: new Map([['spec', () => inner]]), required: new Set() };

  test('sets required fields, then supported values, then gives up', () => {
    const object = {};
    expect(complete(object, type, refusalOf({ field: 'spec.mode', message: 'Required value' }))).toBe(true);
    expect(object).toEqual({ spec: { mode: 'x' } });
    const unsupported = refusalOf({
      field: 'spec.mode',
      message: 'Unsupported value: "x": supported values: "A", "B"',
    });
    expect(complete(object, type, unsupported)).toBe(true);
    expect(object).toEqual({ spec: { mode: 'A' } });
    expect(complete(object, type, unsupported)).toBe(false);
  });
});
