import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, describe, expect, test, vi } from 'vitest';

import { fooController } from '../../examples/sample-controller/controller.ts';
import { Foos } from '../../examples/sample-controller/foo.ts';
import { ConfigMaps, Deployments, Pods, type ConfigMap } from '../../pkg/api/index.ts';
import { TerminalError } from '../../pkg/controller/index.ts';
import { controllerFor } from '../../pkg/operator/index.ts';
import { configMap, startTestCluster, TestClusterError, UnmetError } from '../../pkg/testing/index.ts';
import { binaryPath, isSandbox } from '../cluster/index.ts';

afterEach(() => vi.unstubAllEnvs());

describe.for(isSandbox ? ['sandbox'] : ['sandbox', 'kube-apiserver'])('a test cluster on %s', (server) => {
  test('runs an operator, controllers of Kubernetes and nodes', async ({ onTestFinished }) => {
    if (server === 'kube-apiserver') {
      const assets = mkdtempSync(join(tmpdir(), 'assets-'));
      onTestFinished(() => rmSync(assets, { recursive: true }));
      for (const name of ['etcd', 'kube-apiserver'] as const) symlinkSync(await binaryPath(name), join(assets, name));
      vi.stubEnv('KUBEBUILDER_ASSETS', assets); // which is all that a test need not say
    } else vi.stubEnv('KUBEBUILDER_ASSETS', '');
    await using cluster = await startTestCluster({
      resources: [Foos],
      controllers: ['deployment-controller', 'replicaset-controller', 'garbage-collector-controller'],
      nodes: 1,
    });
    const { client } = cluster;
    const key = { namespace: 'default', name: 'a' };
    await client.create(Foos, { metadata: key, spec: { deploymentName: 'a' } });
    {
      await using _ = await cluster.run(fooController);
      await cluster.until(Foos, key, ({ status }) => status?.availableReplicas === 1);
    }
    const [pod] = await client.list(Pods, { namespace: 'default' });
    expect(pod?.spec.nodeName).toBe('node-0');
    await client.delete(Foos, key);
    await cluster.untilGone(Deployments, key);
  });
});

describe('a wait that is not met', () => {
  const key = { namespace: 'default', name: 'a' };
  const failing = controllerFor(ConfigMaps, {
    name: 'failing',
    async reconcile({ metadata }) {
      if (metadata.name === key.name) throw new TerminalError('no way');
    },
  });
  const startFailing = () => startTestCluster({ server: 'sandbox', controllers: [failing], timeoutMs: 500 });

  test('says how the object is, and how its last reconcile failed', async () => {
    using written = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    await using cluster = await startFailing();
    await cluster.client.create(ConfigMaps, configMap({ name: 'a' }, { x: '1' }));
    await expect.poll(() => written.mock.calls.join('')).toMatch(/E.*reconcile failed.*no way/s);
    const isWanted = ({ data }: ConfigMap): boolean => data?.['x'] === '2';
    const unmet = cluster.until(ConfigMaps, key, isWanted);
    await expect(unmet).rejects.toThrow(UnmetError);
    await expect(unmet).rejects.toThrow(/^not met within 500ms: ConfigMap default\/a is {.*"data":{"x":"1"}/);
    await expect(unmet).rejects.toThrow('the last reconcile of failing failed: TerminalError: no way');
    await expect(cluster.untilGone(ConfigMaps, key, { timeoutMs: 50 })).rejects.toThrow('not met within 50ms');
    const signal = AbortSignal.abort();
    await expect(cluster.untilGone(ConfigMaps, key, { signal })).rejects.toThrow('not met when the wait ended');
  });

  test('says that the object does not exist', async () => {
    await using cluster = await startFailing();
    await expect(cluster.until(ConfigMaps, key)).rejects.toThrow(/not met within 500ms: .*"a" not found/);
  });
});

test('a silent test cluster writes no errors', async () => {
  using written = vi.spyOn(process.stderr, 'write');
  let calls = 0;
  const failing = controllerFor(ConfigMaps, {
    name: 'failing',
    async reconcile() {
      calls += 1;
      throw new Error('no way');
    },
  });
  await using cluster = await startTestCluster({ server: 'sandbox', controllers: [failing], logger: false });
  await cluster.client.create(ConfigMaps, configMap());
  await expect.poll(() => calls).toBeGreaterThan(1);
  expect(written.mock.calls.join('')).not.toContain('no way');
});

test('a test cluster refuses unknown controllers', async () => {
  const unknown = startTestCluster({ controllers: ['deployments'] });
  await expect(unknown).rejects.toThrow('there is no controller "deployments", but ');
  vi.stubEnv('KUBEBUILDER_ASSETS', '/nowhere');
  await expect(startTestCluster()).rejects.toThrow(TestClusterError);
});
