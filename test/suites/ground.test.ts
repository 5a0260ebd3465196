import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openCluster, startCluster } from '../cluster/index.ts';
import type { ClusterAccess } from '../cluster/index.ts';
import { createNamespace, useCluster, useSharedCluster } from './use-cluster.ts';

const deployment = (name: string) => ({
  metadata: { name },
  spec: {
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'main', image: 'example' }] } },
  },
});

async function createDeployment(cluster: ClusterAccess, namespace: string, name: string): Promise<string> {
  const path = `/apis/apps/v1/namespaces/${namespace}/deployments`;
  const { status, body } = await cluster.request({ method: 'POST', path, body: deployment(name) });
  expect({ status, body }).toMatchObject({ status: 201 });
  return `${path}/${name}`;
}

describe('a shared cluster', () => {
  const cluster = useSharedCluster();

  test('admits pods into a new namespace', async () => {
    const namespace = await createNamespace(cluster);
    const pod = { metadata: { name: 'one' }, spec: { containers: [{ name: 'main', image: 'example' }] } };
    const created = await cluster.request({ method: 'POST', path: `/api/v1/namespaces/${namespace}/pods`, body: pod });
    expect(created).toMatchObject({ status: 201, body: { spec: { serviceAccountName: 'default' } } });
  });

  test('authenticates user and groups by certificate, and forbids requests without a role', async () => {
    const jane = { user: 'jane', groups: ['dev', 'ops'] };
    const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
    const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
    const { body } = await cluster.request({ method: 'POST', path, body: review, as: jane });
    expect(body).toMatchObject({
      status: { userInfo: { username: 'jane', groups: ['dev', 'ops', 'system:authenticated'] } },
    });
    const forbidden = await cluster.request({ path: '/api/v1/secrets', as: jane });
    expect(forbidden).toMatchObject({ status: 403, body: { reason: 'Forbidden' } });
  });

  test('publishes the CA of its front proxy', async () => {
    const path = '/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication';
    const { body } = await cluster.request({ path });
    expect(body).toMatchObject({
      data: {
        'client-ca-file': expect.stringContaining('BEGIN CERTIFICATE'),
        'requestheader-client-ca-file': expect.stringContaining('BEGIN CERTIFICATE'),
        'requestheader-allowed-names': '["front-proxy-client"]',
      },
    });
  });
});

describe('a cluster of its own', () => {
  const cluster = useCluster({ featureGates: { AllAlpha: false }, runtimeConfig: { 'api/alpha': false } });

  test('keeps a Deployment across a crash of the API server', async () => {
    const path = await createDeployment(cluster(), 'default', 'survivor');
    await cluster().apiServer.kill();
    await expect(cluster().request({ path })).rejects.toThrow('ECONNREFUSED');
    await cluster().apiServer.start();
    const read = await cluster().request({ path });
    expect(read).toMatchObject({ status: 200, body: { metadata: { name: 'survivor' } } });
  });

  test('keeps a Deployment across a crash of etcd', async () => {
    const path = await createDeployment(cluster(), 'default', 'etcd-survivor');
    await cluster().etcd.kill();
    await cluster().etcd.start();
    await expect.poll(async () => (await cluster().request({ path })).status).toBe(200);
  });

  test('answers nothing while paused, and everything once resumed', async () => {
    cluster().apiServer.pause();
    let answered = false;
    const pending = cluster()
      .request({ path: '/version' })
      .finally(() => (answered = true));
    // A hundred responses of etcd show that enough time has passed, without a clock.
    for (let i = 0; i < 100; i += 1) await fetch(`${cluster().etcdUrl}/health`);
    expect(answered).toBe(false);
    cluster().apiServer.resume();
    expect((await pending).status).toBe(200);
  });

  test('drops old revisions in a compaction: lists and watches from before it get 410', async () => {
    const namespace = await createNamespace(cluster());
    const path = `/apis/apps/v1/namespaces/${namespace}/deployments`;
    await createDeployment(cluster(), namespace, 'first');
    const { body } = await cluster().request({ path });
    const before = (body as { metadata: { resourceVersion: string } }).metadata.resourceVersion;
    await createDeployment(cluster(), namespace, 'second');
    await cluster().compact();
    // A running server still has its watch cache; a new one does not.
    await cluster().apiServer.restart();
    const list = await cluster().request({ path: `${path}?resourceVersion=${before}&resourceVersionMatch=Exact` });
    expect(list).toMatchObject({ status: 410, body: { reason: 'Expired' } });
    const watch = await cluster().request({ path: `${path}?watch=true&resourceVersion=${before}&timeoutSeconds=5` });
    expect(JSON.stringify(watch.body)).toContain('"code":410');
  });
});

describe('parallel clusters', () => {
  test('share nothing and leave nothing behind', async () => {
    const [one, two] = await Promise.all([startCluster(), startCluster()]);
    try {
      expect(one.url).not.toBe(two.url);
      const path = await createDeployment(one, 'default', 'only-in-one');
      expect((await one.request({ path })).status).toBe(200);
      expect((await two.request({ path })).status).toBe(404);
    } finally {
      await Promise.all([one.stop(), two.stop()]);
    }
    expect([existsSync(one.directory), existsSync(two.directory)]).toEqual([false, false]);
    await expect(one.request({ path: '/version' })).rejects.toThrow('ECONNREFUSED');
  });
});

describe('the watchdog', () => {
  test('stops the servers of a killed process, also a paused one, and removes their directory', async () => {
    const script = `
      import { startCluster } from ${JSON.stringify(join(import.meta.dirname, '../cluster/index.ts'))};
      const cluster = await startCluster();
      cluster.apiServer.pause();
      process.stdout.write(cluster.directory);
      setInterval(() => {}, 1000);`;
    const owner = spawn(process.execPath, ['--input-type=module-typescript', '--eval', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [directory] = await once(owner.stdout.setEncoding('utf8'), 'data');
    const orphaned = openCluster(String(directory));
    owner.kill('SIGKILL');
    await expect.poll(() => existsSync(orphaned.directory)).toBe(false);
    await expect(fetch(orphaned.etcdUrl)).rejects.toThrow('fetch failed');
    await expect(orphaned.request({ path: '/version' })).rejects.toThrow('ECONNREFUSED');
  });
});
