import { describe, expect, test } from 'vitest';

import { normalizeSelector } from './scale-selector.ts';

describe('normalizeSelector', () => {
  const rows: [text: string, expected: string][] = [
    ['', ''],
    ['app=web', 'app=web'],
    ['b==2, a=1', 'a=1,b=2'],
    ['z,!y, x notin (c,b), w in (a)', 'w in (a),x notin (b,c),!y,z'],
  ];
  test.each(rows)('%s', (text, expected) => expect(normalizeSelector(text)).toBe(expected));

  const refused: [text: string, message: string][] = [
    ['a!=b', 'failed to parse target selector: "!=" is not a valid label selector operator'],
    ['a>1', 'failed to parse target selector: "gt" isn\'t supported in label selectors'],
    ['a b', 'failed to parse target selector: couldn\'t parse the selector string "a b": unable to parse requirement'],
  ];
  test.each(refused)('refuses %s', (text, message) => expect(() => normalizeSelector(text)).toThrow(message));
});
