import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, expect, test } from 'vitest';

import { createAuthority } from '../../pkg/certificates/index.ts';
import { silentLogger } from '../../test/support/loggers.ts';
import { openAuthority } from './authority-files.ts';

const directory = mkdtempSync(join(tmpdir(), 'authority-'));
afterAll(() => rmSync(directory, { recursive: true }));

const validity = { fromMs: 0, untilMs: Date.UTC(2100, 0) };
const files = { certFile: join(directory, 'ca.crt'), keyFile: join(directory, 'ca.key') };

test('uses changed files once key and certificate match', async () => {
  const first = createAuthority({ commonName: 'first', validity });
  const second = createAuthority({ commonName: 'second', validity });
  writeFileSync(files.certFile, first.certificate);
  writeFileSync(files.keyFile, first.privateKey);
  const source = openAuthority(files, silentLogger);
  const subject = async (): Promise<string> => (await source.current()).certificate.subject;
  expect(await subject()).toBe('CN=first');
  writeFileSync(files.certFile, second.certificate);
  expect(await subject()).toBe('CN=first');
  writeFileSync(files.keyFile, second.privateKey);
  expect(await subject()).toBe('CN=second');
  rmSync(files.keyFile);
  expect(await subject()).toBe('CN=second');
});
