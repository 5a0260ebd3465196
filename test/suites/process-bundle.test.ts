import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { afterAll, expect, test } from 'vitest';
import * as z from 'zod';

import { eventually } from '../support/eventually.ts';
import { useCluster } from './use-cluster.ts';

const root = join(import.meta.dirname, '../..');
const directory = mkdtempSync(join(tmpdir(), 'bundle-'));
const cluster = useCluster();
afterAll(() => rmSync(directory, { recursive: true }));

const kubeconfig = z.looseObject({
  users: z.tuple([
    z.object({
      name: z.string(),
      user: z.object({ 'client-certificate-data': z.base64(), 'client-key-data': z.base64() }),
    }),
  ]),
});

/** The same kubeconfig, but for a plugin that gives the credentials: what of client-node must not be left out. */
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

test('the bundle leads with the credentials of a plugin, and gives the lease back when it ends', async ({ signal }) => {
  await promisify(execFile)(process.execPath, ['scripts/build.ts'], { cwd: root });
  const program = join(root, 'dist', 'kube-controller-manager');
  const args = [`--kubeconfig=${withPlugin(cluster().kubeconfig())}`, '--secure-port=0'];
  const manager = await cluster().startProcess({ name: 'bundle', program, args });
  const holder = async (): Promise<string> => {
    const path = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-controller-manager';
    const { body } = await cluster().request({ path });
    return z.object({ spec: z.object({ holderIdentity: z.string().default('') }) }).parse(body).spec.holderIdentity;
  };
  await eventually(async () => (await holder()) !== '', signal);
  await eventually(async () => /caches synced.*garbage-collector-controller/.test(manager.readLog()), signal);
  await manager.stop();
  expect(await holder()).toBe('');
});
