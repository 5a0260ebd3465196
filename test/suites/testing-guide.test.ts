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

import { afterAll, afterEach, expect, inject, test, vi } from 'vitest';

import { binaryPath, startCluster } from '../cluster/index.ts';
import { eventually } from '../support/eventually.ts';
import { sharedBuild } from '../support/executable.ts';

const root = join(import.meta.dirname, '../..');
const guide = join(root, 'test/guide');
const directory = mkdtempSync(join(tmpdir(), 'guide-'));
afterAll(() => rmSync(directory, { recursive: true }));
afterEach(() => vi.unstubAllEnvs());

/** A program of docs/testing.md, unchanged. */
function readSample(language: 'go' | 'ts'): string {
  const text = readFileSync(join(root, 'docs/testing.md'), 'utf8');
  const [, sample] = new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'ms').exec(text) ?? [];
  if (sample === undefined) throw new Error(`docs/testing.md has no program in ${language}`);
  return sample;
}

/** The Go program, with our own test of it. Compiled once. */
async function compileGuide(): Promise<string> {
  const sample = readSample('go');
  const names = ['go.mod', 'go.sum', 'guide_test.go'];
  const sources = [sample, ...names.map((name) => readFileSync(join(guide, name), 'utf8'))];
  const hash = createHash('sha256').update(sources.join('\0')).digest('hex').slice(0, 16);
  const cache = join(root, '.cache', `guide-${hash}`);
  if (existsSync(join(cache, 'guide.test'))) return join(cache, 'guide.test');
  for (const name of names) copyFileSync(join(guide, name), join(directory, name));
  writeFileSync(join(directory, 'start_test.go'), sample);
  // Built like the servers, so that Go can use its cache.
  await promisify(execFile)('go', ['test', '-c', '-trimpath', '-ldflags=-s -w', '-o', 'guide.test', '.'], {
    cwd: directory,
    env: { ...process.env, CGO_ENABLED: '0' },
  });
  mkdirSync(cache, { recursive: true });
  copyFileSync(join(directory, 'guide.test'), join(cache, 'unfinished'));
  renameSync(join(cache, 'unfinished'), join(cache, 'guide.test'));
  return join(cache, 'guide.test');
}

test('beside etcd and kube-apiserver, the executable gives envtest pods, cascading deletion and namespace deletion', async () => {
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

type StartControllers = (kubeconfig: string, controllers: string) => AsyncDisposable;

test('the TypeScript of the guide gives pods, cascading deletion and namespace deletion', async ({ signal }) => {
  const file = join(directory, 'start-controllers.ts');
  writeFileSync(file, readSample('ts'));
  const { startControllers } = (await import(file)) as { startControllers: StartControllers };
  vi.stubEnv('PATH', `${await sharedBuild(inject('sharedClusterDirectory'))}:${process.env['PATH']}`);
  await using cluster = await startCluster();
  const list = 'deployment,replicaset,garbagecollector,namespace';
  await using controllers = startControllers(cluster.kubeconfig(), list);
  expect(controllers).toBeDefined();
  const create = async (path: string, body: object): Promise<{ metadata: { uid: string } }> => {
    const answer = await cluster.request({ method: 'POST', path, body });
    expect(answer.status).toBe(201);
    return answer.body as { metadata: { uid: string } };
  };
  const isGone = async (path: string): Promise<boolean> => (await cluster.request({ path })).status === 404;

  const inDefault = '/api/v1/namespaces/default';
  await create(`${inDefault}/serviceaccounts`, { metadata: { name: 'default' } }); // pods are admitted with one only
  const labels = { app: 'web' };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'web' }] } };
  const spec = { replicas: 3, selector: { matchLabels: labels }, template };
  await create('/apis/apps/v1/namespaces/default/deployments', { metadata: { name: 'web' }, spec });
  const readPods = async (): Promise<unknown> => (await cluster.request({ path: `${inDefault}/pods` })).body;
  await eventually(async () => ((await readPods()) as { items: unknown[] }).items.length === 3, signal);

  const { uid } = (await create(`${inDefault}/configmaps`, { metadata: { name: 'owner' } })).metadata;
  const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid }];
  await create(`${inDefault}/configmaps`, { metadata: { name: 'owned', ownerReferences } });
  await cluster.request({ method: 'DELETE', path: `${inDefault}/configmaps/owner` });
  await eventually(() => isGone(`${inDefault}/configmaps/owned`), signal);

  await create('/api/v1/namespaces', { metadata: { name: 'team' } });
  await cluster.request({ method: 'DELETE', path: '/api/v1/namespaces/team' });
  await eventually(() => isGone('/api/v1/namespaces/team'), signal);
});
