import { describe, expect, test } from 'vitest';

import { parseSelectorText } from './selector-text.ts';

const rows: readonly { text: string; selects?: object[]; not?: object[]; required: object }[] = [
  { text: '', selects: [{}, { a: 'b' }], required: {} },
  { text: 'a=b', selects: [{ a: 'b', c: 'd' }], not: [{}, { a: 'c' }], required: { a: 'b' } },
  { text: 'a==b , c != d', selects: [{ a: 'b' }], not: [{ a: 'b', c: 'd' }], required: { a: 'b' } },
  { text: 'a in (b, c)', selects: [{ a: 'b' }, { a: 'c' }], not: [{}], required: {} },
  { text: 'a in (b)', selects: [{ a: 'b' }], required: { a: 'b' } },
  { text: 'a notin (b)', selects: [{}, { a: 'c' }], not: [{ a: 'b' }], required: {} },
  { text: 'a,!b', selects: [{ a: '' }], not: [{}, { a: '', b: '' }], required: {} },
  { text: 'a>3', selects: [{ a: '4' }], not: [{ a: '3' }, { a: 'x' }, {}], required: {} },
  { text: 'constructor', not: [{}], required: {} },
];

describe('parseSelectorText', () => {
  for (const { text, selects = [], not = [], required } of rows) {
    test(JSON.stringify(text), () => {
      const parsed = parseSelectorText(text);
      for (const labels of selects) expect(parsed.matches({ ...labels })).toBe(true);
      for (const labels of not) expect(parsed.matches({ ...labels })).toBe(false);
      expect(parsed.required).toEqual(required);
    });
  }

  const refused = {
    'a b': "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt",
    'a in b': "unable to parse requirement: found 'b' expected: '('",
    'a in (b,c!)': 'unable to parse requirement: values[1][a]: Invalid value: "c!": a valid label must be',
    'a/b/c=d': 'unable to parse requirement: key: Invalid value: "a/b/c": a valid label key must consist of',
    '=b': "unable to parse requirement: found '=b', expected: identifier",
  };
  for (const [text, message] of Object.entries(refused)) {
    test(`refuses ${JSON.stringify(text)}`, () => expect(() => parseSelectorText(text)).toThrow(message));
  }
});
