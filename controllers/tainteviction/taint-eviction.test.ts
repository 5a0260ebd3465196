import { describe, expect, test } from 'vitest';

import { findCondition, keyOf, Nodes, Pods, type Pod, type Taint, type Toleration } from '../../pkg/api/index.ts';
import type { NewEvent } from '../../pkg/events/index.ts';
import { node, pod, runningStatus } from '../../test/support/builders.ts';
import { createTestContext, settle, whileRunning, type TestContext } from '../../test/support/controller-context.ts';
import { apiError } from '../../test/support/recording-client.ts';
import { createTaintEvictionController } from './taint-eviction.ts';

const taint: Taint = { key: 'example.com/broken', effect: 'NoExecute' };
const bearing = (tolerationSeconds?: number): Toleration[] => [
  { key: taint.key, operator: 'Exists', ...(tolerationSeconds === undefined ? {} : { tolerationSeconds }) },
];
const podOnNode = (name: string, tolerations: Toleration[], uid = `uid-of-${name}`): Pod =>
  pod({ name, spec: { nodeName: 'node', tolerations }, status: runningStatus(), metadata: { uid, generation: 2 } });

interface Stage extends TestContext {
  readonly events: string[];
  setTaints(taints: Taint[]): Promise<void>;
  /** The pods that are left, by name. */
  left(): readonly string[];
  pass(seconds: number): Promise<void>;
}

async function onStage(pods: readonly Pod[], play: (stage: Stage) => Promise<void>): Promise<void> {
  const base = createTestContext();
  const events: string[] = [];
  const recorder = { event: (_kind: unknown, _about: unknown, { message }: NewEvent) => void events.push(message) };
  const context = { ...base.context, recorderFor: () => recorder };
  base.server.seed(Nodes, node());
  for (const one of pods) base.server.seed(Pods, one);
  const stage: Stage = {
    ...base,
    events,
    async setTaints(taints) {
      const [present] = base.server.stored(Nodes);
      await base.server.update(Nodes, { ...(present ?? node()), spec: { taints } }, new AbortController().signal);
      await settle();
    },
    left: () => base.server.stored(Pods).map(({ metadata }) => metadata.name),
    async pass(seconds) {
      await base.clock.advance(seconds * 1000);
      await settle();
    },
  };
  await whileRunning(base, createTaintEvictionController(context), () => play(stage));
}

describe('taint eviction', () => {
  test('evicts a pod although its deletion met with a conflict', async () => {
    await onStage([podOnNode('intolerant', [])], async (stage) => {
      let conflicts = 0;
      stage.client.before('delete', () => {
        if (conflicts++ === 0) throw apiError(409, 'Conflict');
      });
      await stage.setTaints([taint]);
      await stage.pass(1);
      expect(stage.left()).toEqual([]);
      expect(stage.events).toEqual(['Marking for deletion Pod default/intolerant']);
    });
  });

  test('deletes pods without a toleration at once, and keeps pods with one', async () => {
    await onStage([podOnNode('intolerant', []), podOnNode('tolerant', bearing())], async (stage) => {
      expect(stage.client.writes).toEqual([]);
      await stage.setTaints([taint]);
      expect(stage.left()).toEqual(['tolerant']);
      expect(stage.events).toEqual(['Marking for deletion Pod default/intolerant']);
      expect(stage.client.writes).toMatchObject([
        {
          verb: 'patch',
          subresource: 'status',
          body: {
            type: 'strategic',
            body: { metadata: { uid: 'uid-of-intolerant' }, status: { conditions: [{ observedGeneration: 2 }] } },
          },
        },
        { verb: 'delete', body: { preconditions: { uid: 'uid-of-intolerant' } } },
      ]);
    });
  });

  test('deletes when the time is up, not before', async () => {
    await onStage([podOnNode('patient', bearing(60))], async (stage) => {
      await stage.setTaints([taint]);
      await stage.pass(59);
      expect(stage.left()).toEqual(['patient']);
      await stage.pass(1);
      expect(stage.left()).toEqual([]);
    });
  });

  test('cancels when the taint is removed, and starts again with the next taint', async () => {
    await onStage([podOnNode('patient', bearing(60))], async (stage) => {
      await stage.setTaints([taint]);
      await stage.pass(50);
      await stage.setTaints([]);
      expect(stage.events).toEqual(['Cancelling deletion of Pod default/patient']);
      await stage.pass(100);
      await stage.setTaints([taint]);
      await stage.pass(59);
      expect(stage.left()).toEqual(['patient']);
      await stage.pass(1);
      expect(stage.left()).toEqual([]);
    });
  });

  test('evicts pods that are bound to a tainted node later', async () => {
    await onStage([], async (stage) => {
      await stage.setTaints([taint]);
      stage.server.seed(Pods, podOnNode('late', []));
      await settle();
      expect(stage.left()).toEqual([]);
    });
  });

  test('does not evict another pod that has taken the name', async () => {
    await onStage([podOnNode('name', bearing(60))], async (stage) => {
      await stage.setTaints([taint]);
      await stage.pass(50);
      const { signal } = new AbortController();
      await stage.server.delete(Pods, keyOf(podOnNode('name', [])), {}, signal);
      stage.server.seed(Pods, podOnNode('name', bearing(60), 'another'));
      await settle();
      await stage.pass(20);
      expect(stage.left()).toEqual(['name']);
      await stage.pass(40);
      expect(stage.left()).toEqual([]);
    });
  });

  test('completes an eviction after the node is gone', async () => {
    await onStage([podOnNode('patient', bearing(60))], async (stage) => {
      await stage.setTaints([taint]);
      await stage.server.delete(Nodes, keyOf(node()), {}, new AbortController().signal);
      await stage.pass(60);
      expect(stage.left()).toEqual([]);
    });
  });

  test('retries until it succeeds, and records one event', async () => {
    await onStage([podOnNode('sticky', [])], async (stage) => {
      let failures = 3;
      stage.client.before('delete', () => {
        failures -= 1;
        if (failures >= 0) throw apiError(500, 'InternalError');
      });
      await stage.setTaints([taint]);
      await stage.pass(1);
      expect(stage.left()).toEqual([]);
      expect(stage.events).toEqual(['Marking for deletion Pod default/sticky']);
    });
  });

  test('evicts a pod with a long grace period only once', async () => {
    const slow = podOnNode('slow', []);
    slow.metadata.finalizers = ['example.com/keep'];
    await onStage([slow], async (stage) => {
      await stage.setTaints([taint]);
      await stage.setTaints([taint, { key: 'example.com/worse', effect: 'NoExecute' }]);
      expect(stage.client.writes.map(({ verb }) => verb)).toEqual(['patch', 'delete']);
      const [left] = stage.server.stored(Pods);
      expect(findCondition(left?.status?.conditions, 'DisruptionTarget')?.reason).toBe('DeletionByTaintManager');
    });
  });
});
