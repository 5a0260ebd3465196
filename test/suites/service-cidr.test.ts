import { afterAll, beforeAll, expect, test } from 'vitest';

import { IPAddresses, objectKey, ServiceCIDRs, Services, type ServiceCIDR } from '../../pkg/api/index.ts';
import { ClientBuilder, isNotFound, loadKubeconfig, type Client } from '../../pkg/client/index.ts';
import { systemClock } from '../../pkg/time/index.ts';
import { startGoControllerManager } from '../cluster/index.ts';
import { eventually } from '../support/eventually.ts';
import { startManager } from '../support/manager.ts';
import { createNamespace, useCluster } from './use-cluster.ts';

const cluster = useCluster();
let clients: ClientBuilder;
let client: Client;

beforeAll(async () => {
  const connection = await loadKubeconfig({ path: cluster().kubeconfig() }, systemClock);
  clients = new ClientBuilder({ connection, clock: systemClock, userAgent: 'service-cidr', keepManagedFields: true });
  client = clients.clientFor('service-cidr');
});
afterAll(() => clients?.close());

const flags = [
  '--controllers=service-cidr-controller',
  '--leader-elect=false',
  '--use-service-account-credentials=true',
];
const key = (name: string) => objectKey(undefined, name);

async function find(name: string, signal: AbortSignal): Promise<ServiceCIDR | undefined> {
  try {
    return await client.get(ServiceCIDRs, key(name), signal);
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/** The ServiceCIDR once its Ready condition has this status, with the owners of its fields and without times. */
async function untilReady(name: string, status: string, signal: AbortSignal): Promise<unknown> {
  await eventually(async () => {
    const { conditions } = (await find(name, signal))?.status ?? {};
    return conditions?.some((condition) => condition.type === 'Ready' && condition.status === status) === true;
  }, signal);
  const range = await client.get(ServiceCIDRs, key(name), signal);
  return {
    finalizers: range.metadata.finalizers,
    conditions: range.status?.conditions?.map(({ type, status, reason, message }) => ({
      type,
      status,
      reason,
      message,
    })),
    status: range.metadata.managedFields
      ?.filter(({ manager, subresource }) => manager === 'service-cidr-controller' && subresource === 'status')
      .map(({ operation, fieldsV1 }) => ({ operation, fieldsV1 })),
  };
}

/** All changes of a ServiceCIDR. `third` is the third byte of its addresses. */
async function play(prefix: string, third: number, signal: AbortSignal): Promise<unknown[]> {
  const namespace = await createNamespace(cluster(), prefix);
  const create = (name: string, cidr: string): Promise<unknown> =>
    client.create(ServiceCIDRs, { metadata: { name }, spec: { cidrs: [cidr] } }, signal);
  const [held, covered] = [`${prefix}-held`, `${prefix}-covered`];
  await create(held, `10.210.${third}.0/25`);
  const states = [await untilReady(held, 'True', signal)];
  const clusterIP = `10.210.${third}.9`;
  const ports = [{ port: 80 }];
  // The API server allocates from a range once it has observed that it is ready.
  await eventually(async () => {
    await client.create(Services, { metadata: { namespace, name: 'web' }, spec: { clusterIP, ports } }, signal);
    return true;
  }, signal);
  await client.get(IPAddresses, key(clusterIP), signal);
  await client.delete(ServiceCIDRs, key(held), {}, signal);
  states.push(await untilReady(held, 'False', signal));

  await create(covered, `10.210.${third}.128/26`);
  states.push(await untilReady(covered, 'True', signal));
  await client.delete(ServiceCIDRs, key(covered), {}, signal);
  await client.delete(Services, objectKey(namespace, 'web'), {}, signal);
  await eventually(async () => (await find(held, signal)) === undefined, signal);
  await eventually(async () => (await find(covered, signal)) === undefined, signal);
  return states;
}

test('ranges become ready, and are deleted when no address depends on them, as with the Go manager', async ({
  signal,
}) => {
  const manager = await startManager(cluster(), flags);
  const ours = await play('cidr-ours', 1, signal);
  expect(await manager.stop()).toBe(0);
  const { process } = await startGoControllerManager(cluster(), flags);
  const go = await play('cidr-go', 2, signal);
  await process.stop();
  expect(ours).toEqual(go);
});
