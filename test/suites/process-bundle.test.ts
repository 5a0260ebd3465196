import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import * as z from 'zod';

import { eventually } from '../support/eventually.ts';
import { sharedBuild } from '../support/executable.ts';
import { useCluster } from './use-cluster.ts';

const directory = mkdtempSync(join(tmpdir(), 'bundle-'));
const cluster = useCluster();
const executable = join(directory, 'another name'); // neither its name nor its place must matter
beforeAll(async () => {
  const built = await sharedBuild(inject('sharedClusterDirectory'));
  copyFileSync(join(built, 'kube-controller-manager'), executable);
});
afterAll(() => rmSync(directory, { recursive: true }));

const kubeconfig = z.looseObject({
  users: z.tuple([
    z.object({
      name: z.string(),
      user: z.object({ 'client-certificate-data': z.base64(), 'client-key-data': z.base64() }),
    }),
  ]),
});

/** The same kubeconfig, with a plugin for credentials: a part of client-node that the bundle must include. */
function withPlugin(path: string): string {
  const { users, ...rest } = kubeconfig.parse(JSON.parse(readFileSync(path, 'utf8')));
  const [{ name, user }] = users;
  const decode = (text: string): string => Buffer.from(text, 'base64').toString();
  const credentials = join(directory, 'credentials.json');
  const apiVersion = 'client.authentication.k8s.io/v1';
  const status = {
    clientCertificateData: decode(user['client-certificate-data']),
    clientKeyData: decode(user['client-key-data']),
  };
  writeFileSync(credentials, JSON.stringify({ apiVersion, kind: 'ExecCredential', status }));
  const exec = { apiVersion, command: 'cat', args: [credentials], interactiveMode: 'Never' };
  const file = join(directory, 'kubeconfig');
  writeFileSync(file, JSON.stringify({ ...rest, users: [{ name, user: { exec } }] }));
  return file;
}

const lease = z.object({ spec: z.object({ holderIdentity: z.string().default('') }) });

async function readHolder(): Promise<string> {
  const path = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-controller-manager';
  const { body } = await cluster().request({ path });
  return lease.parse(body).spec.holderIdentity;
}

test('the executable leads with the credentials of a plugin, each time as another identity, and releases the lease', async ({
  signal,
}) => {
  const args = [`--kubeconfig=${withPlugin(cluster().kubeconfig())}`, '--secure-port=0'];
  const holders = new Set<string>();
  for (const name of ['first', 'second']) {
    const manager = await cluster().startProcess({ name, program: executable, args });
    await eventually(async () => (await readHolder()) !== '', signal);
    await eventually(async () => /caches synced.*garbage-collector-controller/.test(manager.readLog()), signal);
    // All processes start from one snapshot: no identity and no time may be part of it.
    holders.add(await readHolder());
    expect(manager.readLog()).toContain(` ${manager.pid} kube-controller-manager] `);
    await manager.stop();
    expect(await readHolder()).toBe('');
  }
  expect(holders.size).toBe(2);
});

test('the executable accepts no options for Node, from its arguments or from the environment', () => {
  const run = (args: readonly string[], env: Readonly<Record<string, string>> = {}): string =>
    execFileSync(executable, args, { encoding: 'utf8', env, cwd: '/' });
  expect(run(['--version'])).toContain('Kubernetes v1.36.4\n');
  expect(run(['--version'], { NODE_OPTIONS: '--no-such-option' })).toBe(run(['--version']));
  expect(run(['--help'])).toContain('--concurrent-deployment-syncs');
  expect(() => run(['--eval', '1'])).toThrow('unknown option');
});
