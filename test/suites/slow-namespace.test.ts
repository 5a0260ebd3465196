import { expect, test } from 'vitest';

import { parseTime, Pods } from '../../pkg/api/index.ts';
import { ClientBuilder, loadKubeconfig } from '../../pkg/client/index.ts';
import { systemClock } from '../../pkg/time/index.ts';
import { eventually, watchUntil } from '../support/eventually.ts';
import { followLease } from '../support/follow-lease.ts';
import { startManager } from '../support/manager.ts';
import { startSlowWebhook } from '../support/slow-webhook.ts';
import { WorkloadUser } from '../support/workload-user.ts';
import { createNamespace, useCluster } from './use-cluster.ts';

const cluster = useCluster();
const renewDeadlineMs = 4000;
const lease = { namespace: 'kube-system', name: 'kube-controller-manager' };
const flags = [
  '--controllers=deployment-controller,replicaset-controller',
  '--use-service-account-credentials=true',
  '--leader-elect-lease-duration=6s',
  `--leader-elect-renew-deadline=${renewDeadlineMs}ms`,
  '--leader-elect-retry-period=1s',
];

test('one slow namespace delays neither the lease nor other namespaces nor health checks', async ({ signal }) => {
  const connection = await loadKubeconfig({ path: cluster().kubeconfig() }, systemClock);
  const clients = new ClientBuilder({ connection, clock: systemClock, userAgent: 'test' });
  const client = clients.clientFor('user');
  const [slow, innocent] = [await createNamespace(cluster(), 'slow'), await createNamespace(cluster(), 'innocent')];
  await using webhook = await startSlowWebhook(cluster(), {
    namespace: slow,
    operation: 'CREATE',
    quick: 500, // so that controllers have many creates in flight
    answerMs: 7000,
  });
  await using manager = await startManager(cluster(), flags);
  const slowUser = new WorkloadUser(client, slow, signal);
  for (let index = 0; index < 8; index++) await slowUser.deployment(`slow-${index}`, { replicas: 400 });
  await eventually(async () => webhook.pending >= 60, signal);

  const history = await followLease(client, lease);
  await new WorkloadUser(client, innocent, signal).deployment('innocent', { replicas: 20 });
  await watchUntil(client, Pods, { namespace: innocent, count: 20 }, () => true, signal);
  // All workers of ReplicaSets are still busy in the slow namespace.
  expect(webhook.asked).toBeLessThan(1500);
  let user = 0;
  const isAnswered = async (): Promise<boolean> => {
    const asked = await manager.get('/metrics', { user: `stranger-${user++}` }); // for each one a review of its own
    return asked.status === 403 && (await manager.get('/healthz')).status === 200;
  };
  const renewals = (): number[] => history.specs.map(({ renewTime }) => parseTime(renewTime) ?? 0);
  await eventually(async () => {
    expect(await isAnswered()).toBe(true);
    const [first = 0] = renewals();
    return (renewals().at(-1) ?? 0) - first > 3 * renewDeadlineMs;
  }, signal);
  await history.end();
  const gaps = renewals().map((atMs, index) => atMs - (renewals()[index - 1] ?? atMs));
  expect(Math.max(...gaps)).toBeLessThan(renewDeadlineMs);
  expect(new Set(history.specs.map(({ holderIdentity }) => holderIdentity)).size).toBe(1);
  expect(webhook.pending).toBeGreaterThan(0);
  await manager.kill();
  clients.close();
});
