import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import {
  ClusterRoles,
  ConfigMaps,
  CoreEvents,
  CustomResourceDefinitions,
  defineKind,
  Deployments,
  isEqualJson,
  keyOf,
  objectKey,
  Pods,
  ReplicaSets,
  Secrets,
  type CustomResourceDefinition,
  type Deployment,
  type Kind,
  type KubeObject,
  type ObjectMeta,
  type OwnerReference,
  type UntypedObject,
} from '../../pkg/api/index.ts';
import { ClientBuilder, loadKubeconfig, type Client } from '../../pkg/client/index.ts';
import { systemClock } from '../../pkg/time/index.ts';
import { eventually, watchUntil } from '../support/eventually.ts';
import { startManager, type Manager } from '../support/manager.ts';
import { exists, GraphObjects, referenceTo, untilSeen } from '../support/owner-graph-objects.ts';
import { OwnershipModel, planGraph } from '../support/owner-graphs.ts';
import { seededRandom } from '../support/random.ts';
import { createNamespace, useCluster } from './use-cluster.ts';

const cluster = useCluster();
let clients: ClientBuilder;
let client: Client;
let manager: Manager;

const flags = [
  '--controllers=garbage-collector-controller,replicaset-controller,deployment-controller',
  '--use-service-account-credentials=true',
];

beforeAll(async () => {
  const connection = await loadKubeconfig({ path: cluster().kubeconfig() }, systemClock);
  clients = new ClientBuilder({ connection, clock: systemClock, userAgent: 'garbage-collector-suite' });
  client = clients.clientFor('user');
  manager = await startManager(cluster(), flags);
});

afterAll(async () => {
  await manager.stop();
  clients.close();
});

type Saved = KubeObject;

/** The namespace of one test, and its actions. */
class Stage {
  readonly namespace: string;
  readonly #signal: AbortSignal;

  constructor(namespace: string, signal: AbortSignal) {
    this.namespace = namespace;
    this.#signal = signal;
  }

  static async create(signal: AbortSignal): Promise<Stage> {
    return new Stage(await createNamespace(cluster(), 'gc'), signal);
  }

  create(kind: Kind, name: string, owners: readonly OwnerReference[] = [], meta: ObjectMeta = {}): Promise<Saved> {
    const namespace = kind.namespaced ? { namespace: this.namespace } : {};
    const metadata = { name, ...namespace, ...(owners.length > 0 && { ownerReferences: [...owners] }), ...meta };
    return client.create(kind, { metadata }, this.#signal);
  }

  delete(kind: Kind, object: Saved, propagationPolicy: 'Background' | 'Foreground' | 'Orphan'): Promise<void> {
    return client.delete(kind, keyOf(object), { propagationPolicy }, this.#signal);
  }

  patch(kind: Kind, object: Saved, metadata: object): Promise<Saved> {
    return client.patch(kind, keyOf(object), { type: 'merge', body: { metadata } }, this.#signal);
  }

  get(kind: Kind, object: Saved): Promise<Saved> {
    return client.get(kind, keyOf(object), this.#signal);
  }

  has(kind: Kind, object: Saved): Promise<boolean> {
    return exists(client, kind, keyOf(object), this.#signal);
  }

  untilSeen(kind: Kind): Promise<void> {
    return untilSeen(client, kind, this.namespace, this.#signal);
  }

  async untilGone(kind: Kind, object: Saved): Promise<void> {
    await eventually(async () => !(await this.has(kind, object)), this.#signal);
  }

  async untilOwnedBy(kind: Kind, object: Saved, owners: readonly Saved[]): Promise<void> {
    await eventually(async () => {
      const { ownerReferences = [] } = (await this.get(kind, object)).metadata;
      return isEqualJson(
        ownerReferences.map(({ uid }) => uid),
        owners.map(({ metadata }) => metadata.uid),
      );
    }, this.#signal);
  }
}

const held = { finalizers: ['example.com/held'] };
const released = { finalizers: null };

const widgetsOf = (group: string): Kind =>
  defineKind<UntypedObject>({ group, version: 'v1', kind: 'Widget', resource: 'widgets', namespaced: true });

async function defineWidgets(group: string, signal: AbortSignal): Promise<Kind> {
  const schema = { openAPIV3Schema: { type: 'object' } };
  const definition: Omit<CustomResourceDefinition, 'metadata'> & { metadata: ObjectMeta } = {
    metadata: { name: `widgets.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural: 'widgets', kind: 'Widget' },
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  };
  await client.create(CustomResourceDefinitions, definition, signal);
  const widgets = widgetsOf(group);
  await eventually(() => client.list(widgets, {}, signal), signal); // until it is served
  return widgets;
}

async function untilAsModelled(objects: GraphObjects, model: OwnershipModel, signal: AbortSignal): Promise<void> {
  await eventually(async () => isEqualJson(await objects.state(signal), objects.expected(model)), signal);
}

describe.concurrent('the garbage collector', () => {
  test('deletes the dependents of a deleted owner, and their dependents', async ({ signal }) => {
    const stage = await Stage.create(signal);
    const owner = await stage.create(ConfigMaps, 'owner');
    const child = await stage.create(Secrets, 'child', [referenceTo(ConfigMaps, owner)]);
    const grandchild = await stage.create(ConfigMaps, 'grandchild', [referenceTo(Secrets, child)]);
    const bystander = await stage.create(ConfigMaps, 'bystander');
    await stage.delete(ConfigMaps, owner, 'Background');
    await stage.untilGone(Secrets, child);
    await stage.untilGone(ConfigMaps, grandchild);
    expect(await stage.has(ConfigMaps, bystander)).toBe(true);
  });

  test('keeps a dependent that still has an owner, and removes the reference to the absent one', async ({ signal }) => {
    const stage = await Stage.create(signal);
    const lost = await stage.create(ConfigMaps, 'lost');
    const left = await stage.create(ConfigMaps, 'left');
    const child = await stage.create(Secrets, 'child', [referenceTo(ConfigMaps, lost), referenceTo(ConfigMaps, left)]);
    await stage.delete(ConfigMaps, lost, 'Background');
    await stage.untilOwnedBy(Secrets, child, [left]);
    expect(await stage.has(Secrets, child)).toBe(true);
  });

  test('foreground deletion deletes blocking dependents first, and waits for no others', async ({ signal }) => {
    const stage = await Stage.create(signal);
    const owner = await stage.create(ConfigMaps, 'owner');
    const blocking = await stage.create(
      Secrets,
      'blocking',
      [referenceTo(ConfigMaps, owner, { blockOwnerDeletion: true })],
      held,
    );
    const other = await stage.create(Secrets, 'other', [referenceTo(ConfigMaps, owner)], held);
    await stage.untilSeen(Secrets);
    await stage.delete(ConfigMaps, owner, 'Foreground');
    const isGoing = async (object: Saved): Promise<boolean> => {
      return (await stage.get(Secrets, object)).metadata.deletionTimestamp !== undefined;
    };
    await eventually(async () => (await isGoing(blocking)) && isGoing(other), signal);
    expect((await stage.get(ConfigMaps, owner)).metadata.finalizers).toEqual(['foregroundDeletion']);
    await stage.patch(Secrets, blocking, released);
    await stage.untilGone(ConfigMaps, owner);
    expect(await stage.has(Secrets, other)).toBe(true); // kept by its finalizer, but it does not block
    await stage.patch(Secrets, other, released);
    await stage.untilGone(Secrets, other);
  });

  test('deletes an owner when its dependent does not block the deletion any more', async ({ signal }) => {
    const stage = await Stage.create(signal);
    const owner = await stage.create(ConfigMaps, 'owner');
    const reference = referenceTo(ConfigMaps, owner, { blockOwnerDeletion: true });
    const child = await stage.create(Secrets, 'child', [reference], held);
    await stage.untilSeen(Secrets);
    await stage.delete(ConfigMaps, owner, 'Foreground');
    await eventually(async () => (await stage.get(Secrets, child)).metadata.deletionTimestamp !== undefined, signal);
    await stage.patch(Secrets, child, { ownerReferences: [{ ...reference, blockOwnerDeletion: false }] });
    await stage.untilGone(ConfigMaps, owner);
    expect(await stage.has(Secrets, child)).toBe(true);
    await stage.patch(Secrets, child, released);
  });

  test('deletes cycles in the foreground, also of one object', async ({ signal }) => {
    const stage = await Stage.create(signal);
    const names = ['a', 'b', 'c'];
    const circle = await Promise.all(names.map((name) => stage.create(ConfigMaps, name)));
    const blocking = { blockOwnerDeletion: true };
    await Promise.all(
      circle.map((object, index) => {
        const owner = circle[(index + 1) % circle.length] ?? object;
        return stage.patch(ConfigMaps, object, { ownerReferences: [referenceTo(ConfigMaps, owner, blocking)] });
      }),
    );
    const [first] = circle;
    if (first !== undefined) await stage.delete(ConfigMaps, first, 'Foreground');
    for (const object of circle) await stage.untilGone(ConfigMaps, object);
    const alone = await stage.create(ConfigMaps, 'alone');
    await stage.patch(ConfigMaps, alone, { ownerReferences: [referenceTo(ConfigMaps, alone, blocking)] });
    await stage.delete(ConfigMaps, alone, 'Foreground');
    await stage.untilGone(ConfigMaps, alone);
    expect(await client.listAll(ConfigMaps, { namespace: stage.namespace }, signal)).toMatchObject({ items: [] });
  });

  test('orphans the dependents of an owner that is deleted with the policy Orphan', async ({ signal }) => {
    const stage = await Stage.create(signal);
    const owner = await stage.create(ConfigMaps, 'owner');
    const names = Array.from({ length: 50 }, (_, index) => `child-${index}`);
    const children = await Promise.all(
      names.map((name) => stage.create(Secrets, name, [referenceTo(ConfigMaps, owner)])),
    );
    await stage.untilSeen(Secrets);
    await stage.delete(ConfigMaps, owner, 'Orphan');
    await stage.untilGone(ConfigMaps, owner);
    for (const child of children) await stage.untilOwnedBy(Secrets, child, []);
    expect(await stage.has(ConfigMaps, owner)).toBe(false);
  });

  test('refuses an owner in another namespace, with an event', async ({ signal }) => {
    const stage = await Stage.create(signal);
    const elsewhere = await Stage.create(signal);
    const owner = await elsewhere.create(ConfigMaps, 'owner');
    const child = await stage.create(Secrets, 'child', [referenceTo(ConfigMaps, owner)]);
    await stage.untilGone(Secrets, child);
    const { namespace } = stage;
    const [event] = await watchUntil(client, CoreEvents, { namespace }, () => true, signal);
    const { uid } = owner.metadata;
    expect(event).toMatchObject({
      type: 'Warning',
      reason: 'OwnerRefInvalidNamespace',
      message: `ownerRef [v1/ConfigMap, namespace: ${namespace}, name: owner, uid: ${uid}] does not exist in namespace "${namespace}"`,
      involvedObject: { apiVersion: 'v1', kind: 'Secret', namespace, name: 'child', uid: child.metadata.uid },
      source: { component: 'garbage-collector-controller' },
    });
    expect(await elsewhere.has(ConfigMaps, owner)).toBe(true);
  });

  test('treats an owner as absent if its uid, name or kind is wrong', async ({ signal }) => {
    const stage = await Stage.create(signal);
    const owner = await stage.create(ConfigMaps, 'owner');
    const wrong = [
      { uid: '00000000-0000-4000-8000-000000000000' },
      { name: 'somebody' },
      { kind: 'Secret' },
      { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole' },
    ];
    const children = await Promise.all(
      wrong.map((changes, index) => stage.create(Secrets, `child-${index}`, [referenceTo(ConfigMaps, owner, changes)])),
    );
    for (const child of children) await stage.untilGone(Secrets, child);
    expect(await stage.has(ConfigMaps, owner)).toBe(true);
  });

  test('keeps dependents of an unknown kind, and dependents outside the namespace of their owner', async ({
    signal,
  }) => {
    const stage = await Stage.create(signal);
    const owner = await stage.create(ConfigMaps, 'owner');
    const unknown = { apiVersion: 'unknown.example.com/v1', kind: 'Unknown' };
    const child = await stage.create(Secrets, 'child', [referenceTo(ConfigMaps, owner, unknown)]);
    const role = await stage.create(ClusterRoles, `${stage.namespace}-role`, [referenceTo(ConfigMaps, owner)]);
    await stage.delete(ConfigMaps, owner, 'Background');
    // A later object that is collected shows that these have been processed.
    const canary = await stage.create(Secrets, 'canary', [referenceTo(ConfigMaps, owner)]);
    await stage.untilGone(Secrets, canary);
    expect(await stage.has(Secrets, child)).toBe(true);
    expect(await stage.has(ClusterRoles, role)).toBe(true);
    await client.delete(ClusterRoles, keyOf(role), {}, signal);
  });

  test('collects the dependents of a cluster-scoped owner in many namespaces', async ({ signal }) => {
    const stages = await Promise.all([Stage.create(signal), Stage.create(signal), Stage.create(signal)]);
    const [first] = stages;
    const role = await first.create(ClusterRoles, `${first.namespace}-role`);
    const children = await Promise.all(
      stages.map((stage) => stage.create(Secrets, 'child', [referenceTo(ClusterRoles, role)])),
    );
    await first.delete(ClusterRoles, role, 'Background');
    for (const [index, child] of children.entries()) await stages[index]?.untilGone(Secrets, child);
    expect(await first.has(ClusterRoles, role)).toBe(false);
  });

  test('observes custom resources soon after their definition, as owners and as dependents', async ({ signal }) => {
    const widgets = await defineWidgets('late.example.com', signal);
    const stage = await Stage.create(signal);
    const owner = await stage.create(widgets, 'owner');
    const config = await stage.create(ConfigMaps, 'config', [referenceTo(widgets, owner)]);
    const part = await stage.create(widgets, 'part', [
      referenceTo(widgets, owner, { blockOwnerDeletion: true }),
      referenceTo(ConfigMaps, config, { blockOwnerDeletion: true }),
    ]);
    const spare = await stage.create(widgets, 'spare', [referenceTo(widgets, part)]);
    await stage.delete(ConfigMaps, config, 'Foreground'); // releases `part`, a custom resource, by a merge patch
    await stage.untilGone(ConfigMaps, config);
    await stage.untilOwnedBy(widgets, part, [owner]);
    await stage.untilSeen(widgets);
    await stage.delete(widgets, part, 'Orphan');
    await stage.untilGone(widgets, part);
    await stage.untilOwnedBy(widgets, spare, []);
    const last = await stage.create(ConfigMaps, 'last', [referenceTo(widgets, spare)]);
    const other = await stage.create(ConfigMaps, 'other', [referenceTo(widgets, owner)]);
    await stage.delete(widgets, owner, 'Foreground');
    await stage.untilGone(ConfigMaps, other);
    // The deletion of the definition deletes its objects and their dependents.
    await client.delete(CustomResourceDefinitions, objectKey(undefined, 'widgets.late.example.com'), {}, signal);
    await stage.untilGone(ConfigMaps, last);
    expect(await stage.has(ConfigMaps, config)).toBe(false);
  });

  test('collects Deployments, which it observes through the informers of their controllers', async ({ signal }) => {
    const stage = await Stage.create(signal);
    const { namespace } = stage;
    const selector = { matchLabels: { app: 'web' } };
    const template = {
      metadata: { labels: { app: 'web' } },
      spec: { containers: [{ name: 'app', image: 'example' }] },
    };
    const create = (name: string): Promise<Deployment> =>
      client.create(Deployments, { metadata: { namespace, name }, spec: { replicas: 3, selector, template } }, signal);
    const untilPods = (count: number): Promise<unknown> =>
      watchUntil(client, Pods, { namespace, count }, () => true, signal);

    // The controller counts only observed objects, and the garbage collector uses the same informer.
    const untilCounted = (): Promise<unknown> =>
      watchUntil(client, ReplicaSets, { namespace }, ({ status }) => status?.replicas === 3, signal);

    const first = await create('first');
    await untilCounted();
    await stage.delete(Deployments, first, 'Foreground');
    await stage.untilGone(Deployments, first);
    expect(await client.listAll(ReplicaSets, { namespace }, signal)).toMatchObject({ items: [] });
    expect(await client.listAll(Pods, { namespace }, signal)).toMatchObject({ items: [] });

    const second = await create('second');
    await untilCounted();
    await stage.delete(Deployments, second, 'Orphan');
    await stage.untilGone(Deployments, second);
    const [replicaSet] = (await client.listAll(ReplicaSets, { namespace }, signal)).items;
    expect(replicaSet?.metadata.ownerReferences).toBeUndefined();
    if (replicaSet !== undefined) await stage.delete(ReplicaSets, replicaSet, 'Background');
    await untilPods(0);
  });

  test('collects a random graph by the rules, object by object', async ({ signal }) => {
    const stage = await Stage.create(signal);
    const random = seededRandom(42);
    const kinds = [ConfigMaps, Secrets, ClusterRoles];
    const graph = planGraph(random, { objects: 200, kinds: kinds.length, clusterWideKind: 2 });
    const objects = new GraphObjects({ client, namespace: stage.namespace, kinds, graph, prefix: 'one' });
    const model = new OwnershipModel(graph);
    await objects.create(signal);
    await objects.untilSeen(signal);
    const modes = ['Background', 'Foreground', 'Orphan'] as const;
    for (let deletions = 0; deletions < 25 && model.survivors.size > 0; deletions++) {
      const survivors = [...model.survivors.keys()];
      const victim = survivors[Math.floor(random() * survivors.length)] ?? 0;
      const mode = modes[deletions % modes.length] ?? 'Background';
      await untilAsModelled(objects, model, signal);
      await objects.delete(victim, mode, signal);
      model.delete(victim, mode);
    }
    await untilAsModelled(objects, model, signal);
    expect(await objects.state(signal)).toEqual(objects.expected(model));
  });
});

describe('the garbage collector of a busy cluster', () => {
  test('collects a large random graph by the rules, although it is killed in between', async ({ signal }) => {
    const stage = await Stage.create(signal);
    const random = seededRandom(7);
    const kinds = [ConfigMaps, Secrets, ClusterRoles];
    const graph = planGraph(random, { objects: 1500, kinds: kinds.length, clusterWideKind: 2 });
    const objects = new GraphObjects({ client, namespace: stage.namespace, kinds, graph, prefix: 'many' });
    const model = new OwnershipModel(graph);
    await objects.create(signal);
    const victims = [...model.survivors.keys()].filter(() => random() < 0.15);
    for (const victim of victims) {
      const mode = random() < 0.5 ? 'Background' : 'Foreground';
      await objects.delete(victim, mode, signal);
      model.delete(victim, mode);
      if (victim !== victims[Math.floor(victims.length / 2)]) continue;
      await manager.kill();
      manager = await startManager(cluster(), [...flags, '--leader-elect=false']);
    }
    await untilAsModelled(objects, model, signal);
    expect(await objects.state(signal)).toEqual(objects.expected(model));
  });

  test('shows its queues and its errors as metrics', async () => {
    const { body } = await manager.get('/metrics');
    expect(body).toContain('garbagecollector_controller_resources_sync_error_total 0');
    for (const queue of ['attempt_to_delete', 'attempt_to_orphan', 'graph_changes']) {
      expect(body).toContain(`workqueue_depth{name="garbage_collector_${queue}"} 0`);
    }
  });
});
