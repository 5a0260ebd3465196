import { describe, expect, test } from 'vitest';

import {
  ControllerRevisions,
  keyOf,
  PersistentVolumeClaims,
  Pods,
  StatefulSets,
  type PersistentVolumeClaim,
  type Pod,
} from '../../pkg/api/index.ts';
import { controllerRevision, pod, runningStatus, statefulSet } from '../../test/support/builders.ts';
import { createTestContext, settle, whileRunning, type TestContext } from '../../test/support/controller-context.ts';
import { withStaleCache } from '../../test/support/stale-cache.ts';
import { createStatefulSetController } from './stateful-set.ts';

const run = (test: TestContext, use: () => Promise<void>): Promise<void> =>
  whileRunning(test, createStatefulSetController(test.context, 1), use);
const { signal } = new AbortController();
const namesOf = (objects: readonly { metadata: { name: string } }[]): string[] =>
  objects.map(({ metadata }) => metadata.name);

describe('the StatefulSet controller', () => {
  test('stores the revision, creates the first pod, and writes the status', async () => {
    const context = createTestContext();
    context.server.seed(StatefulSets, statefulSet({ name: 'web', spec: { replicas: 3 } }));
    await run(context, settle);
    expect(context.client.writes.map(({ verb, resource, subresource }) => [verb, resource, subresource])).toEqual([
      ['create', 'controllerrevisions.apps', undefined],
      ['create', 'pods', undefined],
      ['update', 'statefulsets.apps', 'status'],
    ]);
    const [revision] = context.server.stored(ControllerRevisions);
    const [set] = context.server.stored(StatefulSets);
    expect(set?.status).toMatchObject({ replicas: 0, updateRevision: revision?.metadata.name });
  });

  test('one write has the status of a ready pod and of the pod that is created for it', async () => {
    const context = createTestContext();
    context.server.seed(StatefulSets, statefulSet({ name: 'web', spec: { replicas: 2 } }));
    const start = (name: string) =>
      context.server.updateStatus(Pods, { ...podOf(name), status: runningStatus() }, signal).then(settle);
    const podOf = (name: string) => {
      const found = context.server.stored(Pods).find(({ metadata }) => metadata.name === name);
      if (found === undefined) throw new Error(`there is no pod ${name}`);
      return found;
    };
    await run(context, async () => {
      await start('web-0');
      await context.clock.advance(1000);
      await settle();
      await start('web-1');
      await context.clock.advance(1000);
      await settle();
    });
    expect(context.client.writes.map(({ verb, resource }) => `${verb} ${resource}`)).toEqual([
      'create controllerrevisions.apps',
      'create pods',
      'update statefulsets.apps', // the new generation
      'create pods',
      'update statefulsets.apps',
      'update statefulsets.apps',
    ]);
    const [set] = context.server.stored(StatefulSets);
    expect(set?.status).toMatchObject({ replicas: 2, readyReplicas: 2, currentReplicas: 2 });
  });

  for (const podManagementPolicy of ['OrderedReady', 'Parallel']) {
    test(`without settings of the rolling update, replaces each pod once: ${podManagementPolicy}`, async () => {
      const context = createTestContext();
      const spec = { replicas: 3, podManagementPolicy, updateStrategy: { type: 'RollingUpdate' } };
      const web = context.server.seed(StatefulSets, statefulSet({ name: 'web', spec }));
      const reach = async (hasReached: (pod: Pod) => boolean, status: Pod['status']): Promise<void> => {
        for (const each of context.server.stored(Pods)) {
          if (!hasReached(each)) await context.server.updateStatus(Pods, { ...each, status }, signal);
        }
        await settle();
      };
      const pass = async (): Promise<void> => {
        await reach(({ status }) => status?.phase !== undefined, { phase: 'Pending' });
        await context.clock.advance(20); // the status would wait longer
        await settle();
        await reach(({ status }) => status?.phase === 'Running', runningStatus());
        await context.clock.advance(20);
        await settle();
      };
      await run(context, async () => {
        for (let passes = 0; passes < 10; passes++) await pass();
        const body = { spec: { template: { metadata: { annotations: { version: 'two' } } } } };
        context.client.actions.length = 0;
        await context.server.patch(StatefulSets, keyOf(web), { type: 'merge', body }, signal);
        await settle();
        for (let passes = 0; passes < 20; passes++) await pass();
      });
      const replaced = context.client.writes.filter(({ resource }) => resource === 'pods');
      expect(replaced.map(({ verb, key }) => `${verb} ${String(key)}`)).toEqual(
        [2, 1, 0].flatMap((ordinal) => [`delete default/web-${ordinal}`, `create default/web-${ordinal}`]),
      );
      const [set] = context.server.stored(StatefulSets);
      expect(set?.status).toMatchObject({ readyReplicas: 3, currentReplicas: 3, updatedReplicas: 3 });
      expect(set?.status?.currentRevision).toBe(set?.status?.updateRevision);
    });
  }

  test('adopts pods with its name and revisions with its labels, and releases pods of another name', async () => {
    const context = createTestContext();
    const labels = { app: 'web' };
    const set = context.server.seed(StatefulSets, statefulSet({ name: 'web' }));
    const owner = { kind: StatefulSets, object: set };
    context.server.seed(Pods, pod({ name: 'web-0', labels, status: runningStatus() }));
    context.server.seed(Pods, pod({ name: 'other', labels }));
    context.server.seed(Pods, pod({ name: 'mine-0', labels, owner }));
    context.server.seed(ControllerRevisions, controllerRevision({ name: 'old', labels }, { data: {} }));
    await run(context, () => context.clock.advance(1000).then(settle));
    const ownersOf = (name: string) =>
      context.server.stored(Pods).find(({ metadata }) => metadata.name === name)?.metadata.ownerReferences ?? [];
    expect(ownersOf('web-0')).toMatchObject([{ uid: set.metadata.uid }]);
    expect([...ownersOf('other'), ...ownersOf('mine-0')]).toEqual([]);
    const adopted = context.server.stored(ControllerRevisions).find(({ metadata }) => metadata.name === 'old');
    expect(adopted?.metadata.ownerReferences).toMatchObject([{ uid: set.metadata.uid }]);
  });

  test('continues when a conflicting claim is deleted', async () => {
    const context = createTestContext();
    const volumeClaimTemplates = [{ metadata: { name: 'data' }, spec: {} }] as PersistentVolumeClaim[];
    const persistentVolumeClaimRetentionPolicy = { whenDeleted: 'Retain', whenScaled: 'Delete' };
    const spec = { volumeClaimTemplates, persistentVolumeClaimRetentionPolicy };
    context.server.seed(StatefulSets, statefulSet({ name: 'web', spec }));
    const owner = { apiVersion: 'v1', kind: 'Pod', name: 'web-0', uid: 'earlier', controller: true };
    const metadata = { namespace: 'default', name: 'data-web-0', ownerReferences: [owner] };
    const claim = context.server.seed(PersistentVolumeClaims, { metadata, spec: {} });
    await run(context, async () => {
      expect(namesOf(context.server.stored(Pods))).toEqual([]);
      await context.server.delete(PersistentVolumeClaims, keyOf(claim), {}, signal);
      await settle();
      expect(namesOf(context.server.stored(Pods))).toEqual(['web-0']);
    });
  });

  for (const stale of [Pods, ControllerRevisions]) {
    test(`waits until its cache has observed its own ${stale.resource}`, async () => {
      const context = withStaleCache(createTestContext(), stale, []);
      const podManagementPolicy = 'Parallel';
      const web = context.server.seed(StatefulSets, statefulSet({ name: 'web', spec: { podManagementPolicy } }));
      await run(context, async () => {
        const scaled = { type: 'merge', body: { spec: { replicas: 2 } } } as const;
        await context.server.patch(StatefulSets, keyOf(web), scaled, signal);
        await context.clock.advance(1000);
        await settle();
      });
      expect(namesOf(context.server.stored(Pods))).toEqual(['web-0']);
    });
  }

  const unavailable = 'statefulset_controller_statefulset_unavailable_replicas';
  const limit = 'statefulset_controller_statefulset_max_unavailable';
  const deletionTimestamp = '2026-01-01T00:00:00Z';
  const gauges: { name: string; set: Parameters<typeof statefulSet>[0]; shown: string[] }[] = [
    { name: 'whose update may go on', set: { spec: { podManagementPolicy: 'Parallel' } }, shown: [limit, unavailable] },
    { name: 'that waits for a pod', set: {}, shown: [limit] },
    {
      name: 'with OnDelete',
      set: { spec: { podManagementPolicy: 'Parallel', updateStrategy: { type: 'OnDelete' } } },
      shown: [limit],
    },
    { name: 'without pods', set: { spec: { replicas: 0 } }, shown: [limit, unavailable] },
    { name: 'that is being deleted', set: { metadata: { deletionTimestamp, finalizers: ['orphan'] } }, shown: [limit] },
  ];
  for (const { name, set, shown } of gauges) {
    test(`has ${shown.length === 2 ? 'the' : 'no'} number of unavailable pods of a set ${name}`, async () => {
      const base = createTestContext();
      const gates = { isEnabled: (gate: string) => gate === 'MaxUnavailableStatefulSet' };
      const context = { ...base, context: { ...base.context, gates } };
      const web = statefulSet({ name: 'web', ...set });
      context.server.seed(StatefulSets, web);
      const owner = { kind: StatefulSets, object: web };
      const data = { spec: { template: { ...web.spec.template, $patch: 'replace' } } };
      context.server.seed(
        ControllerRevisions,
        controllerRevision({ name: 'web-1', labels: { app: 'web' }, owner }, { data }),
      );
      await run(context, settle);
      const text = await base.context.metrics.metrics();
      expect([limit, unavailable].filter((gauge) => text.includes(`${gauge}{`))).toEqual(shown);
    });
  }

  test('creates no revision for a set that is being deleted', async () => {
    const context = createTestContext();
    const metadata = { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['orphan'] };
    context.server.seed(StatefulSets, statefulSet({ name: 'web', metadata }));
    await run(context, settle);
    expect(context.client.writes).toEqual([]);
  });
});
