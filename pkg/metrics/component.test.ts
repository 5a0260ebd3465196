import { describe, expect, test } from 'vitest';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { parsePrometheusText, sampleValue } from '../../test/support/prometheus-text.ts';
import type { PrometheusFamily } from '../../test/support/prometheus-text.ts';
import {
  createControllerMetrics,
  createLeaderElectionMetrics,
  createReconcileMetrics,
  recordBuildInfo,
  recordFeatures,
} from './component.ts';
import {
  defineProcessMetrics,
  defineRuntimeMetrics,
  octetsIn,
  runEventLoopLagMeter,
  softLimitIn,
  virtualMemoryIn,
} from './process.ts';
import { createMetricsRegistry } from './registry.ts';
import type { MetricsRegistry } from './registry.ts';
import { createExecPluginMetrics, createRestClientMetrics } from './rest-client.ts';

const scrape = async (registry: MetricsRegistry): Promise<ReadonlyMap<string, PrometheusFamily>> =>
  parsePrometheusText(await registry.metrics());

describe('client metrics', () => {
  test('a request is counted by status and measured by verb', async () => {
    const registry = createMetricsRegistry();
    const metrics = createRestClientMetrics(registry, ['server:6443']);
    const series = { verb: 'GET', host: 'server:6443' };
    expect(sampleValue(await scrape(registry), 'rest_client_request_duration_seconds_count', series)).toBe(0);
    metrics.requestFinished({ ...series, code: '200', durationMs: 30, requestBytes: 0, responseBytes: 2_000_000 });
    metrics.requestFinished({ ...series, code: '<error>', durationMs: 1, requestBytes: 0, responseBytes: 0 });
    metrics.rateLimiterWaited({ ...series, waitedMs: 200 });
    const families = await scrape(registry);
    const count = (name: string, labels: object): unknown => sampleValue(families, name, { ...labels });
    expect(count('rest_client_requests_total', { code: '200', method: 'GET', host: 'server:6443' })).toBe(1);
    expect(count('rest_client_requests_total', { code: '<error>', method: 'GET', host: 'server:6443' })).toBe(1);
    expect(count('rest_client_request_duration_seconds_bucket', { ...series, le: '0.025' })).toBe(1);
    expect(count('rest_client_request_duration_seconds_bucket', { ...series, le: '0.1' })).toBe(2);
    expect(count('rest_client_response_size_bytes_bucket', { ...series, le: '4.194304e+06' })).toBe(2);
    expect(count('rest_client_rate_limiter_duration_seconds_sum', series)).toBe(0.2);
  });

  test('plugin certificates: the first to expire counts, and the age of replaced ones is observed', async () => {
    const registry = createMetricsRegistry();
    const metrics = createExecPluginMetrics(registry, () => 1_000_000);
    const [first, second] = [metrics.follow(), metrics.follow()];
    expect(sampleValue(await scrape(registry), 'rest_client_exec_plugin_ttl_seconds')).toBe(Infinity);
    first({ issuedAtMs: 0, expiresAtMs: 1_060_000 });
    second({ issuedAtMs: 0, expiresAtMs: 1_090_000 });
    expect(sampleValue(await scrape(registry), 'rest_client_exec_plugin_ttl_seconds')).toBe(60);
    first({ issuedAtMs: 1_000_000, expiresAtMs: 2_000_000 });
    const families = await scrape(registry);
    expect(sampleValue(families, 'rest_client_exec_plugin_ttl_seconds')).toBe(90);
    expect(sampleValue(families, 'rest_client_exec_plugin_certificate_rotation_age_sum')).toBe(1000);
  });

  test('shared and new connections have different results', async () => {
    const registry = createMetricsRegistry();
    const metrics = createRestClientMetrics(registry);
    for (const shared of [false, true, true, false]) metrics.connectionsTaken(shared);
    metrics.connectionsClosed();
    const families = await scrape(registry);
    expect(sampleValue(families, 'rest_client_transport_create_calls_total', { result: 'miss' })).toBe(2);
    expect(sampleValue(families, 'rest_client_transport_create_calls_total', { result: 'hit' })).toBe(2);
    expect(sampleValue(families, 'rest_client_transport_cache_entries')).toBe(1);
  });
});

describe('component metrics', () => {
  test('leadership is a gauge per lease, present before the first election', async () => {
    const registry = createMetricsRegistry();
    const metrics = createLeaderElectionMetrics(registry, ['kcm']);
    expect(sampleValue(await scrape(registry), 'leader_election_master_status', { name: 'kcm' })).toBe(0);
    metrics.setLeading('kcm', true);
    metrics.countSlowPath('kcm');
    const families = await scrape(registry);
    expect(sampleValue(families, 'leader_election_master_status', { name: 'kcm' })).toBe(1);
    expect(sampleValue(families, 'leader_election_slowpath_total', { name: 'kcm' })).toBe(1);
  });

  test('a feature is 1 if it is enabled, labelled with its stage', async () => {
    const registry = createMetricsRegistry();
    recordFeatures(registry, [
      { name: 'Old', stage: '', enabled: true },
      { name: 'New', stage: 'ALPHA', enabled: false },
    ]);
    const families = await scrape(registry);
    expect(sampleValue(families, 'kubernetes_feature_enabled', { name: 'Old', stage: '' })).toBe(1);
    expect(sampleValue(families, 'kubernetes_feature_enabled', { name: 'New', stage: 'ALPHA' })).toBe(0);
  });

  test('build and compatible releases are labels', async () => {
    const registry = createMetricsRegistry();
    recordBuildInfo(registry, {
      major: '1',
      minor: '36',
      gitVersion: 'v1.36.4',
      gitCommit: 'abc',
      gitTreeState: 'clean',
      buildDate: '2026-01-01T00:00:00Z',
      runtimeVersion: 'v26.10.0',
      compiler: 'v8',
      platform: 'linux/x64',
    });
    const compatible = { component: 'kube', binary: '1.36', emulation: '1.36', min_compat: '1.35' };
    expect(sampleValue(await scrape(registry), 'version_info', compatible)).toBe(1);
  });

  test('a controller is at zero until it runs', async () => {
    const registry = createMetricsRegistry();
    const metrics = createControllerMetrics(registry, 'kcm', ['job-controller', 'cronjob-controller']);
    metrics.setRunning('job-controller', true);
    const families = await scrape(registry);
    const running = (name: string): unknown =>
      sampleValue(families, 'running_managed_controllers', { name, manager: 'kcm' });
    expect([running('job-controller'), running('cronjob-controller')]).toEqual([1, 0]);
  });

  test('every outcome of a reconcile exists from the start', async () => {
    const registry = createMetricsRegistry();
    const metrics = createReconcileMetrics(registry, 'job-controller');
    metrics.observe('error', 20);
    metrics.active(() => 3);
    const families = await scrape(registry);
    const total = (outcome: string): unknown =>
      sampleValue(families, 'controller_reconcile_total', { controller: 'job-controller', outcome });
    expect(['success', 'requeue_after', 'error', 'terminal_error'].map(total)).toEqual([0, 0, 1, 0]);
    const labels = { controller: 'job-controller' };
    expect(sampleValue(families, 'controller_reconcile_duration_seconds_sum', labels)).toBe(0.02);
    expect(sampleValue(families, 'controller_active_workers', labels)).toBe(3);
  });
});

describe('process metrics', () => {
  test('are numbers, each under its name', async () => {
    const registry = createMetricsRegistry();
    defineProcessMetrics(registry);
    defineRuntimeMetrics(registry);
    const values = [...(await scrape(registry)).values()].map(({ name, samples }) => ({
      name,
      value: samples[0]?.value,
    }));
    expect(values.filter(({ value = Number.NaN }) => !(value >= 0))).toEqual([]);
  });

  test('the size of the address space is read from the status file', () => {
    expect(virtualMemoryIn('VmPeak:\t 9 kB\nVmSize:\t   1024 kB\nVmRSS:\t 1 kB\n')).toBe(1_048_576);
  });

  const limits = [
    'Limit                     Soft Limit           Hard Limit           Units     ',
    'Max open files            1024                 4096                 files     ',
    'Max address space         unlimited            unlimited            bytes     ',
  ].join('\n');
  test('the soft limit counts', () => expect(softLimitIn(limits, 'Max open files')).toBe(1024));
  test('no limit is the largest number', () => expect(softLimitIn(limits, 'Max address space')).toBe(2 ** 64));

  test('octets are found by the name of their column', () => {
    const netstat = 'TcpExt: A B\nTcpExt: 1 2\nIpExt: InPkts InOctets OutOctets\nIpExt: 5 70 80\n';
    expect([octetsIn(netstat, 'InOctets'), octetsIn(netstat, 'OutOctets')]).toEqual([70, 80]);
  });

  test('the lag meter samples until it is stopped and leaves no timer', async () => {
    const registry = createMetricsRegistry();
    const clock = new FakeClock();
    const stop = new AbortController();
    const run = runEventLoopLagMeter(registry, clock, stop.signal);
    await clock.advance(1000);
    stop.abort();
    await run;
    expect(sampleValue(await scrape(registry), 'nodejs_eventloop_lag_seconds_count')).toBe(4);
    expect(clock.pendingTimers).toBe(0);
  });
});
