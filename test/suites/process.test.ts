import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { exitCodes } from '../../cmd/kube-controller-manager/exit-codes.ts';
import { startManager, type Manager } from '../support/manager.ts';
import { parsePrometheusText, type PrometheusFamily } from '../support/prometheus-text.ts';
import { isSandbox, startGoControllerManager } from '../cluster/index.ts';
import { useCluster } from './use-cluster.ts';

const cluster = useCluster();
const leasePath = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-controller-manager';
/** Short durations, so that the lease of a killed holder expires soon. */
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

  test('waits for a server that does not run, and leads once it does', async () => {
    await cluster().apiServer.stop();
    await using manager = await startManager(cluster(), [], { until: 'serving' });
    await using impatient = await startManager(cluster(), [], { until: 'serving' });
    const waits = (): number => manager.logs().split('waiting for the API server').length - 1;
    await expect.poll(waits).toBe(2); // longer than the time limit without leader election
    expect(await impatient.stop()).toBe(exitCodes.ok);
    expect(impatient.logs()).not.toMatch(/^kube-controller-manager: /m);
    await cluster().apiServer.start();
    await manager.leading();
    expect(await manager.stop()).toBe(exitCodes.ok);
  });

  test('exits at once on a second signal', async () => {
    await using manager = await startManager(cluster(), shortTerms); // it leaves its lease behind
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

/** The holder renews all the time, so a write may conflict: retry until one succeeds. */
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

/** The metrics that the Go binary serves about its own work, with their types. */
const reference = `
  cronjob_controller_job_creation_skew_duration_seconds histogram
  device_taint_eviction_controller_pod_deletion_duration_seconds histogram
  device_taint_eviction_controller_pod_deletions_total counter
  endpoint_slice_controller_syncs counter
  endpoint_slice_mirroring_controller_endpoints_sync_duration histogram
  ephemeral_volume_controller_create_failures_total counter
  ephemeral_volume_controller_create_total counter
  garbagecollector_controller_resources_sync_error_total counter
  horizontal_pod_autoscaler_controller_num_horizontal_pod_autoscalers gauge
  informer_processing_latency_seconds histogram
  informer_queued_items gauge
  kubernetes_feature_enabled gauge
  leader_election_master_status gauge
  node_collector_evictions_total counter
  node_collector_unhealthy_nodes_in_zone gauge
  node_collector_update_all_nodes_health_duration_seconds histogram
  node_collector_update_node_health_duration_seconds histogram
  node_collector_zone_health gauge
  node_collector_zone_size gauge
  process_cpu_seconds_total counter
  process_max_fds gauge
  process_network_receive_bytes_total counter
  process_network_transmit_bytes_total counter
  process_open_fds gauge
  process_resident_memory_bytes gauge
  process_start_time_seconds gauge
  process_virtual_memory_bytes gauge
  process_virtual_memory_max_bytes gauge
  replicaset_controller_sorting_deletion_age_ratio histogram
  rest_client_exec_plugin_certificate_rotation_age histogram
  rest_client_exec_plugin_ttl_seconds gauge
  rest_client_rate_limiter_duration_seconds histogram
  rest_client_request_duration_seconds histogram
  rest_client_request_size_bytes histogram
  rest_client_requests_total counter
  rest_client_response_size_bytes histogram
  rest_client_transport_cache_entries gauge
  rest_client_transport_cert_rotation_gc_calls_total counter
  rest_client_transport_create_calls_total counter
  retroactive_storageclass_errors_total counter
  retroactive_storageclass_total counter
  root_ca_cert_publisher_sync_duration_seconds histogram
  root_ca_cert_publisher_sync_total counter
  taint_eviction_controller_pod_deletion_duration_seconds histogram
  taint_eviction_controller_pod_deletions_total counter
  ttl_after_finished_controller_job_deletion_duration_seconds histogram
  version_info gauge
  workqueue_adds_total counter
  workqueue_depth gauge
  workqueue_longest_running_processor_seconds gauge
  workqueue_queue_duration_seconds histogram
  workqueue_retries_total counter
  workqueue_unfinished_work_seconds gauge
  workqueue_work_duration_seconds histogram
`;
const metrics = reference
  .trim()
  .split('\n')
  .map((line) => line.trim().split(' ') as [name: string, type: string]);
const metricNames = metrics.map(([name]) => name);
/** Those of the packages that the Go binary shares with kube-apiserver, for parts that are here too. */
const accessMetrics = [
  'authenticated_user_requests',
  'authentication_attempts',
  'authentication_duration_seconds',
  'authorization_attempts_total',
  'authorization_duration_seconds',
];
/** The Go binary serves these too: about its runtime, about parts of kube-apiserver that it never uses, and about metrics. */
const withoutMeaning =
  /^(go|aggregator|apiextensions|apiserver|cardinality_enforcement|disabled_metrics|hidden_metrics|registered_metrics)_/;

/** The parts that dashboards rely on: the type, the names of labels, the buckets. */
function shapeOf(family: PrometheusFamily | undefined): string {
  const samples = family?.samples ?? [];
  const labels = new Set(samples.flatMap((sample) => Object.keys(sample.labels)));
  const buckets = new Set(samples.flatMap((sample) => sample.labels['le'] ?? []));
  return `${family?.type ?? 'absent'} ${[...labels].toSorted().join(',')} ${[...buckets].map(Number).join(',')}`;
}

async function createNode(): Promise<void> {
  await cluster().request({ method: 'POST', path: '/api/v1/nodes', body: { metadata: { name: 'silent' } } });
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
      const served = metrics.map(([name]) => [name, families.get(name)?.type]);
      expect(served).toEqual(metrics);
      const transports = families.get('rest_client_transport_create_calls_total')?.samples ?? [];
      expect(transports.map(({ labels, value }) => [labels['result'], value > 0])).toEqual([
        ['hit', true],
        ['miss', true],
      ]);
      expect((await manager.get('/configz', scraper)).status).toBe(403);
    });
  });

  test('serve metrics of the same types, labels and buckets as the Go binary', async () => {
    const flags = ['--leader-elect=false', '--use-service-account-credentials=true'];
    const go = await startGoControllerManager(cluster(), flags);
    const read = async (url: string): Promise<ReadonlyMap<string, PrometheusFamily>> =>
      parsePrometheusText(String((await cluster().request({ path: `${url}/metrics` })).body));
    const hasAll = (families: ReadonlyMap<string, PrometheusFamily>): boolean =>
      ['node_collector_zone_size', 'workqueue_depth'].every((name) => families.has(name));
    await createNode();
    await expect.poll(async () => hasAll(await read(go.url))).toBe(true);
    const theirs = await read(go.url);
    await go.process.stop();
    await using manager = await startManager(cluster(), [...flags, `--root-ca-file=${cluster().files.ca}`]);
    await expect.poll(async () => hasAll(await read(manager.baseUrl))).toBe(true);
    const ours = await read(manager.baseUrl);
    const isMissing = (name: string): boolean => !ours.has(name) && !withoutMeaning.test(name);
    expect([...theirs.keys()].filter(isMissing)).toEqual([]);
    const compared = [...metricNames, ...accessMetrics].filter((name) => theirs.has(name));
    expect(compared.map((name) => `${name} ${shapeOf(ours.get(name))}`)).toEqual(
      compared.map((name) => `${name} ${shapeOf(theirs.get(name))}`),
    );
    expect(compared.length).toBeGreaterThan(40);
  });

  test('show the current configuration, flags and graph, and change the verbosity', async () => {
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
    const graph = await manager.get('/debug/controllers/garbage-collector-controller/graph');
    expect(graph).toMatchObject({ status: 200, body: expect.stringMatching(/^strict digraph full \{\n[^]*\}\n$/) });
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
