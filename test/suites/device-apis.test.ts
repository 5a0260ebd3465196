import { afterAll, expect, test } from 'vitest';

import { CoreEvents, objectKey, PodGroups, Pods, ResourceClaims } from '../../pkg/api/index.ts';
import { ClientBuilder, loadKubeconfig, type Client } from '../../pkg/client/index.ts';
import { systemClock } from '../../pkg/time/index.ts';
import type { ClusterAccess } from '../cluster/index.ts';
import { ClaimUser, fromTemplate, isFree, isReservedFor } from '../support/claim-user.ts';
import { DeviceTaintUser, tolerating } from '../support/device-taint-user.ts';
import { eventually } from '../support/eventually.ts';
import { deviceApis, deviceGates } from '../support/gated-apis.ts';
import { startManager } from '../support/manager.ts';
import { runWithBoth, type Stage } from '../support/side-by-side.ts';
import { createNamespace, useCluster, useSharedCluster } from './use-cluster.ts';

const cluster = useCluster(deviceApis);
const opened: ClientBuilder[] = [];
afterAll(() => opened.forEach((clients) => clients.close()));

async function open(access: ClusterAccess): Promise<Client> {
  const connection = await loadKubeconfig({ path: access.kubeconfig() }, systemClock);
  const clients = new ClientBuilder({ connection, clock: systemClock, userAgent: 'device-apis' });
  opened.push(clients);
  return clients.clientFor('device-apis');
}

/** A group shares a claim, which its pods record, and which is free once the group is gone. */
async function share(stage: Stage, signal: AbortSignal): Promise<void> {
  const { namespace } = stage;
  const user = new ClaimUser(stage.client, namespace, signal);
  await user.template('shared');
  await user.template('own');
  const createGroup = async (name: string, template: string): Promise<void> => {
    const resourceClaims = [{ name: 'common', resourceClaimTemplateName: template }];
    const spec = { schedulingPolicy: { basic: {} }, resourceClaims };
    await stage.client.create(PodGroups, { metadata: { namespace, name }, spec }, signal);
  };
  await createGroup('gang', 'shared');
  const group = await eventually(async () => {
    const found = await stage.client.get(PodGroups, objectKey(namespace, 'gang'), signal);
    return found.status?.resourceClaimStatuses?.length === 1 && found;
  }, signal);
  const spec = { schedulingGroup: { podGroupName: 'gang' } };
  await user.pod('first', { claims: { common: fromTemplate('shared') }, spec, nodeName: 'node' });
  await user.pod('second', { claims: { common: fromTemplate('shared') }, spec, nodeName: 'node' });
  await user.pod('alone', { claims: { common: fromTemplate('own') }, spec });
  const [claimName = ''] = await user.recorded('first', 1);
  await user.recorded('second', 1);
  await user.recorded('alone', 1);
  await user.allocate(claimName, []);
  await user.until(claimName, isReservedFor('gang'));

  // The end of a pod changes nothing for the claim, the end of the group does.
  await user.setPodStatus('first', { phase: 'Succeeded' });
  await user.deletePod('second');
  await stage.client.delete(PodGroups, objectKey(namespace, 'gang'), {}, signal);
  const body = { metadata: { finalizers: null } };
  if (group.metadata.finalizers !== undefined) {
    await stage.client.patch(PodGroups, objectKey(namespace, 'gang'), { type: 'merge', body }, signal);
  }
  await user.until(claimName, isFree);

  await createGroup('waiting', 'missing');
  await eventually(async () => {
    const { items } = await stage.client.listAll(CoreEvents, { namespace }, signal);
    return items.some(({ involvedObject }) => involvedObject.name === 'waiting');
  }, signal);
}

test('pod groups share claims, as with the Go manager', async ({ signal }) => {
  const scenario = {
    controllers: ['resourceclaim-controller'],
    flags: [deviceGates],
    kinds: [PodGroups, ResourceClaims, Pods, CoreEvents],
    run: (stage: Stage) => share(stage, signal),
  };
  expect(await runWithBoth(cluster(), scenario, {}, signal)).toEqual([]);
});

/** The conditions of rules of every effect, once nothing is left to do but to wait. */
async function playRules(stage: Stage, signal: AbortSignal): Promise<unknown[]> {
  const user = new DeviceTaintUser(stage.client, stage.namespace, signal);
  await user.publish({ 'gpu-0': [], 'gpu-1': [], 'gpu-2': [] });
  await user.deviceUser('intolerant', 'gpu-0');
  await user.deviceUser('tolerant', 'gpu-0', [tolerating('example.com/rule')]);
  await user.deviceUser('patient', 'gpu-0', [tolerating('example.com/rule', 3600)]);
  await user.deviceUser('alone', 'gpu-1');
  await user.rule('none', { effect: 'None', device: 'gpu-0' });
  const none = await user.untilReason('none', 'NoEffect');
  await user.rule('other', { effect: 'NoSchedule' });
  await user.rule('idle', { effect: 'NoExecute', device: 'gpu-2' });
  await user.rule('patient', { effect: 'NoExecute', device: 'gpu-0' });
  await user.rule('done', { effect: 'NoExecute', device: 'gpu-1' });
  const others = [
    await user.untilReason('other', 'OtherEffect'),
    await user.untilReason('idle', 'NotStarted'),
    await user.untilMessage('patient', 'evicted since'),
    await user.untilReason('done', 'Completed'),
  ];
  await user.untilEvicted('intolerant', 'alone');
  await user.deleteRules('none', 'other', 'idle', 'patient', 'done');
  await eventually(async () => {
    const { items } = await stage.client.listAll(CoreEvents, { namespace: stage.namespace }, signal);
    return items.some(({ message }) => message === 'Cancelling deletion');
  }, signal);
  return [none, ...others].map(({ metadata, status }) => ({
    generation: metadata.generation,
    conditions: status?.conditions?.map(({ lastTransitionTime: _time, ...rest }) => rest),
  }));
}

test('rules evict pods, and say so, as with the Go manager', async ({ signal }) => {
  const conditions = new Map<string, unknown>();
  const scenario = {
    controllers: ['device-taint-eviction-controller'],
    flags: [deviceGates],
    kinds: [Pods, ResourceClaims, CoreEvents],
    async run(stage: Stage) {
      conditions.set(stage.manager, await playRules(stage, signal));
    },
  };
  expect(await runWithBoth(cluster(), scenario, {}, signal)).toEqual([]);
  expect(conditions.get('ours')).toEqual(conditions.get('go'));
});

test('requests about pools are answered, as with the Go manager', async ({ signal }) => {
  const answers = new Map<string, unknown>();
  const scenario = {
    controllers: ['resourcepoolstatusrequest-controller'],
    flags: [deviceGates],
    kinds: [CoreEvents],
    async run(stage: Stage) {
      const user = new ClaimUser(stage.client, stage.namespace, signal);
      await user.publish({ 'gpu-0': [], 'gpu-1': [], 'gpu-2': [] });
      await user.claim('used');
      await user.allocate('used', [], 'gpu-0');
      const first = await user.askForPool('first');
      await user.publish({ 'gpu-0': [] }, 2);
      const both = [first, await user.askForPool('second')];
      const text = JSON.stringify(both.map(({ spec, status }) => ({ spec, status })));
      const times = /"lastTransitionTime":"[^"]*"/g;
      answers.set(stage.manager, JSON.parse(text.replaceAll(stage.namespace, 'pool').replaceAll(times, '"at":"then"')));
    },
  };
  expect(await runWithBoth(cluster(), scenario, {}, signal)).toEqual([]);
  expect(answers.get('ours')).toEqual(answers.get('go'));
});

test('a manager whose gates are on gets on without the APIs', async ({ signal }) => {
  const shared = useSharedCluster();
  const names = ['resourceclaim', 'device-taint-eviction', 'resourcepoolstatusrequest'].map(
    (name) => `${name}-controller`,
  );
  const flags = ['--leader-elect=false', '--use-service-account-credentials=true', deviceGates];
  const manager = await startManager(shared, [...flags, `--controllers=${names.join()}`]);
  for (const kind of ['PodGroups', 'DeviceTaintRules', 'ResourcePoolStatusRequests']) {
    await eventually(async () => manager.logs().includes(`${kind} are not served`), signal);
  }
  const plain = await open(shared);
  const user = new ClaimUser(plain, await createNamespace(shared), signal);
  await user.template('plain');
  await user.pod('user', { claims: { own: fromTemplate('plain') } });
  await user.recorded('user', 1);
  expect((await manager.get('/readyz')).status).toBe(200);
  expect(await manager.stop()).toBe(0);
});
