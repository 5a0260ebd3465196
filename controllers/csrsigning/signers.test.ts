import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, describe, expect, test } from 'vitest';

import { createAuthority } from '../../pkg/certificates/index.ts';
import { FlagError } from '../../pkg/flags/index.ts';
import { checkSigningFiles, selectSigners } from './signers.ts';

const directory = mkdtempSync(join(tmpdir(), 'signers-'));
afterAll(() => rmSync(directory, { recursive: true }));

const validity = { fromMs: 0, untilMs: Date.UTC(2100, 0) };
const [first, second] = ['first', 'second'].map((commonName) => createAuthority({ commonName, validity }));
function write(name: string, text = ''): string {
  const path = join(directory, name);
  writeFileSync(path, text);
  return path;
}
const cert = write('ca.crt', first?.certificate);
const key = write('ca.key', first?.privateKey);
const otherKey = write('other.key', second?.privateKey);
const bundle = write('bundle.crt', `${first?.certificate}${second?.certificate}`);

const all = [
  'kubernetes.io/kubelet-serving',
  'kubernetes.io/kube-apiserver-client-kubelet',
  'kubernetes.io/kube-apiserver-client',
  'kubernetes.io/legacy-unknown',
];

describe('selectSigners', () => {
  const rows = [
    { name: 'no files, no signers', files: {}, expected: [] },
    {
      name: 'one pair for all',
      files: { 'cluster-signing-cert-file': cert, 'cluster-signing-key-file': key },
      expected: all,
    },
    { name: 'half a pair for all signers is ignored', files: { 'cluster-signing-cert-file': cert }, expected: [] },
    {
      name: 'a signer with files of its own, and no other',
      files: { 'cluster-signing-kubelet-client-cert-file': cert, 'cluster-signing-kubelet-client-key-file': key },
      expected: ['kubernetes.io/kube-apiserver-client-kubelet'],
    },
  ];
  for (const { name, files, expected } of rows) {
    test(name, () => {
      expect(() => checkSigningFiles(files)).not.toThrow();
      expect(selectSigners(files).map((signer) => signer.name)).toEqual(expected);
    });
  }
});

describe('checkSigningFiles', () => {
  const both = (certFile: string, keyFile: string): Record<string, string> => ({
    'cluster-signing-cert-file': certFile,
    'cluster-signing-key-file': keyFile,
  });
  const rows = [
    {
      name: 'a key without a certificate',
      files: { 'cluster-signing-kubelet-serving-key-file': key },
      message:
        '--cluster-signing-kubelet-serving-key-file: cannot be set without --cluster-signing-kubelet-serving-cert-file',
    },
    {
      name: 'a certificate without a key',
      files: { 'cluster-signing-legacy-unknown-cert-file': cert },
      message:
        '--cluster-signing-legacy-unknown-cert-file: cannot be set without --cluster-signing-legacy-unknown-key-file',
    },
    {
      name: 'one pair for all, and another',
      files: {
        ...both(cert, key),
        'cluster-signing-kubelet-client-cert-file': cert,
        'cluster-signing-kubelet-client-key-file': key,
      },
      message: '--cluster-signing-cert-file: cannot be set together with --cluster-signing-kubelet-client-cert-file',
    },
    {
      name: 'a file that is not there',
      files: both('/nowhere.crt', key),
      message: '--cluster-signing-cert-file: /nowhere.crt: ENOENT',
    },
    {
      name: 'two certificates',
      files: both(bundle, key),
      message: `--cluster-signing-cert-file: ${bundle}: contains 2 certificates: it must contain one`,
    },
    {
      name: 'a certificate in place of the key',
      files: both(cert, cert),
      message: `--cluster-signing-key-file: ${cert}: contains no`,
    },
    {
      name: 'the key of another',
      files: both(cert, otherKey),
      message: `--cluster-signing-key-file: ${otherKey}: is not the key of the certificate in --cluster-signing-cert-file`,
    },
  ];
  for (const { name, files, message } of rows) {
    test(`refuses ${name}`, () => {
      expect(() => checkSigningFiles(files)).toThrow(FlagError);
      expect(() => checkSigningFiles(files)).toThrow(message);
    });
  }
});
