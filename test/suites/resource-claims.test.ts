import { afterAll, beforeAll, expect, test } from 'vitest';

import { CoreEvents, Namespaces, objectKey, Pods, ResourceClaims } from '../../pkg/api/index.ts';
import { ClientBuilder, loadKubeconfig, type Client } from '../../pkg/client/index.ts';
import { systemClock } from '../../pkg/time/index.ts';
import { startGoControllerManager } from '../cluster/index.ts';
import {
  adminSpec,
  ClaimUser,
  consumerOf,
  fromTemplate,
  isFree,
  isGone,
  isReservedFor,
  named,
} from '../support/claim-user.ts';
import { eventually } from '../support/eventually.ts';
import { startManager } from '../support/manager.ts';
import { parsePrometheusText } from '../support/prometheus-text.ts';
import { runWithBoth, type Stage } from '../support/side-by-side.ts';
import { createNamespace, useCluster } from './use-cluster.ts';

const cluster = useCluster();
const controllers = ['resourceclaim-controller'];
const kinds = [ResourceClaims, Pods, CoreEvents];
const flags = [`--controllers=${controllers.join()}`, '--leader-elect=false', '--use-service-account-credentials=true'];
let clients: ClientBuilder;
let client: Client;

beforeAll(async () => {
  const connection = await loadKubeconfig({ path: cluster().kubeconfig() }, systemClock);
  clients = new ClientBuilder({
    connection,
    clock: systemClock,
    userAgent: 'resource-claims',
    keepManagedFields: true,
  });
  client = clients.clientFor('resource-claims');
});
afterAll(() => clients?.close());

async function untilEvent({ namespace }: Stage, about: string, signal: AbortSignal): Promise<void> {
  await eventually(async () => {
    const { items } = await client.listAll(CoreEvents, { namespace }, signal);
    return items.some(({ involvedObject }) => involvedObject.name === about);
  }, signal);
}

/** Pods whose claims are made from templates: early, late, never, with long names. */
async function generate(stage: Stage, signal: AbortSignal): Promise<void> {
  const user = new ClaimUser(stage.client, stage.namespace, signal);
  const metadata = { labels: { app: 'web', constructor: 'yes' }, annotations: { note: 'this' } };
  await user.template('labelled', metadata);
  await user.template('plain');
  await user.claim('shared');
  // The Go manager records the names of several new claims in any order.
  await user.pod('several', { claims: { first: fromTemplate('labelled'), second: named('shared') } });
  await user.recorded('several', 1);

  const longName = `pod-${'x'.repeat(50)}`;
  await user.pod(longName, { claims: { [`claim-${'y'.repeat(40)}`]: fromTemplate('plain') } });
  await user.recorded(longName, 1);

  await user.pod('waiting', { claims: { only: fromTemplate('late') } });
  await untilEvent(stage, 'waiting', signal);
  await user.template('late');
  await user.recorded('waiting', 1);
  await user.pod('waiting-forever', { claims: { only: fromTemplate('missing') } });
  await untilEvent(stage, 'waiting-forever', signal);
}

test('claims are made from templates and recorded in their pods, as with the Go manager', async ({ signal }) => {
  const scenario = { controllers, kinds, run: (stage: Stage) => generate(stage, signal) };
  expect(await runWithBoth(cluster(), scenario, {}, signal)).toEqual([]);
});

/** Claims of pods that end in every way, and claims of nobody. */
async function end(stage: Stage, signal: AbortSignal): Promise<void> {
  const user = new ClaimUser(stage.client, stage.namespace, signal);
  await user.template('plain');

  // A shared claim stays allocated until its last pod ends. It is not deleted.
  await user.claim('shared');
  const [one, two] = [
    await user.pod('one', { claims: { shared: named('shared') }, nodeName: 'node' }),
    await user.pod('two', { claims: { shared: named('shared') }, nodeName: 'node' }),
  ];
  await user.allocate('shared', [one, two].map(consumerOf));
  await user.setPodStatus('one', { phase: 'Succeeded' });
  await user.until('shared', isReservedFor('two'));
  await user.deletePod('two');
  await user.until('shared', isFree);

  // A generated claim goes with the end of its pod, also before it ran.
  await user.pod('failed', {
    claims: { own: fromTemplate('plain') },
    nodeName: 'node',
    finalizers: ['example.com/keep'],
  });
  const [ofFailed = ''] = await user.recorded('failed', 1);
  await user.allocate(ofFailed, [], 'gpu-1');
  await user.until(ofFailed, isReservedFor('failed'));
  await user.setPodStatus('failed', { phase: 'Failed' });
  await user.until(ofFailed, isGone);
  await user.pod('unscheduled', { claims: { own: fromTemplate('plain') }, finalizers: ['example.com/keep'] });
  const [ofUnscheduled = ''] = await user.recorded('unscheduled', 1);
  await user.deletePod('unscheduled');
  await user.until(ofUnscheduled, isGone);

  // A user deletes a claim that is in use: it stays until the pod ends.
  await user.claim('in-use');
  const holder = await user.pod('holder', { claims: { own: named('in-use') }, nodeName: 'node' });
  await user.allocate('in-use', [consumerOf(holder)], 'gpu-2');
  await user.deleteClaim('in-use');
  await user.deletePod('holder');
  await user.until('in-use', isGone);

  // Allocated, never reserved, deleted.
  await user.claim('unused');
  await user.allocate('unused', [], 'gpu-3');
  await user.deleteClaim('unused');
  await user.until('unused', isGone);

  // Pods that never existed are no consumers. Consumers of other kinds stay.
  await user.claim('odd');
  const foreign = { apiGroup: 'example.com', resource: 'machines', name: 'other', uid: 'other' };
  await user.allocate('odd', [{ resource: 'pods', name: 'nobody', uid: 'nobody' }, foreign], 'gpu-4');
  await user.until('odd', isReservedFor('other'));
}

test('claims are released, deallocated and deleted as pods end, as with the Go manager', async ({ signal }) => {
  const scenario = { controllers, kinds, run: (stage: Stage) => end(stage, signal) };
  // The random names of claims that are gone.
  const ignore = ['Pod:status.resourceClaimStatuses*.resourceClaimName'];
  expect(await runWithBoth(cluster(), scenario, { ignore }, signal)).toEqual([]);
});

/** What the scheduler does for a pod with an extended resource that devices provide. */
async function extend(stage: Stage, signal: AbortSignal): Promise<void> {
  const user = new ClaimUser(stage.client, stage.namespace, signal);
  const limits = { 'example.com/gpu': '1' };
  const containers = [{ name: 'app', image: 'example', resources: { limits, requests: limits } }];
  for (const [name, ends] of Object.entries({ finished: 'Succeeded', deleted: undefined })) {
    const pod = await user.pod(name, { claims: {}, nodeName: 'node', spec: { containers } });
    const { metadata } = pod;
    const owner = {
      apiVersion: 'v1',
      kind: 'Pod',
      name,
      uid: metadata.uid,
      controller: true,
      blockOwnerDeletion: true,
    };
    const annotations = { 'resource.kubernetes.io/extended-resource-claim': 'true' };
    const claimName = `${name}-extended-resources`;
    await user.claim(claimName, { annotations, ownerReferences: [owner] });
    await user.allocate(claimName, [consumerOf(pod)]);
    const requestMappings = [{ containerName: 'app', resourceName: 'example.com/gpu', requestName: 'device' }];
    await user.setPodStatus(name, { extendedResourceClaimStatus: { resourceClaimName: claimName, requestMappings } });
    if (ends === undefined) await user.deletePod(name);
    else await user.setPodStatus(name, { phase: ends });
    // Of a pod that is gone, the garbage collector deletes the claim.
    await user.until(claimName, ends === undefined ? isFree : isGone);
  }
}

test('the claim of extended resources ends with its pod, as with the Go manager', async ({ signal }) => {
  const scenario = { controllers, kinds, run: (stage: Stage) => extend(stage, signal) };
  expect(await runWithBoth(cluster(), scenario, {}, signal)).toEqual([]);
});

test('all names stay recorded when one of several claims is made again', async ({ signal }) => {
  const manager = await startManager(cluster(), flags);
  const user = new ClaimUser(client, await createNamespace(cluster()), signal);
  await user.template('plain');
  await user.pod('several', { claims: { first: fromTemplate('plain'), second: fromTemplate('plain') } });
  const [first = '', second = ''] = await user.recorded('several', 2);
  await user.deleteClaim(first);
  const key = objectKey(user.namespace, 'several');
  const { metadata } = await eventually(async () => {
    const pod = await client.get(Pods, key, signal);
    const names = (pod.status?.resourceClaimStatuses ?? []).map(({ resourceClaimName }) => resourceClaimName);
    return names.length === 2 && names[0] !== first && names[1] === second && pod;
  }, signal);
  const managers = (metadata.managedFields ?? []).map(({ manager: name, operation }) => `${name} ${operation}`);
  expect(managers).toContain('ResourceClaimController Apply');
  expect(await manager.stop()).toBe(0);
});

interface Metrics {
  readonly creates: Readonly<Record<string, number>>;
  readonly claims: Readonly<Record<string, number>>;
}

/** The series that are not 0. */
function metricsOf(text: string): Metrics {
  const families = parsePrometheusText(text);
  const read = (name: string): Record<string, number> => {
    const { samples = [] } = families.get(`resourceclaim_controller_${name}`) ?? {};
    const entries = samples.map(({ labels, value }) => {
      const sorted = Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1));
      return [JSON.stringify(sorted), value] as const;
    });
    return Object.fromEntries(entries.filter(([, value]) => value !== 0));
  };
  return { creates: read('creates_total'), claims: read('resource_claims') };
}

/** Claims of all sources and states. */
async function countClaims(user: ClaimUser, read: () => Promise<string>): Promise<Metrics> {
  const { namespace, signal } = user;
  const labels = { 'resource.kubernetes.io/admin-access': 'true' };
  const body = { metadata: { labels } };
  await client.patch(Namespaces, objectKey(undefined, namespace), { type: 'merge', body }, signal);
  await user.template('admin', {}, adminSpec);
  await user.template('plain');
  await user.claim('manual');
  await user.claim('extended', { annotations: { 'resource.kubernetes.io/extended-resource-claim': 'true' } });
  await user.allocate('extended', []);
  await user.pod('user', { claims: { admin: fromTemplate('admin'), plain: fromTemplate('plain') } });
  await user.recorded('user', 2);
  let metrics = metricsOf(await read());
  await eventually(async () => {
    metrics = metricsOf(await read());
    return Object.values(metrics.claims).reduce((sum, value) => sum + value, 0) === 4;
  }, signal);
  await client.deleteCollection(ResourceClaims, { namespace }, signal);
  await user.until('manual', isGone);
  await client.delete(Pods, objectKey(namespace, 'user'), { gracePeriodSeconds: 0 }, signal);
  return metrics;
}

async function deleteAll(signal: AbortSignal): Promise<void> {
  const { items } = await client.listAll(ResourceClaims, {}, signal);
  for (const namespace of new Set(items.map(({ metadata }) => metadata.namespace))) {
    await client.deleteCollection(Pods, { namespace, gracePeriodSeconds: 0 }, signal);
    for (const { metadata } of items.filter((claim) => claim.metadata.namespace === namespace)) {
      const key = objectKey(namespace, metadata.name);
      const patch = { type: 'merge', body: { metadata: { finalizers: null } } } as const;
      await client.patch(ResourceClaims, key, patch, signal);
    }
    await client.deleteCollection(ResourceClaims, { namespace }, signal);
  }
}

test('metrics count claims by allocation, admin access and source, as with the Go manager', async ({ signal }) => {
  await deleteAll(signal);
  const manager = await startManager(cluster(), flags);
  const user = new ClaimUser(client, await createNamespace(cluster(), 'ours'), signal);
  const ours = await countClaims(user, async () => String((await manager.get('/metrics')).body));
  expect(await manager.stop()).toBe(0);
  await deleteAll(signal);
  const { process, url } = await startGoControllerManager(cluster(), flags);
  const path = `${url}/metrics`;
  const other = new ClaimUser(client, await createNamespace(cluster(), 'go'), signal);
  const go = await countClaims(other, async () => String((await cluster().request({ path })).body));
  await process.stop();
  expect(ours).toEqual(go);
  expect(Object.keys(ours.claims)).toHaveLength(4);
});
