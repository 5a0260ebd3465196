import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { exitCodes } from '../../cmd/kube-controller-manager/exit-codes.ts';
import { startManager, type Manager } from '../support/manager.ts';
import { parsePrometheusText } from '../support/prometheus-text.ts';
import { isSandbox } from '../cluster/index.ts';
import { useCluster } from './use-cluster.ts';

const cluster = useCluster();
const leasePath = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-controller-manager';
/** Short terms, so that a lease whose holder was killed expires soon. */
const shortTerms = [
  '--leader-elect-lease-duration=3s',
  '--leader-elect-renew-deadline=2s',
  '--leader-elect-retry-period=500ms',
];

interface LeaseBody {
  readonly spec: { readonly holderIdentity: string; readonly leaseTransitions: number };
}

async function readLease(): Promise<LeaseBody['spec']> {
  const { status, body } = await cluster().request({ path: leasePath });
  expect(status).toBe(200);
  return (body as LeaseBody).spec;
}

describe('a controller manager', () => {
  test("starts with kubeadm's command line, serves, and ends cleanly on SIGTERM", async () => {
    const { files } = cluster();
    await using manager = await startManager(cluster(), [
      '--allocate-node-cidrs=true',
      '--cluster-cidr=10.244.0.0/16',
      '--cluster-name=kubernetes',
      `--cluster-signing-cert-file=${files.ca}`,
      `--cluster-signing-key-file=${files.caKey}`,
      '--controllers=*,bootstrapsigner,tokencleaner',
      '--leader-elect=true',
      `--root-ca-file=${files.ca}`,
      `--service-account-private-key-file=${files.serviceAccountKey}`,
      '--service-cluster-ip-range=10.96.0.0/12',
      '--use-service-account-credentials=true',
    ]);
    const health = await manager.get('/healthz?verbose');
    expect(health.body).toContain('[+]leaderElection ok');
    expect(health.body).toContain('[+]deployment-controller ok');
    expect((await readLease()).holderIdentity).not.toBe('');
    expect(await manager.stop()).toBe(exitCodes.ok);
    expect((await readLease()).holderIdentity).toBe('');
    expect(manager.logs()).toContain('released the lease');
  });

  test('hands over at once when its leader is asked to stop', async () => {
    await using first = await startManager(cluster());
    const { holderIdentity: firstHolder, leaseTransitions } = await readLease();
    await using second = await startManager(cluster(), [], { until: 'serving' });
    expect(second.logs()).not.toContain('acquired the lease');
    expect(await first.stop()).toBe(exitCodes.ok);
    await second.leading();
    const lease = await readLease();
    expect(lease.holderIdentity).not.toBe(firstHolder);
    expect(lease.leaseTransitions).toBe(leaseTransitions + 1);
    expect(await second.stop()).toBe(exitCodes.ok);
  });

  test('takes over from a killed leader when its lease has expired', async () => {
    await using first = await startManager(cluster(), shortTerms);
    await using second = await startManager(cluster(), shortTerms, { until: 'serving' });
    const { holderIdentity } = await readLease();
    await first.kill();
    await second.leading();
    expect((await readLease()).holderIdentity).not.toBe(holderIdentity);
    expect(await second.stop()).toBe(exitCodes.ok);
  });

  test('exits with an error when another holds its lease', async () => {
    await using manager = await startManager(cluster(), shortTerms);
    await stealLease('a thief');
    expect(await manager.exited).toBe(exitCodes.failed);
    expect(manager.logs()).toMatch(/kube-controller-manager: lost the lease .*a thief holds it/);
  });

  test('waits for a server that is away, and leads once it is there', async () => {
    await cluster().apiServer.stop();
    await using manager = await startManager(cluster(), [], { until: 'serving' });
    await using impatient = await startManager(cluster(), [], { until: 'serving' });
    const waits = (): number => manager.logs().split('waiting for the API server').length - 1;
    await expect.poll(waits).toBe(2); // longer than what others give it
    expect(await impatient.stop()).toBe(exitCodes.ok);
    expect(impatient.logs()).not.toMatch(/^kube-controller-manager: /m);
    await cluster().apiServer.start();
    await manager.leading();
    expect(await manager.stop()).toBe(exitCodes.ok);
  });

  test('exits at once on a second signal', async () => {
    await using manager = await startManager(cluster());
    cluster().apiServer.pause(); // the lease cannot be released, which the first signal would wait for
    try {
      manager.signal('SIGTERM');
      manager.signal('SIGINT');
      expect(await manager.exited).toBe(exitCodes.interrupted);
    } finally {
      cluster().apiServer.resume();
    }
  });
});

/** The holder renews all the time: a write that comes between is refused, so try until one gets through. */
async function stealLease(thief: string): Promise<void> {
  for (;;) {
    const { body } = await cluster().request({ path: leasePath });
    const lease = body as LeaseBody;
    const stolen = { ...lease, spec: { ...lease.spec, holderIdentity: thief } };
    const { status } = await cluster().request({ path: leasePath, method: 'PUT', body: stolen });
    if (status === 200) return;
    expect(status).toBe(409);
  }
}

describe('its endpoints', () => {
  const stranger = { user: 'stranger' };
  const scraper = { user: 'scraper' };

  async function withManager(check: (manager: Manager) => Promise<void>): Promise<void> {
    await using manager = await startManager(cluster());
    await check(manager);
    expect(await manager.stop()).toBe(exitCodes.ok);
  }

  test.skipIf(isSandbox)('show health to anyone, metrics only to those with permission', async () => {
    await allowMetrics(scraper.user);
    await withManager(async (manager) => {
      for (const path of ['/healthz', '/livez', '/readyz']) {
        expect((await manager.get(path, stranger)).status).toBe(200);
      }
      for (const path of ['/metrics', '/configz', '/flagz', '/statusz', '/debug/pprof/']) {
        expect((await manager.get(path, stranger)).status).toBe(403);
      }
      const { status, body } = await manager.get('/metrics', scraper);
      expect(status).toBe(200);
      const families = parsePrometheusText(String(body));
      const running = families.get('running_managed_controllers')?.samples ?? [];
      expect(running.find(({ labels }) => labels['name'] === 'deployment-controller')?.value).toBe(1);
      expect(families.get('leader_election_master_status')?.samples[0]?.value).toBe(1);
      expect(families.has('workqueue_depth')).toBe(true);
      expect(families.has('rest_client_requests_total')).toBe(true);
      expect((await manager.get('/configz', scraper)).status).toBe(403);
    });
  });

  test('tell the configuration and flags in force, and change the verbosity', async () => {
    const file = join(cluster().directory, 'manager.yaml');
    writeFileSync(file, 'Generic:\n  MinResyncPeriod: 1h\n  LeaderElection: { leaseDuration: 20s }\n');
    await using manager = await startManager(cluster(), [`--config=${file}`, '--leader-elect-lease-duration=30s']);
    const { body } = await manager.get('/configz');
    expect(body).toMatchObject({
      'kubecontrollermanager.config.k8s.io': {
        Generic: { MinResyncPeriod: '1h0m0s', LeaderElection: { leaseDuration: '30s' } },
      },
    });
    const path = `${manager.baseUrl}/debug/flags/v`;
    const answer = await cluster().request({ path, method: 'PUT', body: 5 });
    expect(answer).toEqual({ status: 200, body: 'successfully set klog.logging.verbosity to 5\n' });
    expect((await manager.get('/flagz')).body).toMatch(/min-resync-period[=: ]+1h0m0s/);
    expect(await manager.stop()).toBe(exitCodes.ok);
  });
});

async function allowMetrics(user: string): Promise<void> {
  const base = '/apis/rbac.authorization.k8s.io/v1';
  const role = { metadata: { name: 'metrics' }, rules: [{ nonResourceURLs: ['/metrics'], verbs: ['get'] }] };
  const binding = {
    metadata: { name: 'metrics' },
    subjects: [{ kind: 'User', name: user, apiGroup: 'rbac.authorization.k8s.io' }],
    roleRef: { kind: 'ClusterRole', name: 'metrics', apiGroup: 'rbac.authorization.k8s.io' },
  };
  await cluster().request({ method: 'POST', path: `${base}/clusterroles`, body: role });
  await cluster().request({ method: 'POST', path: `${base}/clusterrolebindings`, body: binding });
}
