import { describe, expect, test } from 'vitest';

import {
  findCondition,
  formatTime,
  keyOf,
  PodDisruptionBudgets,
  Pods,
  ReplicaSets,
  type Kind,
  type OwnerReference,
  type Pod,
  type PodDisruptionBudget,
  type UntypedObject,
} from '../../pkg/api/index.ts';
import type { Discovery } from '../../pkg/client/index.ts';
import type { NewEvent } from '../../pkg/events/index.ts';
import { build, disruptionBudget, pod, replicaSet, runningStatus } from '../../test/support/builders.ts';
import { createTestContext, settle, whileRunning, type TestContext } from '../../test/support/controller-context.ts';
import { apiError } from '../../test/support/recording-client.ts';
import { createDisruptionController } from './disruption.ts';

const { signal } = new AbortController();
const labels = { app: 'web' };
const owner = { kind: ReplicaSets, object: replicaSet({ name: 'web', spec: { replicas: 3 } }) };
const webPod = (name: string): Pod => pod({ name, labels, status: runningStatus(), owner });
const Gatherings: Kind<UntypedObject> = {
  group: 'example.com',
  version: 'v1',
  kind: 'Gathering',
  resource: 'gatherings',
  namespaced: true,
};

interface Stage extends TestContext {
  readonly events: string[];
  budget(): PodDisruptionBudget;
  reason(): string | undefined;
  change(name: string, status: Partial<Pod['status']>): Promise<void>;
  pass(ms: number): Promise<void>;
  statusWrites(): number;
}

async function onStage(
  {
    pods,
    budget,
    discovery,
  }: { readonly pods: readonly Pod[]; readonly budget: PodDisruptionBudget; readonly discovery?: Discovery },
  play: (stage: Stage) => Promise<void>,
): Promise<void> {
  const base = createTestContext();
  const events: string[] = [];
  const recorder = { event: (_kind: unknown, _about: unknown, { reason }: NewEvent) => void events.push(reason) };
  base.server.seed(ReplicaSets, owner.object);
  for (const one of pods) base.server.seed(Pods, one);
  base.server.seed(PodDisruptionBudgets, budget);
  const stored = (): PodDisruptionBudget => base.server.stored(PodDisruptionBudgets)[0] ?? budget;
  const stage: Stage = {
    ...base,
    events,
    budget: stored,
    reason: () => findCondition(stored().status?.conditions, 'DisruptionAllowed')?.reason,
    async change(name, status) {
      const [present] = base.server.stored(Pods).filter(({ metadata }) => metadata.name === name);
      if (present === undefined) throw new Error(`there is no pod ${name}`);
      await base.server.updateStatus(Pods, { ...present, status: { ...present.status, ...status } }, signal);
    },
    async pass(ms) {
      await base.clock.advance(ms);
      await settle();
    },
    statusWrites: () => base.client.writes.filter(({ resource }) => resource === 'poddisruptionbudgets.policy').length,
  };
  const context = { ...base.context, recorderFor: () => recorder, ...(discovery && { discovery }) };
  await whileRunning(base, createDisruptionController(context), () => play(stage));
}

const three = ['a', 'b', 'c'].map(webPod);
const notReady = runningStatus({ ready: false });

describe('the disruption controller', () => {
  test('writes the status once, and again when pods change', async () => {
    const budget = disruptionBudget({ spec: { maxUnavailable: 1 } });
    await onStage({ pods: three, budget }, async (stage) => {
      expect(stage.budget().status).toMatchObject({ expectedPods: 3, desiredHealthy: 2, disruptionsAllowed: 1 });
      await stage.pass(1000);
      expect(stage.statusWrites()).toBe(1);
      await stage.change('a', notReady);
      await stage.pass(1000);
      expect(stage.budget().status).toMatchObject({ currentHealthy: 2, disruptionsAllowed: 0 });
      expect(stage.statusWrites()).toBe(2);
      expect(stage.events).toEqual([]);
    });
  });

  test('changes of a hundred pods cause ten syncs a second, and irrelevant changes cause none', async () => {
    const pods = Array.from({ length: 100 }, (_, index) => webPod(`web-${index}`));
    const budget = disruptionBudget({ spec: { minAvailable: 1 } });
    await onStage({ pods, budget }, async (stage) => {
      await stage.pass(200);
      const before = stage.statusWrites();
      for (const { metadata } of pods) {
        await stage.change(metadata.name, notReady);
        if (metadata.name.endsWith('0')) await stage.pass(10);
      }
      await stage.pass(200);
      expect(stage.budget().status?.currentHealthy).toBe(0);
      expect(stage.statusWrites() - before).toBeLessThanOrEqual(4);
      const settled = stage.statusWrites();
      for (const { metadata } of pods) await stage.change(metadata.name, { message: 'still not ready' });
      await stage.pass(1000);
      expect(stage.statusWrites()).toBe(settled);
    });
  });

  test('a concurrent eviction is not overwritten', async () => {
    const budget = disruptionBudget({ spec: { minAvailable: 1 } });
    await onStage({ pods: three, budget }, async (stage) => {
      await stage.pass(200);
      const disruptedPods = { a: formatTime(stage.clock.now()) };
      let conflicts = 0;
      stage.client.before('update', async () => {
        if (conflicts++ > 0) return;
        const { status } = stage.budget();
        const evicted = { currentHealthy: 0, desiredHealthy: 0, expectedPods: 0, disruptionsAllowed: 0, ...status };
        await stage.server.updateStatus(
          PodDisruptionBudgets,
          { ...stage.budget(), status: { ...evicted, disruptedPods } },
          signal,
        );
        throw apiError(409, 'Conflict');
      });
      await stage.change('b', notReady);
      await stage.pass(1000);
      expect(stage.budget().status).toMatchObject({ disruptedPods, currentHealthy: 1, disruptionsAllowed: 0 });
      await stage.pass(120_000);
      expect(stage.budget().status).toMatchObject({ currentHealthy: 2, disruptionsAllowed: 1 });
      expect(stage.budget().status?.disruptedPods).toBeUndefined();
      expect(stage.events).toEqual(['NotDeleted']);
    });
  });

  test('if the status cannot be written, at least allows no disruption, and retries', async () => {
    const budget = disruptionBudget({ spec: { minAvailable: 1 } });
    await onStage({ pods: three, budget }, async (stage) => {
      let failures = 0;
      stage.client.before('update', () => {
        if (failures++ === 0) throw apiError(500, 'InternalError', 'no space');
      });
      await stage.pass(200);
      await stage.change('a', notReady);
      await settle();
      await stage.pass(1);
      expect(
        stage.client.writes.map(({ body }) => (body as PodDisruptionBudget).status?.conditions?.[0]?.reason),
      ).toContain('SyncFailed');
      await stage.pass(1000);
      expect(stage.reason()).toBe('SufficientPods');
      expect(stage.budget().status).toMatchObject({ currentHealthy: 2, disruptionsAllowed: 1 });
    });
  });

  test('reports a failure once, retries with back-off, and recovers without an event', async () => {
    const object = build(Gatherings, { name: 'all' }, { spec: { replicas: 4 } });
    const reference: OwnerReference = {
      apiVersion: 'example.com/v1',
      kind: 'Gathering',
      name: 'all',
      uid: object.metadata.uid,
      controller: true,
    };
    const owned = pod({ name: 'a', labels, status: runningStatus(), metadata: { ownerReferences: [reference] } });
    const budget = disruptionBudget({ spec: { maxUnavailable: '50%' } });
    await onStage({ pods: [owned], budget }, async (stage) => {
      await stage.pass(5000);
      expect(stage.reason()).toBe('SyncFailed');
      expect(stage.events).toEqual(['CalculateExpectedPodCountFailed']);
      expect(stage.statusWrites()).toBe(1);
    });
  });

  test('does not repeat a sync that would fail again, but tries again after minutes', async () => {
    const object = build(Gatherings, { name: 'all' }, { spec: { replicas: 4 } });
    const { uid } = object.metadata;
    const reference = { apiVersion: 'example.com/v1', kind: 'Gathering', name: 'all', uid, controller: true };
    const owned = pod({ name: 'a', labels, status: runningStatus(), metadata: { ownerReferences: [reference] } });
    const budget = disruptionBudget({ spec: { maxUnavailable: '50%' } });
    let [isServed, requests] = [false, 0];
    const discovery: Discovery = {
      async kindFor() {
        requests++;
        return isServed ? Gatherings : undefined;
      },
      preferred: async () => ({ resources: [{ kind: Gatherings, verbs: new Set<string>() }], failures: new Map() }),
      all: async () => ({ resources: [], failures: new Map() }),
      refresh: async () => undefined,
    };
    await onStage({ pods: [owned], budget, discovery }, async (stage) => {
      stage.server.seed(Gatherings, object);
      await stage.pass(60_000);
      expect([stage.reason(), stage.statusWrites()]).toEqual(['SyncFailed', 1]);
      expect(requests).toBe(2); // the status that it writes causes the second
      isServed = true;
      await stage.pass(300_000);
      expect(stage.budget().status).toMatchObject({ expectedPods: 4, desiredHealthy: 2 });
    });
  });

  test('sets a DisruptionTarget condition to False after two minutes, unless the pod is deleted by then', async () => {
    const target = { type: 'DisruptionTarget', status: 'True', reason: 'PreemptionByScheduler' };
    const status = (sinceMs: number) =>
      runningStatus({ conditions: [{ ...target, lastTransitionTime: formatTime(sinceMs) }] });
    const budget = disruptionBudget({ spec: { minAvailable: 1 } });
    await onStage({ pods: three, budget }, async (stage) => {
      for (const name of ['a', 'b']) await stage.change(name, status(stage.clock.now()));
      await settle();
      const [, second] = three;
      if (second !== undefined) await stage.server.delete(Pods, keyOf(second), { gracePeriodSeconds: 0 }, signal);
      await stage.pass(119_000);
      const writes = () => stage.client.writes.filter(({ resource }) => resource === 'pods').map(({ key }) => key);
      expect(writes()).toEqual([]);
      await stage.pass(2000);
      expect(writes()).toEqual(['default/a']);
      const [first] = stage.server.stored(Pods);
      expect(findCondition(first?.status?.conditions, 'DisruptionTarget')).toMatchObject({ status: 'False' });
    });
  });
});
