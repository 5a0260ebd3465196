import { describe, expect, test } from 'vitest';

import { HorizontalPodAutoscalers, keyOf, ReplicaSets, type HorizontalPodAutoscaler } from '../../pkg/api/index.ts';
import type { Discovery } from '../../pkg/client/index.ts';
import { build, replicaSet } from '../../test/support/builders.ts';
import { createTestContext, settle, whileRunning, type TestContext } from '../../test/support/controller-context.ts';
import { apiError, type Action } from '../../test/support/recording-client.ts';
import { createPodAutoscaler } from './pod-autoscaler.ts';

const options = {
  workers: 5,
  syncPeriodMs: 15_000,
  downscaleStabilizationMs: 300_000,
  tolerance: 0.1,
  cpuInitializationMs: 300_000,
  initialReadinessDelayMs: 30_000,
};
const { signal } = new AbortController();
const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web' };
const spec = { scaleTargetRef, minReplicas: 3, maxReplicas: 5, metrics: [] };
const autoscaler = build<HorizontalPodAutoscaler>(HorizontalPodAutoscalers, { name: 'web' }, { spec });

const served = { resources: [{ kind: ReplicaSets, verbs: new Set<string>() }], failures: new Map<string, string>() };
const discovery: Discovery = {
  preferred: async () => served,
  all: async () => served,
  kindFor: async () => ReplicaSets,
  refresh: async () => {},
};

interface Stage extends TestContext {
  pass(ms: number): Promise<void>;
  replicas(): number | undefined;
  reasons(): string[];
  writesOf(subresource: string): number;
  syncs(): number;
}

/** An autoscaler whose target has one replica, two below the minimum. */
async function onStage(
  play: (stage: Stage) => Promise<void>,
  target = replicaSet({ name: 'web', spec: { replicas: 1 } }),
) {
  const base = createTestContext({ freeze: true });
  base.server.seed(ReplicaSets, target);
  base.server.seed(HorizontalPodAutoscalers, autoscaler);
  let syncs = 0;
  const reconciles = { finished: () => void (syncs += 1) };
  const stage: Stage = {
    ...base,
    async pass(ms) {
      await base.clock.advance(ms);
      await settle();
    },
    syncs: () => syncs,
    replicas: () => base.server.stored(ReplicaSets)[0]?.spec.replicas,
    reasons: () => base.recorded.map(({ reason }) => reason),
    writesOf: (wanted) => base.client.writes.filter(({ subresource }) => subresource === wanted).length,
  };
  await whileRunning(base, createPodAutoscaler({ ...base.context, discovery, reconciles }, options), () => play(stage));
}

const isScaleWrite = ({ subresource }: Action): boolean => subresource === 'scale';
const conflict = apiError(409, 'Conflict', 'the object has been modified');

describe('the autoscaler', () => {
  test('syncs one period after an autoscaler was created, however often that changes', async () => {
    await onStage(async (stage) => {
      await stage.pass(10_000);
      const [present = autoscaler] = stage.server.stored(HorizontalPodAutoscalers);
      await stage.server.update(
        HorizontalPodAutoscalers,
        { ...present, metadata: { ...present.metadata, labels: { a: 'b' } } },
        signal,
      );
      await stage.pass(4999);
      expect(stage.replicas()).toBe(1);
      await stage.pass(1);
      expect(stage.replicas()).toBe(3);
      expect(stage.reasons()).toEqual(['SuccessfulRescale']);
      expect(stage.writesOf('status')).toBe(1);
    });
  });

  test('writes a conflicting scale again, on a fresh read', async () => {
    await onStage(async (stage) => {
      let conflicts = 4;
      stage.client.before('update', (action) => {
        if (isScaleWrite(action) && conflicts-- > 0) throw conflict;
      });
      await stage.pass(15_000);
      expect(stage.replicas()).toBe(3);
      expect(stage.writesOf('scale')).toBe(5);
      expect(stage.reasons()).toEqual(['SuccessfulRescale']);
    });
  });

  test('gives up after five conflicts, and reports it', async () => {
    await onStage(async (stage) => {
      stage.client.before('update', (action) => {
        if (isScaleWrite(action)) throw conflict;
      });
      await stage.pass(15_000);
      expect(stage.writesOf('scale')).toBe(5);
      expect(stage.recorded).toMatchObject([
        {
          type: 'Warning',
          reason: 'FailedRescale',
          message:
            'New size: 3; reason: Current number of replicas below Spec.MinReplicas; error: the object has been modified',
        },
      ]);
      const [stored] = stage.server.stored(HorizontalPodAutoscalers);
      expect(stored?.status?.conditions).toMatchObject([
        { type: 'AbleToScale', status: 'False', reason: 'FailedUpdateScale' },
      ]);
    });
  });

  test('reports a status that it cannot write, and tries again in the next period', async () => {
    await onStage(async (stage) => {
      const heal = stage.client.before('update', ({ subresource }) => {
        if (subresource === 'status') throw conflict;
      });
      await stage.pass(15_000);
      expect(stage.reasons()).toEqual(['SuccessfulRescale', 'FailedUpdateStatus']);
      heal();
      await stage.pass(15_000);
      const [stored] = stage.server.stored(HorizontalPodAutoscalers);
      expect(stored?.status?.currentReplicas).toBe(3);
    });
  });

  test('forgets a deleted autoscaler, and asks for its target no more', async () => {
    await onStage(async (stage) => {
      const shown = async (): Promise<string> => stage.context.metrics.metrics();
      await stage.pass(15_000);
      expect(await shown()).toContain('desired_replicas{namespace="default",hpa_name="web"} 3');
      await stage.server.delete(HorizontalPodAutoscalers, keyOf(autoscaler), {}, signal);
      await settle();
      expect(await shown()).not.toContain('hpa_name="web"');
      expect(await shown()).toContain('num_horizontal_pod_autoscalers 0');
      const [reads, syncs] = [stage.client.actions.length, stage.syncs()];
      await stage.pass(60_000);
      expect(stage.client.actions).toHaveLength(reads);
      expect(stage.syncs()).toBe(syncs);
    });
  });
});
