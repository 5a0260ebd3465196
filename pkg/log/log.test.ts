import { describe, expect, test } from 'vitest';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { createLogger } from './create-logger.ts';
import type { LoggerOptions } from './create-logger.ts';
import type { Logger } from './logger.ts';
import { scrubFields } from './scrub.ts';
import type { LogStream } from './stream.ts';

class MemoryStream implements LogStream {
  text = '';

  write(line: string): void {
    this.text += line;
  }

  flush(): void {}
}

function log(options: Partial<LoggerOptions>, write: (logger: Logger) => void): string {
  const destination = new MemoryStream();
  // Local time, as klog writes it, so that the test holds in every time zone.
  const clock = new FakeClock(new Date(2026, 0, 2, 3, 4, 5, 67).getTime());
  write(createLogger({ format: 'text', verbosity: 0, destination, clock, source: 'kcm', ...options }));
  return destination.text;
}

const withoutPid = (text: string): string => text.replace(String(process.pid).padStart(7), '      1');
const lastJson = (text: string): unknown => JSON.parse(text.trimEnd().split('\n').at(-1) ?? '');

describe('text', () => {
  const rows: readonly { name: string; write: (logger: Logger) => void; expected: string }[] = [
    {
      name: 'a line has severity, local time, process and source',
      write: (logger) => logger.info({}, 'started'),
      expected: 'I0102 03:04:05.067000       1 kcm] "started"\n',
    },
    {
      name: 'text values are quoted',
      write: (logger) => logger.warn({ key: 'ns/a "b"', n: 3, on: true, gone: null, skip: undefined }, 'odd'),
      expected: 'W0102 03:04:05.067000       1 kcm] "odd" key="ns/a \\"b\\"" n=3 on=true gone=null\n',
    },
    {
      name: 'lists and objects are JSON',
      write: (logger) => logger.info({ list: ['a', 1], object: { a: { b: 1 } }, set: new Set(['x']) }, 'm'),
      expected: 'I0102 03:04:05.067000       1 kcm] "m" list=["a",1] object={"a":{"b":1}} set=["x"]\n',
    },
    {
      name: 'text of several lines stays readable',
      write: (logger) => logger.info({ text: 'a\nb' }, 'm'),
      expected: 'I0102 03:04:05.067000       1 kcm] "m" text=<\n\ta\n\tb\n >\n',
    },
    {
      name: 'an error is its message and the messages of its causes',
      write: (logger) => logger.error({ err: new Error('get pod a', { cause: new Error('refused') }) }, 'failed'),
      expected: 'E0102 03:04:05.067000       1 kcm] "failed" err="get pod a: refused"\n',
    },
    {
      name: 'a child adds its fields to those of its parents',
      write: (logger) => logger.child({ controller: 'job' }).child({ key: 'a' }).info({ n: 1 }, 'm'),
      expected: 'I0102 03:04:05.067000       1 kcm] "m" controller="job" key="a" n=1\n',
    },
  ];
  for (const { name, write, expected } of rows) {
    test(name, () => expect(withoutPid(log({}, write))).toBe(expected));
  }
});

describe('json', () => {
  const ts = new Date(2026, 0, 2, 3, 4, 5, 67).getTime();
  const rows: readonly { name: string; write: (logger: Logger) => void; expected: object }[] = [
    {
      name: 'info is at verbosity 0',
      write: (logger) => logger.info({ key: 'a' }, 'm'),
      expected: { ts, v: 0, msg: 'm', key: 'a' },
    },
    { name: 'verbose is at 3', write: (logger) => logger.verbose({}, 'm'), expected: { ts, v: 3, msg: 'm' } },
    { name: 'debug is at 4', write: (logger) => logger.debug({}, 'm'), expected: { ts, v: 4, msg: 'm' } },
    { name: 'trace is at 5', write: (logger) => logger.trace({}, 'm'), expected: { ts, v: 5, msg: 'm' } },
    {
      name: 'a warning has its level',
      write: (logger) => logger.warn({}, 'm'),
      expected: { ts, v: 0, level: 'warn', msg: 'm' },
    },
    {
      name: 'an error is text under err',
      write: (logger) => logger.child({ controller: 'job' }).error({ err: new Error('no') }, 'm'),
      expected: { ts, level: 'error', msg: 'm', err: 'no', controller: 'job', stack: expect.stringContaining('no') },
    },
  ];
  for (const { name, write, expected } of rows) {
    test(name, () => expect(lastJson(log({ format: 'json', verbosity: 5 }, write))).toEqual(expected));
  }
});

describe('verbosity', () => {
  const rows = [
    { verbosity: 0, expected: 'EWI' },
    { verbosity: 2, expected: 'EWI' },
    { verbosity: 3, expected: 'EWIV' },
    { verbosity: 4, expected: 'EWIVD' },
    { verbosity: 5, expected: 'EWIVDT' },
    { verbosity: 10, expected: 'EWIVDT' },
  ];
  for (const format of ['text', 'json'] as const) {
    for (const { verbosity, expected } of rows) {
      test(`-v=${verbosity} writes ${expected} as ${format}`, () => {
        const text = log({ format, verbosity }, (logger) => {
          for (const target of [logger, logger.child({ child: true })]) {
            target.error({}, '<E>');
            target.warn({}, '<W>');
            target.info({}, '<I>');
            target.verbose({}, '<V>');
            target.debug({}, '<D>');
            target.trace({}, '<T>');
          }
        });
        const written = [...text.matchAll(/<(.)>/g)].map(([, letter]) => letter).join('');
        expect(written).toBe(expected + expected);
      });
    }
  }
});

describe('a change of the verbosity', () => {
  for (const format of ['text', 'json'] as const) {
    test(`applies to existing loggers and their children, as ${format}`, () => {
      let verbosity = 0;
      const text = log({ format, verbosity: () => verbosity }, (logger) => {
        const child = logger.child({ child: true });
        child.debug({}, '<0>');
        verbosity = 4;
        child.debug({}, '<1>');
        logger.debug({}, '<2>');
        child.trace({}, '<3>');
        verbosity = 0;
        child.debug({}, '<4>');
      });
      expect([...text.matchAll(/<(.)>/g)].map(([, digit]) => digit)).toEqual(['1', '2']);
    });
  }
});

describe('destinations', () => {
  for (const format of ['text', 'json'] as const) {
    test(`errors can have their own destination, as ${format}`, () => {
      const infoDestination = new MemoryStream();
      const errors = log({ format, infoDestination }, (logger) => {
        logger.error({}, '<E>');
        logger.child({ a: 1 }).warn({}, '<W>');
        logger.info({}, '<I>');
        logger.child({ a: 1 }).error({}, '<F>');
      });
      expect([...errors.matchAll(/<(.)>/g)].map(([, letter]) => letter)).toEqual(['E', 'F']);
      expect([...infoDestination.text.matchAll(/<(.)>/g)].map(([, letter]) => letter)).toEqual(['W', 'I']);
    });
  }
});

describe('scrubFields', () => {
  const jwt = 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ4In0.c2ln';
  const secrets: readonly { name: string; fields: object }[] = [
    { name: 'an authorization header', fields: { headers: { Authorization: 'Bearer hunter2' } } },
    { name: 'a token by its name', fields: { token: 'hunter2' } },
    { name: 'a token at the end of a name', fields: { bootstrapToken: 'hunter2', id_token: 'hunter2' } },
    {
      name: 'the data of a Secret',
      fields: { secret: { data: { password: 'hunter2' }, stringData: { x: 'hunter2' } } },
    },
    { name: 'client keys', fields: { 'client-key-data': 'hunter2', clientKey: 'hunter2', 'tls.key': 'hunter2' } },
    { name: 'passwords', fields: { password: 'hunter2', dbPasswd: 'hunter2' } },
    { name: 'a bearer token inside text', fields: { line: 'sent Bearer hunter2 to server' } },
    { name: 'a bearer token inside an error', fields: { err: new Error('sent Authorization: Bearer hunter2') } },
    { name: 'a password in an address', fields: { url: 'https://admin:hunter2@proxy:8080/x' } },
    {
      name: 'a private key',
      fields: { text: '-----BEGIN RSA PRIVATE KEY-----\nhunter2\n-----END RSA PRIVATE KEY-----' },
    },
    { name: 'a secret in a list', fields: { list: [{ token: 'hunter2' }] } },
    { name: 'a secret in a map', fields: { map: new Map([['token', 'hunter2']]) } },
  ];
  for (const { name, fields } of secrets) {
    test(`redacts ${name}`, () => {
      const scrubbed = JSON.stringify(scrubFields(fields, { stacks: true }));
      expect(scrubbed).not.toContain('hunter2');
      expect(scrubbed).toContain('[redacted]');
    });
  }

  test('redacts signed tokens in a text', () => {
    expect(scrubFields({ text: `got ${jwt}.` }, { stacks: false })).toEqual({ text: 'got [redacted].' });
  });

  test('keeps fields whose name only resembles a credential', () => {
    const fields = { key: 'ns/name', secretName: 'a', tokenExpirySeconds: 3, keys: ['a'], dataSize: 1 };
    expect(scrubFields(fields, { stacks: false })).toEqual(fields);
  });

  test('stops at objects that contain themselves', () => {
    const cycle: { self?: unknown } = {};
    cycle.self = cycle;
    expect(JSON.stringify(scrubFields({ cycle }, { stacks: false }))).toContain('[too deep]');
  });

  test('shows the stack of an error that must be a bug', () => {
    expect(scrubFields({ err: new TypeError('x is not a function') }, { stacks: false })).toHaveProperty('stack');
    expect(scrubFields({ err: new Error('conflict') }, { stacks: false })).not.toHaveProperty('stack');
  });

  test('lists the errors of an AggregateError', () => {
    const err = new AggregateError([new Error('a'), new Error('b')], 'both failed');
    expect(scrubFields({ err }, { stacks: false })).toEqual({ err: 'both failed [a, b]' });
  });
});
