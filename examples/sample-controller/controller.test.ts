import { expect, test } from 'vitest';

import { Deployments } from '../../index.ts';
import { build, deployment, simulate } from '../../testing.ts';
import { fooController } from './controller.ts';
import { Foos } from './foo.ts';

const foo = build(Foos, { name: 'a' }, { spec: { deploymentName: 'web', replicas: 3 } });

test('creates the Deployment and reports its status', async () => {
  await using run = await simulate(fooController, [foo]);
  const made = await run.client.get(Deployments, { namespace: 'default', name: 'web' });
  expect(made).toMatchObject({ spec: { replicas: 3 }, metadata: { ownerReferences: [{ kind: 'Foo', name: 'a' }] } });
  await run.client.patchStatus(Deployments, made, { availableReplicas: 2 });
  await run.settle();
  expect((await run.client.get(Foos, foo)).status).toEqual({ availableReplicas: 2 });
});

test('refuses a Deployment that is not its own', async () => {
  await using run = await simulate(fooController, [foo, deployment({ name: 'web' })]);
  expect(run.writes).toEqual([]);
  expect(run.events).toContainEqual({
    kind: 'Foo',
    object: 'default/a',
    type: 'Warning',
    reason: 'ErrResourceExists',
    message: 'Resource "web" already exists and is not managed by Foo',
  });
});
