import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { ConfigMaps, CustomResourceDefinitions, objectKey, Pods, ResourceQuotas } from '../../pkg/api/index.ts';
import { apiErrorOf, ClientBuilder, isForbidden, loadKubeconfig } from '../../pkg/client/index.ts';
import { systemClock } from '../../pkg/time/index.ts';
import { isSandbox } from '../cluster/index.ts';
import { eventually } from '../support/eventually.ts';
import { FaultProxy } from '../support/faults/proxy.ts';
import { startManager, type Manager } from '../support/manager.ts';
import { QuotaChurn } from '../support/quota-churn.ts';
import { runQuotaScenarios } from '../support/quota-scenarios.ts';
import { defineWidgets, QuotaUser, Widgets } from '../support/quota-user.ts';
import { compareWithGo, runWith, type Scenario, startEither } from '../support/side-by-side.ts';
import { createNamespace, useCluster } from './use-cluster.ts';

const cluster = useCluster();
const controllers = ['resourcequota-controller'];
let clients: ClientBuilder;

beforeAll(async () => {
  const connection = await loadKubeconfig({ path: cluster().kubeconfig() }, systemClock);
  clients = new ClientBuilder({ connection, clock: systemClock, userAgent: 'suite' });
});
afterAll(() => clients?.close());

test('quotas end with the same usage with both controller managers', async ({ signal }) => {
  await defineWidgets(clients.clientFor('user'), signal);
  const scenario: Scenario = {
    controllers,
    kinds: [ResourceQuotas],
    // The Go binary corrects what the API server has charged too much or too little with a full resync only.
    flags: ['--resource-quota-sync-period=1s', '--kube-api-qps=500', '--kube-api-burst=500'],
    run: (stage) => runQuotaScenarios(new QuotaUser(stage.client, stage.namespace, signal)),
  };
  const ours = await runWith('ours', cluster(), scenario, signal);
  expect(ours.objects.length).toBeGreaterThan(10);
  expect(await compareWithGo(ours, () => runWith('go', cluster(), scenario, signal))).toEqual([]);
});

test('what the server has charged stays charged while the watch of pods lags', async ({ signal }) => {
  await using proxy = await FaultProxy.start(cluster());
  await using _manager = await startManager(proxy.cluster, [
    '--controllers=resourcequota-controller',
    '--leader-elect=false',
  ]);
  const user = new QuotaUser(clients.clientFor('user'), await createNamespace(cluster()), signal);
  await user.quota('limits', { pods: '5' });
  await user.pod('first');
  await user.pod('second');
  await user.untilUsed('limits', { pods: '2' });
  await user.remove(Pods, 'second');
  await user.untilUsed('limits', { pods: '1' }); // the cache has observed both
  const held = proxy.holdWatches(/^\/api\/v1\/pods\?/);
  for (const name of ['a', 'b', 'c', 'd']) await user.pod(name);
  const list = `/api/v1/namespaces/${user.namespace}/pods`;
  await eventually(async () => held.reads.filter((path) => path.startsWith(list)).length > 1, signal);
  await user.untilUsed('limits', { pods: '5' });
  const spec = { containers: [{ name: 'main', image: 'example' }] };
  const sixth = await user.create(Pods, { metadata: { name: 'sixth' }, spec }).catch((error: unknown) => error);
  expect(isForbidden(sixth)).toBe(true);
  held.release();
  await user.remove(Pods, 'a');
  await user.untilUsed('limits', { pods: '4' });
});

describe('our controller', () => {
  const flags = ['--controllers=resourcequota-controller', '--leader-elect=false', '--use-service-account-credentials'];
  let manager: Manager;
  let user: QuotaUser;

  beforeAll(async () => {
    manager = await startManager(cluster(), flags); // with the default period of a full resync
  });
  afterAll(() => manager?.stop());
  beforeEach(async ({ signal }) => {
    user = new QuotaUser(clients.clientFor('user'), await createNamespace(cluster()), signal);
  });

  test('frees what a deleted object has used, without a full resync', async () => {
    await user.quota('one', { configmaps: '1' });
    await user.configMap('first');
    await user.untilUsed('one', { configmaps: '1' });
    const refusal = apiErrorOf(await user.create(ConfigMaps, { metadata: { name: 'second' } }).catch((error) => error));
    expect(refusal?.serverMessage).toBe(
      'configmaps "second" is forbidden: exceeded quota: one, requested: configmaps=1, used: configmaps=1, limited: configmaps=1',
    );
    await user.remove(ConfigMaps, 'first');
    await user.untilUsed('one', { configmaps: '0' });
    await user.configMap('second');
    await user.untilUsed('one', { configmaps: '1' });
  });

  test('corrects a status that somebody has changed, without a full resync', async () => {
    await user.quota('wrong', { configmaps: '5' });
    await user.untilUsed('wrong', { configmaps: '0' });
    for (const configmaps of ['3', '0']) {
      await user.configMap(`with-${configmaps}`);
      await user.patch(ResourceQuotas, 'wrong', { status: { used: { configmaps } } }, 'status');
    }
    await expect(user.untilUsed('wrong', { configmaps: '2' })).resolves.toBeUndefined();
  });

  test('follows its limits', async () => {
    await user.configMap('a');
    await user.quota('changed', { configmaps: '5', secrets: '5' });
    await user.untilUsed('changed', { configmaps: '1', secrets: '0' });
    await user.patch(ResourceQuotas, 'changed', { spec: { hard: { configmaps: null, services: '3' } } });
    await user.untilUsed('changed', { secrets: '0', services: '0' });
    expect((await user.read('changed')).status?.hard).toEqual({ secrets: '5', services: '3' });
  });

  test('agrees with the server about a pod that is resized in place', async ({ signal, skip }) => {
    skip(isSandbox, 'the sandbox does not resize pods');
    await user.quota('sized', { 'requests.cpu': '2' });
    const { spec } = await user.pod('a', {}, { cpu: '250m' });
    const resize = async (cpu: string): Promise<void> => {
      const containers = spec.containers.map(({ name }) => ({ name, resources: { requests: { cpu } } }));
      const patch = { type: 'strategic', subresource: 'resize', body: { spec: { containers } } } as const;
      await user.client.patch(Pods, objectKey(user.namespace, 'a'), patch, signal);
    };
    await resize('750m');
    expect((await user.read('sized')).status?.used).toEqual({ 'requests.cpu': '750m' }); // charged by the server
    await resize('500m');
    await user.untilUsed('sized', { 'requests.cpu': '500m' });
  });

  test('charges pods to all quotas that share a scope, and to the stricter one first of all', async () => {
    await user.quota('wide', { pods: '10' }, { scopes: ['BestEffort'] });
    await user.quota('narrow', { pods: '1' }, { scopes: ['BestEffort'] });
    await user.pod('first');
    for (const name of ['wide', 'narrow']) await user.untilUsed(name, { pods: '1' });
    const spec = { containers: [{ name: 'main', image: 'example' }] };
    const second = user.create(Pods, { metadata: { name: 'second' }, spec });
    expect(isForbidden(await second.catch((error: unknown) => error))).toBe(true);
    await user.untilUsed('wide', { pods: '1' });
  });

  test('counts a kind from the moment it is served, and again after it was gone', async ({ signal }) => {
    const name = `${Widgets.resource}.${Widgets.group}`;
    const removeDefinition = async (): Promise<void> => {
      await user.client.delete(CustomResourceDefinitions, objectKey(undefined, name), {}, signal);
      await eventually(async () => {
        return user.client.list(Widgets, {}, signal).then(
          () => false,
          () => true,
        );
      }, signal);
    };
    await defineWidgets(user.client, signal);
    await removeDefinition();
    await user.quota('widgets', { [`count/${name}`]: '5' });
    for (const round of ['first', 'second']) {
      await defineWidgets(user.client, signal);
      await user.admit(Widgets, { metadata: { name: round } });
      await user.untilUsed('widgets', { [`count/${name}`]: '1' });
      await removeDefinition();
      await expect(user.untilUsed('widgets', { [`count/${name}`]: '0' })).resolves.toBeUndefined();
    }
  });

  test('agrees with the API server and with the Go binary after random changes', async () => {
    const churn = new QuotaChurn(user, 1);
    await churn.createQuotas();
    await churn.run(300);
    const settled = await churn.untilExact();
    await churn.fillUp();
    await manager.stop();
    await churn.emptyAgain();
    await churn.clearStatuses();
    const stop = await startEither('go', cluster(), { controllers });
    try {
      expect(await churn.untilComputed()).toEqual(settled);
    } finally {
      await stop();
    }
  });
});
