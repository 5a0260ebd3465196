import { afterAll, beforeAll, expect, test } from 'vitest';

import { ClusterRoles, objectKey, type ClusterRole, type ObjectKey } from '../../pkg/api/index.ts';
import { ClientBuilder, loadKubeconfig, type Client } from '../../pkg/client/index.ts';
import { systemClock } from '../../pkg/time/index.ts';
import { startGoControllerManager } from '../cluster/index.ts';
import { eventually } from '../support/eventually.ts';
import { startManager } from '../support/manager.ts';
import { useCluster } from './use-cluster.ts';

const cluster = useCluster();
let clients: ClientBuilder;
let client: Client;

beforeAll(async () => {
  const connection = await loadKubeconfig({ path: cluster().kubeconfig() }, systemClock);
  clients = new ClientBuilder({ connection, clock: systemClock, userAgent: 'cluster-roles', keepManagedFields: true });
  client = clients.clientFor('cluster-roles');
});
afterAll(() => clients?.close());

const flags = [
  '--controllers=clusterrole-aggregation-controller',
  '--leader-elect=false',
  '--use-service-account-credentials=true',
];
const rule = (resource: string): NonNullable<ClusterRole['rules']>[number] => ({
  apiGroups: [''],
  resources: [resource],
  verbs: ['get'],
});

async function createRoles(prefix: string, signal: AbortSignal): Promise<ObjectKey> {
  const of = (part: string): string => `${prefix}-${part}`;
  const labels = { [`example/${prefix}`]: 'reader' };
  const aggregationRule = { clusterRoleSelectors: [{ matchLabels: labels }] };
  await client.create(ClusterRoles, { metadata: { name: of('reader') }, aggregationRule, rules: [rule('x')] }, signal);
  await client.create(ClusterRoles, { metadata: { name: of('b'), labels }, rules: [rule('pods')] }, signal);
  await client.create(ClusterRoles, { metadata: { name: of('a'), labels }, rules: [rule('nodes')] }, signal);
  await client.create(ClusterRoles, { metadata: { name: of('other') }, rules: [rule('secrets')] }, signal);
  return objectKey(undefined, of('reader'));
}

const resourcesOf = ({ rules }: ClusterRole): string[] => (rules ?? []).flatMap(({ resources }) => resources ?? []);

async function untilResources(key: ObjectKey, expected: readonly string[], signal: AbortSignal): Promise<ClusterRole> {
  const read = (): Promise<ClusterRole> => client.get(ClusterRoles, key, signal);
  await eventually(async () => JSON.stringify(resourcesOf(await read())) === JSON.stringify(expected), signal);
  return read();
}

/** All changes of an aggregating role. Returns the role after each. */
async function play(prefix: string, signal: AbortSignal): Promise<ClusterRole[]> {
  const key = await createRoles(prefix, signal);
  const merge = (part: string, body: object): Promise<unknown> =>
    client.patch(ClusterRoles, objectKey(undefined, `${prefix}-${part}`), { type: 'merge', body }, signal);
  const states = [await untilResources(key, ['nodes', 'pods'], signal)];
  await merge('a', { rules: [rule('nodes'), rule('services')] });
  states.push(await untilResources(key, ['nodes', 'services', 'pods'], signal));
  await merge('b', { metadata: { labels: null } });
  states.push(await untilResources(key, ['nodes', 'services'], signal));
  await merge('reader', { rules: [rule('stolen')] });
  states.push(await untilResources(key, ['nodes', 'services'], signal));
  await client.delete(ClusterRoles, objectKey(undefined, `${prefix}-a`), {}, signal);
  states.push(await untilResources(key, [], signal));
  return states;
}

/** The owners of fields, and the rules, without names and times. */
function comparable(role: ClusterRole): unknown {
  const owned = role.metadata.managedFields?.map(({ manager, operation, fieldsV1 }) => ({
    manager,
    operation,
    fieldsV1,
  }));
  return { rules: role.rules, owned: owned?.filter(({ manager }) => manager === 'clusterrole-aggregation-controller') };
}

test('an aggregating role has the rules of the roles that it selects, as with the Go manager', async ({ signal }) => {
  const manager = await startManager(cluster(), flags);
  const ours = await play('ours', signal);
  expect(await manager.stop()).toBe(0);
  const { process } = await startGoControllerManager(cluster(), flags);
  const go = await play('go', signal);
  await process.stop();
  expect(ours.map(comparable)).toEqual(go.map(comparable));
});
