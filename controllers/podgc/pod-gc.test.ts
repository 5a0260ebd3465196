import { describe, expect, test } from 'vitest';

import { keyOf, Nodes, Pods, type Pod, type PodStatus } from '../../pkg/api/index.ts';
import { node, pod, runningStatus } from '../../test/support/builders.ts';
import { createTestContext, settle, whileRunning, type TestContext } from '../../test/support/controller-context.ts';
import { apiError } from '../../test/support/recording-client.ts';
import { createPodGcController } from './pod-gc.ts';

const { signal } = new AbortController();
const bound = (name: string, status: PodStatus = runningStatus()): Pod =>
  pod({ name, spec: { nodeName: 'node' }, status, metadata: { uid: `uid-of-${name}`, generation: 3 } });

interface Stage extends TestContext {
  left(): readonly string[];
  pass(seconds: number): Promise<void>;
}

async function onStage(pods: readonly Pod[], play: (stage: Stage) => Promise<void>, threshold = 0): Promise<void> {
  const base = createTestContext();
  base.server.seed(Nodes, node());
  for (const one of pods) base.server.seed(Pods, one);
  const stage: Stage = {
    ...base,
    left: () => base.server.stored(Pods).map(({ metadata }) => metadata.name),
    async pass(seconds) {
      await base.clock.advance(seconds * 1000);
      await settle();
    },
  };
  await whileRunning(base, createPodGcController(base.context, threshold), () => play(stage));
}

const deleteNode = async ({ server }: Stage): Promise<void> => {
  await server.delete(Nodes, keyOf(node()), {}, signal);
  await settle();
};

describe('pod garbage collection', () => {
  test('sends no request while the nodes exist', async () => {
    await onStage([bound('web'), bound('done', { phase: 'Succeeded' })], async (stage) => {
      await stage.pass(120);
      expect(stage.client.actions).toEqual([]);
    });
  });

  test('fails and deletes the pods of a deleted node after the quarantine', async () => {
    await onStage([bound('web'), bound('done', { phase: 'Succeeded' })], async (stage) => {
      await deleteNode(stage);
      await stage.pass(39);
      expect(stage.client.actions).toEqual([]);
      await stage.pass(1);
      expect(stage.left()).toEqual([]);
      const { writes } = stage.client;
      expect(writes.filter(({ verb }) => verb === 'patch')).toMatchObject([
        {
          key: 'default/web',
          subresource: 'status',
          body: {
            body: {
              metadata: { uid: 'uid-of-web' },
              status: {
                phase: 'Failed',
                observedGeneration: 3,
                conditions: [{ type: 'DisruptionTarget', reason: 'DeletionByPodGC', observedGeneration: 3 }],
              },
            },
          },
        },
      ]);
      expect(writes.filter(({ verb }) => verb === 'delete').map(({ body }) => body)).toEqual([
        { gracePeriodSeconds: 0, preconditions: { uid: 'uid-of-done' } },
        { gracePeriodSeconds: 0, preconditions: { uid: 'uid-of-web' } },
      ]);
    });
  });

  test('keeps the pods if the node is recreated within the quarantine', async () => {
    await onStage([bound('web')], async (stage) => {
      await deleteNode(stage);
      await stage.pass(30);
      stage.server.seed(Nodes, node());
      await settle();
      await stage.pass(60);
      expect(stage.client.actions).toEqual([]);
    });
  });

  test('keeps the pods of a node that exists but is not in the cache yet', async () => {
    await onStage([bound('web')], async (stage) => {
      await deleteNode(stage);
      stage.client.before('get', () => void stage.server.seed(Nodes, node()));
      await stage.pass(100);
      expect(stage.client.actions.map(({ verb }) => verb)).toEqual(['get']);
      expect(stage.left()).toEqual(['web']);
    });
  });

  test('deletes pods that are bound to a node that never existed', async () => {
    await onStage([], async (stage) => {
      stage.server.seed(Pods, pod({ name: 'stray', spec: { nodeName: 'nowhere' }, status: runningStatus() }));
      await settle();
      await stage.pass(40);
      expect(stage.left()).toEqual([]);
    });
  });

  test('deletes nothing until the API server confirms that the node is gone', async () => {
    await onStage([bound('web')], async (stage) => {
      await deleteNode(stage);
      const back = stage.client.before('get', () => {
        throw apiError(503, 'ServiceUnavailable');
      });
      await stage.pass(41);
      expect(stage.left()).toEqual(['web']);
      back();
      await stage.pass(10);
      expect(stage.left()).toEqual([]);
    });
  });

  test('deletes stuck pods every twenty seconds', async () => {
    const deletionTimestamp = '2026-01-01T00:00:00Z';
    const stuck = pod({ name: 'stuck', metadata: { deletionTimestamp } });
    await onStage([], async (stage) => {
      stage.server.seed(Pods, stuck);
      await settle();
      expect(stage.left()).toEqual(['stuck']);
      await stage.pass(20);
      expect(stage.left()).toEqual([]);
    });
  });

  test('deletes finished pods above the threshold, also after one deletion fails', async () => {
    const done = ['a', 'b', 'c', 'd'].map((name) => bound(name, { phase: 'Succeeded' }));
    await onStage(
      done,
      async (stage) => {
        expect(stage.left()).toEqual(['c', 'd']);
        stage.client.before('delete', ({ key }) => {
          if (key === 'default/c') throw apiError(500, 'InternalError');
        });
        for (const name of ['e', 'f']) stage.server.seed(Pods, bound(name, { phase: 'Failed' }));
        await settle();
        await stage.pass(20);
        expect(stage.left()).toEqual(['c', 'e', 'f']);
      },
      2,
    );
  });
});
