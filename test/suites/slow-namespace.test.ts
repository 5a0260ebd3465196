import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

import { expect, test } from 'vitest';

import { parseTime, Pods } from '../../pkg/api/index.ts';
import { ClientBuilder, loadKubeconfig } from '../../pkg/client/index.ts';
import { systemClock } from '../../pkg/time/index.ts';
import { eventually, watchUntil } from '../support/eventually.ts';
import { followLease } from '../support/follow-lease.ts';
import { certificate, privateKey } from '../support/loopback-certificate.ts';
import { startManager } from '../support/manager.ts';
import { WorkloadUser } from '../support/workload-user.ts';
import { createNamespace, useCluster } from './use-cluster.ts';

const cluster = useCluster();
const answerMs = 7000;
const renewDeadlineMs = 4000;
const lease = { namespace: 'kube-system', name: 'kube-controller-manager' };
const flags = [
  '--controllers=deployment-controller,replicaset-controller',
  '--use-service-account-credentials=true',
  '--leader-elect-lease-duration=6s',
  `--leader-elect-renew-deadline=${renewDeadlineMs}ms`,
  '--leader-elect-retry-period=1s',
];

interface SlowWebhook extends AsyncDisposable {
  readonly url: string;
  /** Pods that it was asked about. */
  asked: number;
  /** Questions that it has not answered yet. */
  pending: number;
}

interface Review {
  readonly request: { readonly uid: string };
}

/** Admits everything: the first `quick` pods at once, so that controllers have many creates under way, then slowly. */
async function startSlowWebhook(quick: number): Promise<SlowWebhook> {
  const server = createServer({ cert: certificate, key: privateKey }, (request, response) => {
    json(request).then(
      (review) => admit(review as Review, response),
      () => response.destroy(),
    );
  });
  const timers = new Set<NodeJS.Timeout>();
  const admit = (review: Review, response: ServerResponse): void => {
    webhook.asked += 1;
    webhook.pending += 1;
    const answer = (): void => {
      webhook.pending -= 1;
      const body = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview' };
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ ...body, response: { uid: review.request.uid, allowed: true } }));
    };
    if (webhook.asked <= quick) answer();
    else timers.add(setTimeout(answer, answerMs));
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const webhook = {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: 0,
    pending: 0,
    async [Symbol.asyncDispose]() {
      for (const timer of timers) clearTimeout(timer);
      server.closeAllConnections();
      server.close();
    },
  };
  return webhook;
}

async function registerWebhook(url: string, namespace: string): Promise<void> {
  const body = {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name: 'slow' },
    webhooks: [
      {
        name: 'slow.example.com',
        clientConfig: { url, caBundle: Buffer.from(certificate).toString('base64') },
        rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }],
        namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
        timeoutSeconds: 30,
      },
    ],
  };
  const path = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations';
  expect(await cluster().request({ method: 'POST', path, body })).toMatchObject({ status: 201 });
}

test('one slow namespace costs neither the lease nor other namespaces nor the health checks', async ({ signal }) => {
  const connection = await loadKubeconfig({ path: cluster().kubeconfig() }, systemClock);
  const clients = new ClientBuilder({ connection, clock: systemClock, userAgent: 'test' });
  const client = clients.clientFor('user');
  const [slow, innocent] = [await createNamespace(cluster(), 'slow'), await createNamespace(cluster(), 'innocent')];
  await using webhook = await startSlowWebhook(500);
  await registerWebhook(webhook.url, slow);
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
