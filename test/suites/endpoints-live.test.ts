import { beforeAll, expect, test } from 'vitest';
import {
  Deployments,
  EndpointsKind,
  EndpointSlices,
  objectKey,
  Pods,
  Services,
  type Deployment,
  type EndpointSlice,
  type Unsaved,
} from '../../pkg/api/index.ts';
import type { Client } from '../../pkg/client/index.ts';
import { podSettingNames } from '../../pkg/hollow/index.ts';
import { EndpointsUser } from '../support/endpoints-user.ts';
import { eventually, watchUntil } from '../support/eventually.ts';
import { followObjects } from '../support/follow-objects.ts';
import { startManager, type Manager } from '../support/manager.ts';
import { createNamespace, useCluster } from './use-cluster.ts';
import { useNodes } from './use-nodes.ts';

const cluster = useCluster();
const nodes = useNodes(cluster, { nodes: 3 });
let client: Client;

beforeAll(() => {
  ({ client } = nodes());
});

function start(controllers: readonly string[], ...flags: readonly string[]): Promise<Manager> {
  return startManager(cluster(), [
    `--controllers=${controllers.join()}`,
    '--leader-elect=false',
    '--use-service-account-credentials=true',
    ...flags,
  ]);
}

const endpointControllers = ['endpoints-controller', 'endpointslice-controller', 'endpointslice-mirroring-controller'];

const web = (namespace: string, version: string): Unsaved<Deployment> => ({
  metadata: { namespace, name: 'web' },
  spec: {
    replicas: 3,
    selector: { matchLabels: { app: 'web' } },
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
    template: {
      metadata: {
        labels: { app: 'web' },
        annotations: { version, [podSettingNames.readyAfter]: '100ms', [podSettingNames.stopAfter]: '200ms' },
      },
      spec: { containers: [{ name: 'app', image: 'example' }] },
    },
  },
});

/** The pods that a proxy would send traffic to. */
function readyPods(slices: readonly EndpointSlice[]): string[] {
  return slices.flatMap(({ endpoints }) =>
    (endpoints ?? []).flatMap(({ conditions, targetRef }) =>
      conditions?.ready === true ? [targetRef?.name ?? ''] : [],
    ),
  );
}

test('a rolling update of all pods never leaves a proxy without endpoints', async ({ signal }) => {
  // Slices of one endpoint: each change then moves endpoints between slices.
  await using manager = await start(
    ['deployment-controller', 'replicaset-controller', 'endpointslice-controller'],
    '--max-endpoints-per-slice=1',
  );
  const namespace = await createNamespace(cluster(), 'rolling');
  const user = new EndpointsUser(client, namespace, signal);
  await client.create(Deployments, web(namespace, '1'), signal);
  await user.service('web', { selector: { app: 'web' } });
  const isAvailable = ({ status }: Deployment): boolean => status?.availableReplicas === 3;
  await watchUntil(client, Deployments, { namespace }, isAvailable, signal);
  await user.untilSlices(
    'web',
    (slices) => slices.filter(({ endpoints }) => endpoints?.[0]?.conditions?.ready).length === 3,
  );

  const selection = { namespace, labelSelector: 'kubernetes.io/service-name=web' };
  const proxy = await followObjects(client, EndpointSlices, selection, readyPods);
  for (const version of ['2', '3']) {
    const body = { spec: { template: { metadata: { annotations: { version } } } } };
    const { metadata } = await client.patch(Deployments, objectKey(namespace, 'web'), { type: 'merge', body }, signal);
    const isRolledOut = ({ status }: Deployment): boolean =>
      (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0) &&
      status?.updatedReplicas === 3 &&
      status.replicas === 3 &&
      status.availableReplicas === 3;
    await watchUntil(client, Deployments, { namespace }, isRolledOut, signal);
  }
  await eventually(async () => new Set(proxy.seen.at(-1)).size === 3, signal);
  await proxy.end();
  expect(new Set(proxy.seen.flat()).size, 'pods of three versions were observed').toBe(9);
  expect(proxy.seen.filter((names) => names.length === 0)).toEqual([]);
  expect(manager.logs()).not.toContain('reconcile failed');
});

test('objects whose owner was deleted while no manager ran are cleaned up at the start', async ({ signal }) => {
  const namespace = await createNamespace(cluster(), 'orphans');
  const user = new EndpointsUser(client, namespace, signal);
  const subsets = [{ addresses: [{ ip: '192.0.2.1' }], ports: [{ port: 80 }] }];
  await user.create(EndpointsKind, { metadata: { name: 'orphan' }, subsets });
  const leader = { 'control-plane.alpha.kubernetes.io/leader': '{}' };
  await user.create(EndpointsKind, { metadata: { name: 'lock', annotations: leader } });
  const manager = 'endpointslicemirroring-controller.k8s.io';
  const labels = { 'kubernetes.io/service-name': 'gone', 'endpointslice.kubernetes.io/managed-by': manager };
  await user.create(EndpointSlices, {
    metadata: { name: 'mirror', labels },
    addressType: 'IPv4',
    endpoints: [],
    ports: [],
  });
  await using _manager = await start(endpointControllers);
  await user.untilGone(EndpointsKind, 'orphan');
  await user.untilGone(EndpointSlices, 'mirror');
  expect((await user.endpoints('lock')).metadata.name).toBe('lock');
});

test('changes of pods within the batch period are written together', async ({ signal }) => {
  await using manager = await start(
    endpointControllers,
    '--endpointslice-updates-batch-period=2s',
    '--endpoint-updates-batch-period=2s',
  );
  const namespace = await createNamespace(cluster(), 'batches');
  const user = new EndpointsUser(client, namespace, signal);
  await user.service('web', { selector: { app: 'web' } });
  const [empty] = await user.untilSlices('web', (slices) => slices.length === 1);
  const names = Array.from({ length: 6 }, (_, index) => `web-${index}`);
  await Promise.all(
    names.map((name) =>
      user.create(Pods, {
        metadata: { name, labels: { app: 'web' } },
        spec: { containers: [{ name: 'app', image: 'example' }] },
      }),
    ),
  );
  const [full] = await user.untilSlices('web', (slices) => slices[0]?.endpoints?.length === names.length);
  expect(full?.metadata.name).toBe(empty?.metadata.name);
  expect((full?.metadata.generation ?? 0) - (empty?.metadata.generation ?? 0)).toBeLessThanOrEqual(2);
  await user.untilEndpoints('web', ({ subsets = [] }) => subsets[0]?.addresses?.length === names.length);

  const labelSelector = 'endpointslice.kubernetes.io/managed-by=endpointslice-controller.k8s.io';
  const { items: slices } = await client.listAll(EndpointSlices, { labelSelector }, signal);
  const endpoints = slices.reduce((sum, slice) => sum + (slice.endpoints?.length ?? 0), 0);
  const { body } = await manager.get('/metrics');
  const lines = String(body).split('\n');
  expect(lines).toContain(`endpoint_slice_controller_endpoints_desired ${endpoints}`);
  expect(lines).toContain(`endpoint_slice_controller_num_endpoint_slices ${slices.length}`);
  expect(lines).toContain('endpoint_slice_mirroring_controller_changes{operation="create"} 0');
  await user.delete(Services, 'web');
  await user.untilGone(EndpointsKind, 'web');
});
