import { describe, expect, test } from 'vitest';

import {
  ControllerRevisions,
  DaemonSets,
  keyOf,
  Nodes,
  Pods,
  type ControllerRevision,
  type DaemonSet,
  type Unsaved,
} from '../../pkg/api/index.ts';
import { newRevision, revisionData, templatePatch } from '../../pkg/revisions/index.ts';
import { container, controllerRevision, daemonSet, node, pod, runningStatus } from '../../test/support/builders.ts';
import { createTestContext, settle, whileRunning, type TestContext } from '../../test/support/controller-context.ts';
import { CountingInformers } from '../../test/support/counting-informers.ts';
import { apiError } from '../../test/support/recording-client.ts';
import { countedBy, withStaleCache } from '../../test/support/stale-cache.ts';
import { createDaemonSetController } from './daemon-set.ts';

const { signal } = new AbortController();
const hashLabel = 'controller-revision-hash';
const web = daemonSet({ name: 'web' });

function run(test: TestContext, use: () => Promise<void> = settle): Promise<void> {
  return whileRunning(test, createDaemonSetController(test.context, 1), use);
}

async function pass(test: TestContext): Promise<void> {
  for (let turn = 0; turn < 3; turn++) {
    await test.clock.advance(1100);
    await settle();
  }
}

function withNodes(count: number): TestContext {
  const context = createTestContext();
  for (let index = 0; index < count; index++) context.server.seed(Nodes, node({ name: `n${index}` }));
  return context;
}

function revisionFor(owner: DaemonSet, revision: bigint, collisionCount?: number): Unsaved<ControllerRevision> {
  return newRevision({ kind: DaemonSets, owner, revision, collisionCount, hashLabel });
}

describe('the daemonset controller', () => {
  test('writes a revision, then a pod for every node, then the status', async () => {
    const context = withNodes(3);
    context.server.seed(DaemonSets, web);
    await run(context, async () => {
      await pass(context);
      expect(context.server.stored(Pods)).toHaveLength(3);
      expect(context.server.stored(DaemonSets)[0]?.status).toMatchObject({
        desiredNumberScheduled: 3,
        currentNumberScheduled: 3,
        updatedNumberScheduled: 3,
        observedGeneration: 1,
      });
    });
    const writes = context.client.writes.map(({ verb, resource }) => `${verb} ${resource}`);
    expect(writes.slice(0, 5)).toEqual([
      'create controllerrevisions.apps',
      'create pods',
      'create pods',
      'create pods',
      'update daemonsets.apps',
    ]);
  });

  test('creates at most 250 pods at once, and the rest when it has observed them', async () => {
    const context = withNodes(260);
    context.server.seed(DaemonSets, web);
    let atFirst = 0;
    context.client.before('update', () => {
      if (atFirst === 0) atFirst = context.server.stored(Pods).length;
    });
    await run(context, async () => {
      await pass(context);
      expect(context.server.stored(Pods)).toHaveLength(260);
    });
    expect(atFirst).toBe(250);
  });

  test('tries one pod at a time while all are refused', async () => {
    const context = withNodes(100);
    context.server.seed(DaemonSets, web);
    context.client.before('create', ({ resource }) => {
      if (resource === 'pods') throw apiError(403, 'Forbidden');
    });
    await run(context);
    expect(context.client.writes.filter(({ resource }) => resource === 'pods').length).toBeLessThan(15);
    expect(context.server.stored(DaemonSets)[0]?.status?.desiredNumberScheduled).toBe(100);
  });

  test('recognises the revision of its template, however its fields are ordered', async () => {
    const context = withNodes(1);
    const owner = context.server.seed(DaemonSets, web);
    const data: unknown = JSON.parse(templatePatch(owner));
    const labels = { app: 'web', [hashLabel]: 'by-go' };
    const stored = controllerRevision(
      { name: 'web-1', labels, owner: { kind: DaemonSets, object: owner } },
      { data: data as object },
    );
    context.server.seed(ControllerRevisions, stored);
    await run(context, () => pass(context));
    expect(context.server.stored(ControllerRevisions)).toHaveLength(1);
    expect(context.server.stored(Pods)[0]?.metadata.labels?.[hashLabel]).toBe('by-go');
  });

  test('counts a collision of names, and takes another name', async () => {
    const context = withNodes(1);
    context.server.seed(DaemonSets, web);
    const other = daemonSet({
      name: 'other',
      spec: { template: { spec: { containers: [container({ image: 'x' })] } } },
    });
    const taken = { ...revisionFor(web, 1n), data: { spec: {} }, metadata: { ...revisionFor(other, 1n).metadata } };
    context.server.seed(ControllerRevisions, {
      ...taken,
      metadata: { ...taken.metadata, name: revisionFor(web, 1n).metadata.name, labels: {} },
    });
    await run(context, () => pass(context));
    expect(context.server.stored(DaemonSets)[0]?.status?.collisionCount).toBe(1);
    const names = context.server.stored(ControllerRevisions).map(({ metadata }) => metadata.name);
    expect(names).toContain(revisionFor(web, 1n, 1).metadata.name);
    expect(context.server.stored(Pods)).toHaveLength(1);
  });

  test('moves pods from equal revisions to one of them, and deletes the others', async () => {
    const context = withNodes(1);
    const object = context.server.seed(DaemonSets, web);
    const data = JSON.parse(templatePatch(object)) as object;
    const owner = { kind: DaemonSets, object };
    for (const [name, revision] of [
      ['a', 1],
      ['b', 2],
    ] as const) {
      context.server.seed(
        ControllerRevisions,
        controllerRevision({ name, labels: { app: 'web', [hashLabel]: name }, owner }, { data, revision }),
      );
    }
    const labels = { app: 'web', [hashLabel]: 'a' };
    context.server.seed(Pods, pod({ name: 'p', labels, owner, spec: { nodeName: 'n0' }, status: runningStatus() }));
    await run(context, () => pass(context));
    expect(context.server.stored(ControllerRevisions).map(({ metadata }) => metadata.name)).toEqual(['b']);
    expect(context.server.stored(Pods).map(({ metadata }) => metadata.labels?.[hashLabel])).toEqual(['b']);
  });

  test('keeps the label of a pod of an older revision, while it moves those of equal revisions', async () => {
    const context = withNodes(2);
    const spec = { updateStrategy: { type: 'OnDelete' } };
    const object = context.server.seed(DaemonSets, daemonSet({ name: 'web', spec }));
    const owner = { kind: DaemonSets, object };
    const current = JSON.parse(templatePatch(object)) as object;
    for (const { name, revision, data } of [
      { name: 'older', revision: 1, data: { spec: {} } },
      { name: 'a', revision: 2, data: current },
      { name: 'b', revision: 3, data: current },
    ]) {
      const labels = { app: 'web', [hashLabel]: name };
      context.server.seed(ControllerRevisions, controllerRevision({ name, labels, owner }, { data, revision }));
    }
    for (const [nodeName, hash] of Object.entries({ n0: 'older', n1: 'a' })) {
      const labels = { app: 'web', [hashLabel]: hash };
      const onNode = { spec: { nodeName }, status: runningStatus() };
      context.server.seed(Pods, pod({ name: `of-${hash}`, labels, owner, ...onNode }));
    }
    await run(context, () => pass(context));
    const hashes = context.server.stored(Pods).map(({ metadata }) => [metadata.name, metadata.labels?.[hashLabel]]);
    expect(Object.fromEntries(hashes)).toEqual({ 'of-older': 'older', 'of-a': 'b' });
    const left = context.server.stored(ControllerRevisions).map(({ metadata }) => metadata.name);
    expect(left.sort()).toEqual(['b', 'older']);
  });

  test('labels a revision without a hash, and renumbers the revision of an earlier template', async () => {
    const context = withNodes(0);
    const object = context.server.seed(DaemonSets, web);
    const owner = { kind: DaemonSets, object };
    const labels = { app: 'web' };
    const data = JSON.parse(templatePatch(object)) as object;
    context.server.seed(
      ControllerRevisions,
      controllerRevision({ name: 'past', labels, owner }, { data, revision: 3 }),
    );
    context.server.seed(
      ControllerRevisions,
      controllerRevision({ name: 'latest', labels: { ...labels, [hashLabel]: 'x' }, owner }, { data: {}, revision: 8 }),
    );
    await run(context, () => pass(context));
    const past = context.server.stored(ControllerRevisions).find(({ metadata }) => metadata.name === 'past');
    expect(past).toMatchObject({ revision: 9, metadata: { labels: { [hashLabel]: 'past' } } });
    expect(past && revisionData(past)).toBe(templatePatch(object));
  });

  test('ignores a DaemonSet that is being deleted, or selects every pod', async () => {
    const context = withNodes(1);
    const metadata = { ...web.metadata, deletionTimestamp: web.metadata.creationTimestamp, finalizers: ['x'] };
    context.server.seed(DaemonSets, { ...web, metadata });
    context.server.seed(DaemonSets, daemonSet({ name: 'all', spec: { selector: {} } }));
    await run(context);
    expect(context.client.writes).toEqual([]);
  });

  test('deletes failed pods with back-off', async () => {
    const context = withNodes(1);
    const object = context.server.seed(DaemonSets, { ...web, status: { observedGeneration: 1 } as never });
    const fail = (name: string): void => {
      const { labels } = revisionFor(web, 1n).metadata;
      const status = { phase: 'Failed' };
      const owner = { kind: DaemonSets, object };
      context.server.seed(Pods, pod({ name, ...(labels && { labels }), owner, spec: { nodeName: 'n0' }, status }));
    };
    fail('first');
    await run(context, async () => {
      expect(context.server.stored(Pods).map(({ metadata }) => metadata.name)).not.toContain('first');
      fail('second');
      await settle();
      expect(context.server.stored(Pods).map(({ metadata }) => metadata.name)).toContain('second');
      await pass(context);
      expect(context.server.stored(Pods).map(({ metadata }) => metadata.name)).not.toContain('second');
    });
  });

  const gate = 'StaleControllerConsistencyDaemonSet';
  const counter = 'daemonset_controller_stale_sync_skips_total';
  const staleCaches = [
    {
      name: 'counts syncs that wait for own pods, with the gate on',
      stale: Pods,
      gates: [gate],
      counted: [`${counter}{group="",resource="pods"}`],
    },
    { name: 'counts no sync with the gate off, but waits', stale: Pods, gates: [], counted: [] },
    { name: 'counts no sync that waits for a revision', stale: ControllerRevisions, gates: [gate], counted: [] },
  ];
  for (const { name, stale, gates, counted } of staleCaches) {
    test(name, async () => {
      const context = withStaleCache(withNodes(1), stale, gates);
      context.server.seed(DaemonSets, web);
      await run(context, async () => {
        context.server.seed(Nodes, node({ name: 'later' }));
        await pass(context);
      });
      expect(context.server.stored(Pods)).toHaveLength(1);
      expect(await countedBy(counter, context)).toEqual(counted);
      expect(await context.context.metrics.metrics()).not.toContain('resource="controllerrevisions"');
    });
  }

  /** The number of objects that are read when one node among others changes its labels. */
  async function costOfNodeChange(others: number): Promise<number> {
    const base = withNodes(2);
    const informers = new CountingInformers(base.context.informers);
    const context = { ...base, context: { ...base.context, informers } };
    for (let index = 0; index < others; index++) {
      const app = { app: `other-${index}` };
      const spec = { containers: [container()], nodeSelector: { pool: `p${index}` } };
      const described = { selector: { matchLabels: app }, template: { metadata: { labels: app }, spec } };
      base.server.seed(DaemonSets, daemonSet({ name: `other-${index}`, spec: described }));
      base.server.seed(Pods, pod({ name: `alone-${index}`, labels: app, spec: { nodeName: 'n1' } }));
    }
    let cost = 0;
    await run(context, async () => {
      await pass(base);
      informers.count = 0;
      const body = { metadata: { labels: { pool: 'none' } } };
      await base.server.patch(Nodes, keyOf(node({ name: 'n0' })), { type: 'merge', body }, signal);
      await settle();
      cost = informers.count;
    });
    return cost;
  }

  test('reads nothing of DaemonSets that a changed node does not affect', async () => {
    expect(await costOfNodeChange(60)).toBe(await costOfNodeChange(6));
  });
});
