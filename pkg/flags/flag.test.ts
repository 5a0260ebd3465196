import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, describe, expect, test } from 'vitest';

import { atLeast, between, moreThanZero, oneOf } from './checks.ts';
import { checkFlagFiles, flag, FlagError, readFlag, readFlagFile, readFlags, type Flag } from './flag.ts';
import { formatValue, type FlagType } from './go-types.ts';

const values: { type: FlagType; given: string[]; expected: unknown }[] = [
  { type: 'bool', given: ['T'], expected: true },
  { type: 'bool', given: ['true', '0'], expected: false },
  { type: 'duration', given: ['1m30s'], expected: 90_000 },
  { type: 'duration', given: [], expected: 0 },
  { type: 'int32', given: ['-5'], expected: -5 },
  { type: 'int32', given: ['0x10'], expected: 16 },
  { type: 'float32', given: ['0.55'], expected: 0.55 },
  { type: 'strings', given: ['a,b', 'c'], expected: ['a', 'b', 'c'] },
  { type: 'strings', given: ['"a,b",c'], expected: ['a,b', 'c'] },
  { type: 'strings', given: [''], expected: [] },
  { type: 'int32Slice', given: ['29,23'], expected: [29, 23] },
  { type: 'stringToString', given: ['a=1', 'b=2,c=3'], expected: { a: '1', b: '2', c: '3' } },
  { type: 'quantity', given: ['2Ki'], expected: 2048 },
  {
    type: 'namedCertKey',
    given: ['a.crt,a.key:x.io,y.io', 'b.crt,b.key'],
    expected: ['a.crt,a.key:x.io,y.io', 'b.crt,b.key'],
  },
];

const refused: { type: FlagType; given: string; why: RegExp }[] = [
  { type: 'bool', given: 'yes', why: /true or false/ },
  { type: 'duration', given: '10', why: /duration/ },
  { type: 'duration', given: '5 minutes', why: /duration/ },
  { type: 'int32', given: '2147483648', why: /between/ },
  { type: 'int32', given: '1.5', why: /whole number/ },
  { type: 'float', given: '', why: /number/ },
  { type: 'ip', given: 'localhost', why: /IP address/ },
  { type: 'quantity', given: '1 GB', why: /size/ },
  { type: 'quantity', given: '1K', why: /size/ },
  { type: 'stringToString', given: 'a', why: /key=value/ },
  { type: 'namedCertKey', given: 'a.crt', why: /certfile,keyfile/ },
];

describe('readFlag', () => {
  for (const { type, given, expected } of values) {
    test(`reads ${type} ${JSON.stringify(given)}`, () =>
      expect(readFlag('x', flag(type, { help: '' }), given)).toEqual(expected));
  }
  for (const { type, given, why } of refused) {
    test(`refuses ${type} "${given}" and names flag and value`, () => {
      const parse = (): unknown => readFlag('some-flag', flag(type, { help: '' }), [given]);
      expect(parse).toThrow(FlagError);
      expect(parse).toThrow(why);
      expect(parse).toThrow(`invalid argument "${given}" for "--some-flag" flag: `);
    });
  }
});

describe('formatValue', () => {
  test('writes durations and lists as flags do', () => {
    expect(formatValue('duration', 43_200_000)).toBe('12h0m0s');
    expect(formatValue('strings', ['a', 'b'])).toBe('[a,b]');
  });
});

const checked: { name: string; declared: Flag; given: string; message: string }[] = [
  {
    name: 'a number below its minimum',
    declared: flag('int32', { help: '', check: atLeast(1) }),
    given: '0',
    message: '--x: must be at least 1, got 0',
  },
  {
    name: 'a number above its maximum',
    declared: flag('int', { help: '', check: between(1, 50) }),
    given: '51',
    message: '--x: must be between 1 and 50, got 51',
  },
  {
    name: 'a duration that must be positive',
    declared: flag('duration', { help: '', check: moreThanZero() }),
    given: '-1m',
    message: '--x: must be more than 0, got -1m0s',
  },
  {
    name: 'a text that is not one of the choices',
    declared: flag('string', { help: '', check: oneOf('', 'external') }),
    given: 'aws',
    message: '--x: must be empty or "external", got "aws"',
  },
];

describe('the check of a flag refuses', () => {
  for (const { name, declared, given, message } of checked) {
    test(`${name}, naming the flag`, () => {
      expect(() => readFlag('x', declared, [given])).toThrow(new FlagError('InvalidValue', 'x', message));
    });
  }
});

describe('readFlags', () => {
  const table = {
    syncs: flag('int32', { help: '', default: 5, check: atLeast(1) }),
    period: flag('duration', { help: '', default: '1m30s' }),
    names: flag('strings', { help: '', default: 'a,b' }),
    verbose: flag('bool', { help: '' }),
  };

  test('gives each flag its default, and Go zero values where there is none', () => {
    expect(readFlags(table, new Map())).toEqual({ syncs: 5, period: 90_000, names: ['a', 'b'], verbose: false });
  });

  test('reads what was set and ignores flags of others', () => {
    const given = new Map([
      ['syncs', ['1', '7']],
      ['names', ['c']],
      ['other', ['x']],
    ]);
    const values = readFlags(table, given);
    const syncs: number = values.syncs;
    expect([syncs, values.names]).toEqual([7, ['c']]);
  });
});

describe('a flag that names a file', () => {
  const directory = mkdtempSync(join(tmpdir(), 'flags-'));
  afterAll(() => rmSync(directory, { recursive: true }));
  const content = (text: string): string => {
    if (text !== 'good') throw new Error('contains no good');
    return text;
  };
  const table = { 'ca-file': flag('string', { help: '', content }) };
  const write = (name: string, text: string): string => {
    const path = join(directory, name);
    writeFileSync(path, text);
    return path;
  };
  const check = (path: string): void => checkFlagFiles(table, { 'ca-file': path });

  test('may be empty, or name a file that can be used', () => {
    expect(() => check('')).not.toThrow();
    expect(() => check(write('good', 'good'))).not.toThrow();
  });

  test('refuses a file that does not exist, naming flag and path', () => {
    expect(() => check(join(directory, 'nowhere'))).toThrow(/^--ca-file: .*nowhere: ENOENT/);
  });

  test('refuses a file that cannot be used, with the reason', () => {
    const path = write('bad', 'x');
    const error = new FlagError('UnusableFile', 'ca-file', `--ca-file: ${path}: contains no good`);
    expect(() => check(path)).toThrow(error);
    expect(() => check(path)).toThrow(expect.objectContaining({ reason: 'UnusableFile', flag: 'ca-file' }));
  });

  test('is read by the controller, unless it is empty', () => {
    expect(readFlagFile('', content)).toBeUndefined();
    expect(readFlagFile(write('again', 'good'), content)).toBe('good');
  });
});
