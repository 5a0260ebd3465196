import { afterAll, beforeAll, expect, test } from 'vitest';

import {
  ConfigMaps,
  CoreEvents,
  CustomResourceDefinitions,
  defineKind,
  isEqualJson,
  objectKey,
  Secrets,
  type UntypedObject,
} from '../../pkg/api/index.ts';
import { ClientBuilder, loadKubeconfig } from '../../pkg/client/index.ts';
import { systemClock } from '../../pkg/time/index.ts';
import { eventually } from '../support/eventually.ts';
import { exists, GraphObjects, referenceTo } from '../support/owner-graph-objects.ts';
import { OwnershipModel, planGraph, type DeletionMode, type GraphOptions } from '../support/owner-graphs.ts';
import { seededRandom } from '../support/random.ts';
import { runWithBoth, type Scenario, type Stage } from '../support/side-by-side.ts';
import { useCluster } from './use-cluster.ts';

const cluster = useCluster();
const widgets = defineKind<UntypedObject>({
  group: 'beside.example.com',
  version: 'v1',
  kind: 'Widget',
  resource: 'widgets',
  namespaced: true,
});
const kinds = [ConfigMaps, Secrets, widgets];
let clients: ClientBuilder;

beforeAll(async () => {
  const connection = await loadKubeconfig({ path: cluster().kubeconfig() }, systemClock);
  clients = new ClientBuilder({ connection, clock: systemClock, userAgent: 'garbage-collector-suite' });
  const client = clients.clientFor('user');
  const { signal } = new AbortController();
  const { group, resource: plural, kind } = widgets;
  const version = { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } };
  await client.create(
    CustomResourceDefinitions,
    {
      metadata: { name: `${plural}.${group}` },
      spec: { group, scope: 'Namespaced', names: { plural, kind }, versions: [version] },
    },
    signal,
  );
  await eventually(() => client.list(widgets, {}, signal), signal); // until it is served
});

afterAll(() => clients.close());

interface Waves {
  readonly prefix: string;
  readonly seed: number;
  readonly graph: GraphOptions;
  readonly modes: readonly DeletionMode[];
  readonly deletions: number;
}

/** Builds a graph while the manager runs, and deletes parts of it, one after another. */
async function deleteInWaves({ client, namespace }: Stage, waves: Waves, signal: AbortSignal): Promise<void> {
  const random = seededRandom(waves.seed);
  const graph = planGraph(random, waves.graph);
  const objects = new GraphObjects({ client, namespace, kinds, graph, prefix: waves.prefix });
  const model = new OwnershipModel(graph);
  await objects.create(signal);
  await objects.untilSeen(signal);
  const settled = (): Promise<boolean> =>
    eventually(async () => isEqualJson(await objects.state(signal), objects.expected(model)), signal);
  for (let index = 0; index < waves.deletions; index++) {
    await settled();
    const survivors = [...model.survivors.keys()];
    const victim = survivors[Math.floor(random() * survivors.length)] ?? 0;
    const mode = waves.modes[index % waves.modes.length] ?? 'Background';
    await objects.delete(victim, mode, signal);
    model.delete(victim, mode);
  }
  await settled();
}

const scenario: Scenario = {
  controllers: ['garbage-collector-controller'],
  flags: ['--kube-api-qps=500', '--kube-api-burst=500'],
  kinds: [...kinds, CoreEvents],
  async run(stage, signal) {
    const graph = { objects: 120, kinds: kinds.length };
    await Promise.all([
      deleteInWaves(
        stage,
        { prefix: 'circles', seed: 11, graph, modes: ['Background', 'Orphan'], deletions: 12 },
        signal,
      ),
      // The Go binary never completes the foreground deletion of an object that owns itself.
      deleteInWaves(
        stage,
        {
          prefix: 'trees',
          seed: 12,
          graph: { ...graph, circles: false },
          modes: ['Foreground', 'Background', 'Orphan'],
          deletions: 12,
        },
        signal,
      ),
      refuseForeignOwner(stage, signal),
    ]);
  },
};

async function refuseForeignOwner({ client, namespace, manager }: Stage, signal: AbortSignal): Promise<void> {
  const foreign = { namespace: 'default', name: `owner-${manager}` };
  const owner = await client.create(ConfigMaps, { metadata: foreign }, signal);
  const ownerReferences = [referenceTo(ConfigMaps, owner, { name: 'owner' })];
  await client.create(Secrets, { metadata: { namespace, name: 'refused', ownerReferences } }, signal);
  await eventually(async () => !(await exists(client, Secrets, objectKey(namespace, 'refused'), signal)), signal);
}

test('leaves the same objects as the Go binary, with the same owners and events', async ({ signal }) => {
  expect(await runWithBoth(cluster(), scenario, {}, signal)).toEqual([]);
});
