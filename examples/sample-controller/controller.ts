import { controllerFor, Deployments, type DraftOf } from '../../index.ts';
import { Foos, type Foo } from './foo.ts';

/** Keeps a Deployment for each Foo, and reports how many of its pods are available. */
export const fooController = controllerFor(Foos, {
  name: 'sample-controller',
  owns: [Deployments],
  workers: 2,
  async reconcile(foo, { ensure, patchStatus, event }) {
    const deployment = await ensure(Deployments, deploymentOf(foo));
    await patchStatus({ availableReplicas: deployment.status?.availableReplicas ?? 0 });
    event('Normal', 'Synced', 'Foo synced successfully');
  },
});

function deploymentOf({ metadata, spec }: Foo): DraftOf<typeof Deployments> {
  const labels = { app: 'nginx', controller: metadata.name };
  return {
    metadata: { name: spec.deploymentName, labels },
    spec: {
      replicas: spec.replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'nginx', image: 'nginx:latest' }] } },
    },
  };
}
