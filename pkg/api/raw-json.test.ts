import { describe, expect, test } from 'vitest';

import { copyOf } from './cached.ts';
import { RawJson, stringifyBody } from './raw-json.ts';

describe('stringifyBody', () => {
  const raw = new RawJson('{"b":"\\u003c","10":1,"2":1}');
  const rows: { name: string; body: unknown; expected: string }[] = [
    { name: 'writes plain bodies as JSON', body: { a: [1], b: undefined }, expected: '{"a":[1]}' },
    { name: 'writes values that are not objects', body: null, expected: 'null' },
    { name: 'keeps every byte of raw text', body: { a: 1, data: raw }, expected: `{"a":1,"data":${raw.text}}` },
    { name: 'writes raw text alone', body: { data: raw }, expected: `{"data":${raw.text}}` },
    {
      name: 'writes nested raw text as plain data',
      body: { a: { raw } },
      expected: '{"a":{"raw":{"2":1,"10":1,"b":"<"}}}',
    },
  ];
  for (const { name, body, expected } of rows) test(name, () => expect(stringifyBody(body)).toBe(expected));
});

test('a copy of raw JSON is plain data', () => {
  expect(copyOf({ data: new RawJson('{"a":[1]}') })).toEqual({ data: { a: [1] } });
});
