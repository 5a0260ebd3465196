import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { settle } from '../../test/support/fake-clock.ts';
import { openLogStream } from './stream.ts';

describe('openLogStream', () => {
  let folder = '';
  let path = '';
  let fd = 0;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'log-stream-'));
    path = join(folder, 'log');
    fd = openSync(path, 'w');
  });

  afterEach(() => rmSync(folder, { recursive: true }));

  test('writes all lines of a turn, in order, when the turn ends', async () => {
    const stream = openLogStream(fd);
    for (const line of ['a\n', 'b\n', 'c\n']) stream.write(line);
    await settle();
    await settle();
    expect(readFileSync(path, 'utf8')).toBe('a\nb\nc\n');
    stream.write('d\n');
    stream.flush();
    expect(readFileSync(path, 'utf8')).toBe('a\nb\nc\nd\n');
    closeSync(fd);
  });

  test('loses nothing of a burst larger than its buffer', () => {
    const stream = openLogStream(fd);
    const lines = Array.from({ length: 10_000 }, (_, i) => `line ${i}\n`);
    for (const line of lines) stream.write(line);
    stream.flush();
    expect(readFileSync(path, 'utf8')).toBe(lines.join(''));
    closeSync(fd);
  });

  test('continues without an error if nothing can be written', () => {
    closeSync(fd);
    fd = openSync(path, 'r');
    const stream = openLogStream(fd);
    for (let i = 0; i < 100; i++) {
      stream.write(`${'x'.repeat(1000)}\n`);
      expect(() => stream.flush()).not.toThrow();
    }
    closeSync(fd);
  });

  test('writes the remaining lines when the process exits in the middle of a turn', () => {
    const script = `
      import { openLogStream } from ${JSON.stringify(new URL('stream.ts', import.meta.url).href)};
      openLogStream(1).write('last words\\n');
      process.exit(0);`;
    const output = execFileSync(process.execPath, ['--input-type=module', '--eval', script], { encoding: 'utf8' });
    expect(output).toBe('last words\n');
    closeSync(fd);
  });
});
