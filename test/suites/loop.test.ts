import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { expect, test } from 'vitest';
import { z } from 'zod';

import { Deployments, objectKey, ResourceQuotas, Secrets } from '../../pkg/api/index.ts';
import type { Picture } from '../../pkg/loop/index.ts';
import { kubectl } from '../cluster/index.ts';
import { deployFile } from '../support/deployment-account.ts';
import { eventually } from '../support/eventually.ts';
import { startManager, type Manager } from '../support/manager.ts';
import { createNamespace, useCluster } from './use-cluster.ts';
import { useNodes } from './use-nodes.ts';

const cluster = useCluster();
const nodes = useNodes(cluster, { nodes: 1 });
const paths = ['', 'page.js', 'settings', 'stream', 'objects/deployments/default/web'];
const viewer = { user: 'viewer' };
const stranger = { user: 'stranger' };

const credentials = z.object({ 'client-certificate-data': z.string(), 'client-key-data': z.string() });
const kubeconfig = z.object({ users: z.tuple([z.object({ user: credentials })]) });

const webOf = (namespace: string) => ({
  metadata: { namespace, name: 'web' },
  spec: {
    replicas: 2,
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'app', image: 'example' }] } },
  },
});

const textOf = async (manager: Manager, path: string): Promise<string> =>
  String((await manager.get(`/debug/loop/objects/${path}?format=text`)).body);

test('only those who may see the loop see anything of it, and nobody may write', async ({ signal }) => {
  await kubectl(cluster(), ['apply', '-f', deployFile('rbac.yaml')]);
  const role = '--clusterrole=kube-controller-manager-loop-viewer';
  await kubectl(cluster(), ['create', 'clusterrolebinding', 'viewer', role, '--user=viewer']);
  await using manager = await startManager(cluster(), ['--controllers=deployment-controller', '--leader-elect=false']);
  for (const path of paths) {
    const { status, body } = await manager.get(`/debug/loop/${path}`, stranger);
    expect({ path, status }).toEqual({ path, status: 403 });
    expect(String(body)).not.toContain('deployment-controller');
  }
  await eventually(async () => (await manager.get('/debug/loop/settings', viewer)).status === 200, signal);
  expect((await manager.get('/debug/loop/settings', viewer)).body).toEqual({
    name: 'kube-controller-manager',
    tries: [],
  });
  expect(String((await manager.get('/debug/loop/', viewer)).body)).toContain('page.js');
  expect((await manager.get('/debug/pprof/heap', viewer)).status).toBe(403);
  const { status } = await cluster().request({ method: 'POST', path: `${manager.baseUrl}/debug/loop/try/kill-any` });
  expect(status).toBe(405);
});

test('--profiling=false serves none of it', async () => {
  const flags = ['--controllers=deployment-controller', '--leader-elect=false', '--profiling=false'];
  await using manager = await startManager(cluster(), flags);
  for (const path of paths) expect((await manager.get(`/debug/loop/${path}`)).status).toBe(404);
});

test('the page of a Deployment that does not move names the reason', async ({ signal }) => {
  const { client } = nodes();
  const namespace = await createNamespace(cluster(), 'stuck');
  await client.create(ResourceQuotas, { metadata: { namespace, name: 'none' }, spec: { hard: { pods: '0' } } }, signal);
  await using manager = await startManager(cluster(), [
    '--controllers=deployment-controller,replicaset-controller,resourcequota-controller',
    '--leader-elect=false',
    '--use-service-account-credentials=true',
  ]);
  // Until the quota has a status that admission has observed, it limits nothing.
  const pod = { metadata: { name: 'tried' }, spec: { containers: [{ name: 'app', image: 'example' }] } };
  const tried = { method: 'POST', path: `/api/v1/namespaces/${namespace}/pods?dryRun=All`, body: pod };
  await eventually(async () => (await cluster().request(tried)).status === 403, signal);
  await client.create(Deployments, webOf(namespace), signal);
  await eventually(async () => {
    const text = await textOf(manager, `deployment/${namespace}/web`);
    return text.includes('exceeded quota: none') && text;
  }, signal);
  const page = await textOf(manager, `deployments.apps/${namespace}/web`);
  expect(page).toMatch(/ReplicaFailure=True FailedCreate/);
  expect(page).toMatch(/deployment-controller: (success|requeue_after)/);
  expect(page).toMatch(/read Deployment .*web at version/);
  const [, name] = /ReplicaSet (web-\S+):/.exec(page) ?? [];
  const owned = await textOf(manager, `replicaset/${namespace}/${name}`);
  expect(owned).toMatch(/plan create 2 × Pod/);
  expect(owned).toMatch(/sent create pods .*: 403, .*exceeded quota: none/);
  await eventually(async () => {
    const text = await textOf(manager, `replicaset/${namespace}/${name}`);
    return /replicaset-controller syncs it in .*, after \d+ failures/.test(text);
  }, signal);
  expect((await manager.get('/debug/loop/objects/deployments/nowhere/web')).status).toBe(404);
  expect((await manager.get('/debug/loop/objects/nothings/default/web')).status).toBe(404);
  await client.delete(Deployments, objectKey(namespace, 'web'), {}, signal);
});

test('contents of Secrets never appear', async ({ signal }) => {
  const { client } = nodes();
  const namespace = await createNamespace(cluster(), 'secret');
  const keyFile = `--service-account-private-key-file=${cluster().files.serviceAccountKey}`;
  await using manager = await startManager(cluster(), [keyFile, '--leader-elect=false']);
  await readStream(manager, 1); // from now on, what reconciles read, plan and request is recorded
  const annotations = { 'kubernetes.io/service-account.name': 'default' };
  const metadata = { namespace, name: 'hidden', annotations };
  await client.create(Secrets, { metadata, type: 'kubernetes.io/service-account-token' }, signal);
  const token = await eventually(async () => {
    const { data } = await client.get(Secrets, objectKey(namespace, 'hidden'), signal);
    return data?.['token'] ?? false;
  }, signal);
  const [account, secret] = await Promise.all(
    ['serviceaccounts', 'secrets'].map((resource) =>
      manager.get(`/debug/loop/objects/${resource}/${namespace}/${resource === 'secrets' ? 'hidden' : 'default'}`),
    ),
  );
  const shown = JSON.stringify([account, secret, await readStream(manager, 2)]);
  expect(shown).toContain(namespace);
  for (const text of [token, Buffer.from(token, 'base64').toString()]) expect(shown).not.toContain(text);
});

test('the stream has the whole picture first, and then the changes of it', async ({ signal }) => {
  const { client } = nodes();
  const namespace = await createNamespace(cluster(), 'picture');
  await using manager = await startManager(cluster(), [
    '--leader-elect=false',
    '--use-service-account-credentials=true',
  ]);
  const first = await readStream(manager, 1, `?namespace=${namespace}`);
  const picture = JSON.parse(first.split(/\ndata: |\n\n/)[1] ?? '') as Picture;
  expect(picture.items.map(({ kind }) => kind)).toEqual(['Node']);
  await client.create(Deployments, webOf(namespace), signal);
  await eventually(async () => {
    const items = await readStream(manager, 1, `?namespace=${namespace}&kind=Pod`);
    return items.split('"state":"good"').length === 3;
  }, signal);
});

/** The kubeconfig of the administrator is JSON. */
function adminCertificate(): { readonly cert: Buffer; readonly key: Buffer } {
  const config = kubeconfig.parse(JSON.parse(readFileSync(cluster().kubeconfig(), 'utf8')));
  const { 'client-certificate-data': cert, 'client-key-data': key } = config.users[0].user;
  return { cert: Buffer.from(cert, 'base64'), key: Buffer.from(key, 'base64') };
}

/** The first messages of the stream. */
async function readStream(manager: Manager, messages: number, query = ''): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const url = `${manager.baseUrl}/debug/loop/stream${query}`;
  const { cert, key } = adminCertificate();
  const outgoing = request(url, { rejectUnauthorized: false, cert, key, agent: false }, (response) => {
    let text = '';
    response.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      if (text.split('\n\n').length <= messages) return;
      outgoing.destroy();
      resolve(text);
    });
  });
  outgoing.on('error', reject);
  outgoing.end();
  return promise;
}
