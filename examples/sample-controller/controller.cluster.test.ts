import { expect, test } from 'vitest';

import { Deployments } from '../../index.ts';
import { startTestCluster } from '../../testing.ts';
import { fooController } from './controller.ts';
import { Foos } from './foo.ts';

test('creates and repairs the Deployment of a Foo, which is deleted with it', async () => {
  await using cluster = await startTestCluster({
    resources: [Foos],
    controllers: [fooController, 'deployment-controller', 'replicaset-controller', 'garbage-collector-controller'],
    nodes: 1,
  });
  const { client } = cluster;
  const foo = { namespace: 'default', name: 'a' };
  const web = { namespace: 'default', name: 'web' };
  await client.create(Foos, { metadata: foo, spec: { deploymentName: 'web' } });
  await cluster.until(Foos, foo, ({ status }) => status?.availableReplicas === 1);
  await client.patch(Foos, foo, { spec: { replicas: 2 } });
  await cluster.until(Foos, foo, ({ status }) => status?.availableReplicas === 2);
  await client.patch(Deployments, web, { spec: { replicas: 5 } });
  await cluster.until(Deployments, web, ({ spec }) => spec.replicas === 2);
  await client.delete(Foos, foo);
  await cluster.untilGone(Deployments, web);
  expect(await client.list(Foos)).toEqual([]);
});
