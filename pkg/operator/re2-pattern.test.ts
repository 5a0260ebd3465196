import { describe, expect, test } from 'vitest';

import { re2PatternOf } from './re2-pattern.ts';

describe('re2PatternOf', () => {
  const kept: readonly (readonly [string, RegExp, string])[] = [
    ['a plain pattern', /^[a-z]([-a-z0-9]*[a-z0-9])?$/, '^[a-z]([-a-z0-9]*[a-z0-9])?$'],
    ['flags', /^a.b$/ims, '(?ism)^a.b$'],
    ['flags without a meaning for a test', /a/dgu, 'a'],
    ['escaped punctuation', /a\.b\/c/, 'a\\.b\\/c'],
    ['code points', /\x41\u0042\u{1F600}/u, '\\x{41}\\x{0042}\\x{1F600}'],
    ['a named group', /(?<year>\d{4})/, '(?P<year>\\d{4})'],
    ['nested repeats up to the limit', /^((?:\d{2,5}){1,10}-?){20,}x{900}$/, '^((?:\\d{2,5}){1,10}-?){20,}x{900}$'],
    ['repeats beside each other', /(a{500}|b{500}){2}c{1000}/, '(a{500}|b{500}){2}c{1000}'],
    ['repeats of any times', /(a{1000}){0,}(b{1000})*/, '(a{1000}){0,}(b{1000})*'],
    ['repeats of no times', /(?:(a{500}){0}b){1000}/, '(?:(a{500}){0}b){1000}'],
    ['braces in a class', /[({](a[)}{]){1000}/, '[({](a[)}{]){1000}'],
    ['any character', /[^]/, '[\\s\\S]'],
    ['a bracket in a class', /[[:a]/, '[\\[:a]'],
    ['a backspace', /[\b]\b/, '[\\x{08}]\\b'],
    ['categories and scripts', /\p{Lu}\P{Script=Greek}/u, '\\p{Lu}\\P{Greek}'],
    ['a question mark after a parenthesis in a class', /[(?=]/, '[(?=]'],
  ];
  for (const [name, given, expected] of kept) {
    test(`keeps ${name}`, () => expect(re2PatternOf(given)).toEqual({ pattern: expected }));
  }

  const refused: readonly (readonly [RegExp, string])[] = [
    [/(?=a)/, 'a look-around'],
    [/(?<!a)b/, 'a look-around'],
    [/(a)\1/, 'a back-reference'],
    [/(?<n>a)\k<n>/, 'a back-reference'],
    [/a{1001}/, 'a repeat of more than 1000'],
    [/^(\d{1,200}){1,200}$/, 'nested repeats of more than 1000 together'],
    [/((a{10}b)?c|d{2}){101,}/, 'nested repeats of more than 1000 together'],
    [/\cA/, 'the escape \\c'],
    [/\p{Extended_Pictographic}/u, 'the class \\p{Extended_Pictographic}'],
    [new RegExp('[]'), 'an empty class'],
    [/a/y, 'the flag y'],
    [/\uD83D/, 'half of a surrogate pair'],
  ];
  for (const [given, what] of refused) {
    test(`refuses ${what}: ${String(given)}`, () => expect(re2PatternOf(given)).toEqual({ refused: what }));
  }
});
