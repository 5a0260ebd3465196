import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, describe, expect, test, vi } from 'vitest';

import { fooController } from '../../examples/sample-controller/controller.ts';
import { Foos } from '../../examples/sample-controller/foo.ts';
import { Deployments, Pods } from '../../pkg/api/index.ts';
import { startTestCluster, TestClusterError } from '../../pkg/testing/index.ts';
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

test('a test cluster refuses unknown controllers', async () => {
  const unknown = startTestCluster({ controllers: ['deployments'] });
  await expect(unknown).rejects.toThrow('there is no controller "deployments", but ');
  vi.stubEnv('KUBEBUILDER_ASSETS', '/nowhere');
  await expect(startTestCluster()).rejects.toThrow(TestClusterError);
});
