import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { afterAll, expect, inject, test } from 'vitest';

import { binaryPath } from '../cluster/index.ts';
import { sharedBuild } from '../support/executable.ts';

const root = join(import.meta.dirname, '../..');
const guide = join(root, 'test/guide');
const directory = mkdtempSync(join(tmpdir(), 'guide-'));
afterAll(() => rmSync(directory, { recursive: true }));

/** The Go program of docs/testing.md, as it stands there, with what our own test does with it. Compiled once. */
async function compileGuide(): Promise<string> {
  const [, sample = ''] = /^```go\n(.*?)^```$/ms.exec(readFileSync(join(root, 'docs/testing.md'), 'utf8')) ?? [];
  const names = ['go.mod', 'go.sum', 'guide_test.go'];
  const sources = [sample, ...names.map((name) => readFileSync(join(guide, name), 'utf8'))];
  const hash = createHash('sha256').update(sources.join('\0')).digest('hex').slice(0, 16);
  const cache = join(root, '.cache', `guide-${hash}`);
  if (existsSync(join(cache, 'guide.test'))) return join(cache, 'guide.test');
  for (const name of names) copyFileSync(join(guide, name), join(directory, name));
  writeFileSync(join(directory, 'start_test.go'), sample);
  // Built as the servers are: so Go finds what they have in common in its cache.
  await promisify(execFile)('go', ['test', '-c', '-trimpath', '-ldflags=-s -w', '-o', 'guide.test', '.'], {
    cwd: directory,
    env: { ...process.env, CGO_ENABLED: '0' },
  });
  mkdirSync(cache, { recursive: true });
  copyFileSync(join(directory, 'guide.test'), join(cache, 'unfinished'));
  renameSync(join(cache, 'unfinished'), join(cache, 'guide.test'));
  return join(cache, 'guide.test');
}

test('beside etcd and kube-apiserver, what ships gives envtest pods, cascading deletion and namespaces that go', async () => {
  const program = await compileGuide();
  const assets = join(directory, 'assets');
  mkdirSync(assets);
  for (const name of ['etcd', 'kube-apiserver', 'kubectl'] as const) {
    symlinkSync(await binaryPath(name), join(assets, name));
  }
  const built = await sharedBuild(inject('sharedClusterDirectory'));
  copyFileSync(join(built, 'kube-controller-manager'), join(assets, 'kube-controller-manager'));
  const { stdout } = await promisify(execFile)(program, ['-test.v', '-test.timeout=9m'], {
    cwd: directory,
    env: { PATH: process.env['PATH'], KUBEBUILDER_ASSETS: assets, TMPDIR: directory },
  });
  expect(stdout).toContain('--- PASS: TestControllers');
});
