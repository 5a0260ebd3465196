import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { get } from 'node:https';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';

import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';

import { ConfigMaps, CoreEvents, Leases, objectKey, type ConfigMap } from '../../pkg/api/index.ts';
import { ClientBuilder, loadKubeconfig, type Client } from '../../pkg/client/index.ts';
import { enqueueSelf, runWorkers, type ControllerDefinition } from '../../pkg/controller/index.ts';
import { LeaderLostError } from '../../pkg/leaderelection/index.ts';
import { runManager, type ManagerOptions } from '../../pkg/manager/index.ts';
import { systemClock } from '../../pkg/time/index.ts';
import { isSandbox } from '../cluster/index.ts';
import { eventually } from '../support/eventually.ts';
import { RecordingLogger } from '../support/loggers.ts';
import { createNamespace, useSharedCluster } from './use-cluster.ts';

const cluster = useSharedCluster();
let clients: ClientBuilder;
let client: Client;

beforeAll(async () => {
  const connection = await loadKubeconfig({ path: cluster.kubeconfig() }, systemClock);
  clients = new ClientBuilder({ connection, clock: systemClock, userAgent: 'test' });
  client = clients.clientFor('test');
});
afterAll(() => clients.close());

type Change = (configMap: ConfigMap) => void;

/** Greets every ConfigMap, in an event. */
function greeter({ change }: { readonly change?: Change } = {}): ControllerDefinition {
  const name = 'greeter';
  return {
    name,
    create(context) {
      const queue = context.queueFor(name);
      const configMaps = context.informers.informerFor(ConfigMaps);
      const caches = [configMaps.addHandler(enqueueSelf(queue))];
      const recorder = context.recorderFor(name);
      const own = context.clientFor(name);
      const work = {
        name,
        context,
        queue,
        caches,
        workers: 1,
        async reconcile(key: Parameters<typeof configMaps.store.get>[0], signal: AbortSignal) {
          const configMap = configMaps.store.get(key);
          if (configMap === undefined || configMap.data?.['greeting'] !== undefined) return {};
          change?.(configMap as ConfigMap);
          await own.patch(ConfigMaps, key, { type: 'merge', body: { data: { greeting: 'hello' } } }, signal);
          recorder.event(ConfigMaps, configMap, { type: 'Normal', reason: 'Greeted', message: 'said hello' });
          return {};
        },
      };
      return { name, run: (signal) => runWorkers(work, signal) };
    },
  };
}

function start(namespace: string, changes: Partial<ManagerOptions> = {}) {
  const stop = new AbortController();
  const leading = Promise.withResolvers<void>();
  const listening = Promise.withResolvers<AddressInfo>();
  const logger = new RecordingLogger();
  const ended = runManager({
    name: 'greeter',
    controllers: [greeter()],
    kubeconfig: cluster.kubeconfig(),
    namespace,
    leaderElection: { namespace },
    server: { port: 'any', host: '127.0.0.1', onListening: listening.resolve },
    logger,
    signal: stop.signal,
    onLeading: leading.resolve,
    ...changes,
  });
  ended.catch(() => {}); // awaited by the test
  onTestFinished(async () => {
    stop.abort();
    await ended.catch(() => undefined);
  });
  return { ended, logger, stop: () => stop.abort(), leading: leading.promise, listening: listening.promise };
}

async function createConfigMap(namespace: string, name: string, signal: AbortSignal): Promise<void> {
  await client.create(ConfigMaps, { metadata: { namespace, name } }, signal);
}

async function untilGreeted(namespace: string, name: string, signal: AbortSignal): Promise<void> {
  const read = () => client.get(ConfigMaps, objectKey(namespace, name), signal);
  await eventually(async () => (await read()).data?.['greeting'] === 'hello', signal);
}

describe('a manager with a name and a controller', () => {
  test('elects, reconciles, records, serves, and leaves nothing behind', async ({ signal }) => {
    const namespace = await createNamespace(cluster);
    await createConfigMap(namespace, 'a', signal);
    const manager = start(namespace);
    await manager.leading;
    await untilGreeted(namespace, 'a', signal);
    const lease = await client.get(Leases, objectKey(namespace, 'greeter'), signal);
    expect(lease.spec?.holderIdentity).toMatch(/^.+_.+$/);

    const { port } = await manager.listening;
    const page = async (path: string): Promise<string> => (await fetch(`http://127.0.0.1:${port}${path}`)).text();
    expect(await page('/healthz?verbose')).toMatch(/\[\+\]leaderElection ok\n\[\+\]greeter ok\nhealthz check passed/);
    expect(await page('/readyz?verbose')).toContain('[+]informer-sync ok');
    const metrics = await page('/metrics');
    for (const line of [
      /^leader_election_master_status\{name="greeter"\} 1$/m,
      /^workqueue_adds_total\{name="greeter"\} [1-9]/m,
      /^rest_client_requests_total\{.*method="PATCH".*\} [1-9]/m,
      /^running_managed_controllers\{.*\} 1$/m,
      /^process_resident_memory_bytes \d/m,
    ]) {
      expect(metrics).toMatch(line);
    }

    manager.stop();
    await manager.ended;
    const released = await client.get(Leases, objectKey(namespace, 'greeter'), signal);
    expect(released.spec?.holderIdentity ?? '').toBe('');
    const events = await client.listAll(CoreEvents, { namespace }, signal);
    const told = events.items.map(({ reason, source }) => `${source?.component} ${reason}`);
    expect(told).toEqual(expect.arrayContaining(['greeter Greeted', 'greeter LeaderElection']));
    await expect(page('/healthz')).rejects.toThrow();
  });

  test('waits while another process leads, and takes over', async ({ signal }) => {
    const namespace = await createNamespace(cluster);
    const first = start(namespace);
    await first.leading;
    const second = start(namespace);
    await second.listening;
    await eventually(async () => second.logger.lines.some(({ message }) => message === 'new leader'), signal);
    first.stop();
    await first.ended;
    await second.leading;
    expect(second.logger.lines.map(({ message }) => message)).toContain('acquired the lease');
    await createConfigMap(namespace, 'a', signal);
    await untilGreeted(namespace, 'a', signal);
    second.stop();
    await second.ended;
  });

  test('rejects when it loses the lease, and leaves nothing behind', async ({ signal }) => {
    const namespace = await createNamespace(cluster);
    const durations = { leaseDurationMs: 3000, renewDeadlineMs: 2000, retryPeriodMs: 250 };
    const manager = start(namespace, { leaderElection: { namespace, ...durations } });
    await manager.leading;
    const holderIdentity = 'a stranger';
    const renewTime = new Date(Date.now() + 60_000).toISOString().replace('Z', '000Z');
    const body = { spec: { holderIdentity, renewTime, acquireTime: renewTime, leaseDurationSeconds: 60 } };
    await client.patch(Leases, objectKey(namespace, 'greeter'), { type: 'merge', body }, signal);
    await expect(manager.ended).rejects.toThrow(LeaderLostError);
  });

  test('runs without leader election and without a port', async ({ signal }) => {
    const namespace = await createNamespace(cluster);
    const manager = start(namespace, { leaderElection: false, server: false });
    await manager.leading;
    await createConfigMap(namespace, 'a', signal);
    await untilGreeted(namespace, 'a', signal);
    await expect(client.get(Leases, objectKey(namespace, 'greeter'), signal)).rejects.toThrow(/not found/);
    manager.stop();
    await manager.ended;
  });

  test('finds its cluster in the files of KUBECONFIG, of which the first wins', async ({ signal }) => {
    const namespace = await createNamespace(cluster);
    const whole = cluster.kubeconfig();
    const first = join(dirname(whole), `${namespace}.yaml`);
    writeFileSync(
      first,
      'current-context: mine\ncontexts:\n- name: mine\n  context: {cluster: cluster, user: nobody}\n',
    );
    const environment = { KUBECONFIG: `/no/such/file:${first}:${whole}` };
    const wrong = start(namespace, { kubeconfig: undefined, environment });
    await expect(wrong.ended).rejects.toThrow(/does not exist$/);
    const right = start(namespace, { kubeconfig: undefined, environment: { KUBECONFIG: `/no/such/file:${whole}` } });
    await right.leading;
    await createConfigMap(namespace, 'a', signal);
    await untilGreeted(namespace, 'a', signal);
  });

  test.skipIf(isSandbox)('serves metrics over HTTPS to those whom the API server allows', async ({ signal }) => {
    const namespace = await createNamespace(cluster);
    const onListening = Promise.withResolvers<AddressInfo>();
    const { apiServer: certFile, apiServerKey: keyFile, ca } = cluster.files;
    const address = { port: 'any', host: '127.0.0.1', onListening: onListening.resolve } as const;
    const manager = start(namespace, { server: { ...address, certFile, keyFile } });
    await manager.leading;
    const { port } = await onListening.promise;
    const statusOf = (path: string, headers: Record<string, string> = {}): Promise<number | undefined> =>
      new Promise((resolve, reject) => {
        const options = { host: '127.0.0.1', port, path, headers, ca: readFileSync(ca), agent: false };
        const request = get(options, (answer) => {
          answer.resume();
          resolve(answer.statusCode);
        });
        request.on('error', reject);
      });
    expect([await statusOf('/healthz'), await statusOf('/metrics')]).toEqual([200, 403]);
    const authorization = `Bearer ${await tokenOf(namespace, signal)}`;
    expect(await statusOf('/metrics', { authorization })).toBe(403);
    await allowMetrics(namespace, signal);
    // Decisions are cached for some seconds.
    await eventually(async () => (await statusOf('/metrics', { authorization })) === 200, signal);
  });
});

async function tokenOf(namespace: string, signal: AbortSignal): Promise<string> {
  const request = { spec: { audiences: [], expirationSeconds: 600 } };
  return (await client.createToken(objectKey(namespace, 'default'), request, signal)).status?.token ?? '';
}

async function allowMetrics(namespace: string, signal: AbortSignal): Promise<void> {
  const group = '/apis/rbac.authorization.k8s.io/v1';
  const create = (path: string, body: object) =>
    client.request({ method: 'POST', path: `${group}/${path}`, body }, signal);
  const metadata = { name: `metrics-of-${namespace}` };
  await create('clusterroles', { metadata, rules: [{ nonResourceURLs: ['/metrics'], verbs: ['get'] }] });
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: metadata.name };
  const subjects = [{ kind: 'ServiceAccount', namespace, name: 'default' }];
  await create('clusterrolebindings', { metadata, roleRef, subjects });
}

describe('mistakes that would have no visible effect', () => {
  test('a controller that changes a cached object fails with an error', async ({ signal }) => {
    const namespace = await createNamespace(cluster);
    const change: Change = (configMap) => {
      configMap.data = { greeting: 'changed' };
    };
    const manager = start(namespace, { controllers: [greeter({ change })] });
    await createConfigMap(namespace, 'a', signal);
    const failed = () => manager.logger.lines.find(({ message }) => message === 'reconcile failed');
    await eventually(async () => failed() !== undefined, signal);
    expect(String(failed()?.fields['err'])).toMatch(/TypeError: Cannot .* property/);
  });

  test('a kind that the server does not have keeps the manager from being ready, with its name', async ({ signal }) => {
    const namespace = await createNamespace(cluster);
    const kind = { group: 'example.com', version: 'v1', kind: 'Nothing', resource: 'nothings', namespaced: true };
    const watcher: ControllerDefinition = {
      name: 'watcher',
      create({ informers }) {
        informers.informerFor(kind).addHandler({});
        return { name: 'watcher', run: (until) => once(until, 'abort').then(() => {}) };
      },
    };
    const manager = start(namespace, { controllers: [greeter(), watcher] });
    const { port } = await manager.listening;
    const ask = async (path: string): Promise<string> => (await fetch(`http://127.0.0.1:${port}${path}`)).text();
    const expected = 'internal server error: not listed yet: nothings.example.com\n';
    await eventually(async () => (await ask('/readyz/informer-sync')) === expected, signal);
    expect(await ask('/healthz')).toBe('ok');
    await createConfigMap(namespace, 'a', signal);
    await untilGreeted(namespace, 'a', signal); // the others run
  });

  test('a controller that cannot be created ends the manager', async () => {
    const namespace = await createNamespace(cluster);
    const create = (): never => {
      throw new Error('no database');
    };
    const { ended } = start(namespace, { controllers: [{ name: 'broken', create }] });
    await expect(ended).rejects.toThrow('broken cannot be started: no database');
  });
});
