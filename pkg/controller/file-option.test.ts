import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, describe, expect, test } from 'vitest';

import { createAuthority } from '../certificates/index.ts';
import { fileOption, parseCertificates, readFileOption } from './file-option.ts';

const directory = mkdtempSync(join(tmpdir(), 'file-option-'));
afterAll(() => rmSync(directory, { recursive: true }));

const hourMs = 3600 * 1000;
const { certificate, privateKey } = createAuthority({
  commonName: 'test',
  validity: { fromMs: Date.parse('2026-01-01T00:00:00Z'), untilMs: Date.parse('2026-01-01T00:00:00Z') + hourMs },
});

function write(name: string, content: string): string {
  const path = join(directory, name);
  writeFileSync(path, content);
  return path;
}

describe('a file option', () => {
  const option = fileOption(parseCertificates);

  test('is empty unless given, and stays the path it was given', () => {
    const path = write('good', certificate);
    expect([option.parse(undefined), option.parse(''), option.parse(path)]).toEqual(['', '', path]);
  });

  test('refuses a file that is not there', () => {
    expect(option.safeParse(join(directory, 'nowhere')).error?.issues[0]?.message).toMatch(/nowhere: .*ENOENT/);
  });

  test('refuses a file that is of no use, and says why', () => {
    const path = write('bad', 'x');
    expect(option.safeParse(path).error?.issues[0]?.message).toBe(`${path}: contains no certificate`);
  });

  test('is read by its parser, and not at all when empty', () => {
    expect(readFileOption('', parseCertificates)).toBeUndefined();
    expect(readFileOption(write('again', certificate), parseCertificates)).toBe(certificate);
  });
});

describe('parseCertificates', () => {
  const broken = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';
  const taken = [
    { name: 'takes one', pem: certificate },
    { name: 'takes several, and what stands between them', pem: `${certificate}# next\n${certificate}` },
  ];
  for (const { name, pem } of taken) test(name, () => expect(parseCertificates(pem)).toBe(pem));

  const refused = [
    { name: 'refuses nothing', pem: '', message: 'contains no certificate' },
    { name: 'refuses a key', pem: privateKey, message: 'contains no certificate' },
    { name: 'refuses one that cannot be read', pem: certificate + broken, message: 'cannot be read' },
  ];
  for (const { name, pem, message } of refused) {
    test(name, () => expect(() => parseCertificates(pem)).toThrow(message));
  }
});
