import { describe, expect, test } from 'vitest';

import {
  DeviceTaintRules,
  keyOf,
  Pods,
  ResourceClaims,
  ResourceSlices,
  type DeviceTaint,
  type Pod,
} from '../../pkg/api/index.ts';
import { pod, runningStatus } from '../../test/support/builders.ts';
import { resourceClaim, resourceSlice, taintRule, withDevices } from '../../test/support/claim-builders.ts';
import { createTestContext, settle, whileRunning, type TestContext } from '../../test/support/controller-context.ts';
import { apiError } from '../../test/support/recording-client.ts';
import { createDeviceTaintEvictionController } from './device-taint-eviction.ts';

const { signal } = new AbortController();
const broken: DeviceTaint = { key: 'broken', effect: 'NoExecute', timeAdded: '2026-01-01T00:00:00Z' };

interface Stage extends TestContext {
  setTaints(taints: DeviceTaint[], generation?: number): Promise<void>;
  left(): string[];
  pass(seconds: number): Promise<void>;
  messages(): string[];
}

/** A pod on a node whose claim has a device, for `tolerationSeconds`; 0: without toleration. */
function seedUser({ server }: TestContext, name: string, tolerationSeconds = 0): Pod {
  const resourceClaims = [{ name: 'own', resourceClaimName: name }];
  const user = pod({ name, spec: { nodeName: 'node', resourceClaims }, status: runningStatus() });
  const toleration = { key: 'broken', operator: 'Exists', effect: 'NoExecute', tolerationSeconds };
  const consumer = { resource: 'pods', name, uid: user.metadata.uid };
  const tolerations = tolerationSeconds === 0 ? [] : [toleration];
  server.seed(ResourceClaims, resourceClaim({ name, status: withDevices([{ tolerations }], consumer) }));
  server.seed(Pods, user);
  return user;
}

async function onStage(seed: (stage: TestContext) => void, play: (stage: Stage) => Promise<void>): Promise<void> {
  const base = createTestContext({ freeze: true });
  const gates = { isEnabled: (gate: string) => gate === 'DRADeviceTaintRules' };
  const discovery = {
    refresh: async () => undefined,
    all: async () => ({ resources: [{ kind: DeviceTaintRules }], failures: new Map() }),
  } as unknown as TestContext['context']['discovery'];
  const context = { ...base.context, gates, discovery };
  base.server.seed(ResourceSlices, resourceSlice('slice', { 'gpu-0': [] }));
  seed(base);
  const stage: Stage = {
    ...base,
    async setTaints(taints, generation) {
      const { metadata } = resourceSlice('slice', {});
      const { resourceVersion: _version, ...rest } = metadata;
      const slice = resourceSlice('slice', { 'gpu-0': taints }, generation);
      await base.server.update(ResourceSlices, { ...slice, metadata: rest }, signal);
      await settle();
    },
    left: () => base.server.stored(Pods).map(({ metadata }) => metadata.name),
    async pass(seconds) {
      await base.clock.advance(seconds * 1000);
      await settle();
    },
    messages: () => base.recorded.map(({ reason, message }) => `${reason} ${message}`),
  };
  await whileRunning(base, createDeviceTaintEvictionController(context, 2), () => play(stage));
}

const conditionOf = ({ server }: TestContext): string[] => {
  const [rule] = server.stored(DeviceTaintRules);
  return (rule?.status?.conditions ?? []).map(({ status, reason, message }) => `${status} ${reason} ${message}`);
};

describe('taints of a device', () => {
  test('evict its pods at once, or when their time is up', async () => {
    const seed = (stage: TestContext): void => {
      seedUser(stage, 'intolerant');
      seedUser(stage, 'patient', 60);
    };
    await onStage(seed, async (stage) => {
      await stage.setTaints([broken]);
      expect(stage.left()).toEqual(['patient']);
      expect(stage.client.writes).toMatchObject([
        { verb: 'patch', subresource: 'status', body: { type: 'strategic' } },
        { verb: 'delete', body: { preconditions: { uid: 'uid-pod-default-intolerant' } } },
      ]);
      await stage.pass(59);
      expect(stage.left()).toEqual(['patient']);
      await stage.pass(1);
      expect(stage.left()).toEqual([]);
      expect(stage.messages()).toEqual(Array(2).fill('DeviceTaintManagerEviction Marking for deletion'));
      expect(await stage.context.metrics.metrics()).toContain('device_taint_eviction_controller_pod_deletions_total 2');
    });
  });

  test('that are removed cancel an eviction', async () => {
    await onStage(
      (stage) => seedUser(stage, 'patient', 60),
      async (stage) => {
        await stage.setTaints([broken]);
        await stage.pass(30);
        await stage.setTaints([]);
        await stage.pass(60);
        expect(stage.left()).toEqual(['patient']);
        expect(stage.messages()).toEqual(['DeviceTaintManagerEviction Cancelling deletion']);
      },
    );
  });

  test('of an older generation of the pool evict nobody', async () => {
    await onStage(
      (stage) => seedUser(stage, 'patient', 60),
      async (stage) => {
        await stage.setTaints([broken], 1);
        stage.server.seed(ResourceSlices, resourceSlice('newer', { 'gpu-0': [] }, 2));
        await settle();
        await stage.pass(100);
        expect(stage.left()).toEqual(['patient']);
      },
    );
  });

  test('say nothing about a pod that is gone before its time', async () => {
    let user = pod();
    await onStage(
      (stage) => void (user = seedUser(stage, 'patient', 60)),
      async (stage) => {
        await stage.setTaints([broken]);
        await stage.server.delete(Pods, keyOf(user), {}, signal);
        await settle();
        await stage.pass(100);
        expect(stage.messages()).toEqual([]);
      },
    );
  });

  test('evict although the first attempt fails', async () => {
    await onStage(
      (stage) => seedUser(stage, 'user'),
      async (stage) => {
        let failures = 0;
        stage.client.before('delete', () => {
          if (failures++ === 0) throw apiError(500, 'InternalError');
        });
        await stage.setTaints([broken]);
        await stage.pass(1);
        expect(stage.left()).toEqual([]);
        expect(stage.messages()).toEqual(['DeviceTaintManagerEviction Marking for deletion']);
      },
    );
  });
});

describe('a rule', () => {
  test('evicts pods, and its status follows ten seconds later', async () => {
    await onStage(
      (stage) => seedUser(stage, 'user'),
      async (stage) => {
        stage.server.seed(DeviceTaintRules, taintRule({ name: 'rule' }));
        await settle();
        expect(conditionOf(stage)).toEqual(['True PodsPendingEviction 1 pod needs to be evicted in 1 namespace.']);
        expect(stage.left()).toEqual([]);
        await stage.pass(9);
        expect(conditionOf(stage)[0]).toMatch(/^True/);
        await stage.pass(2);
        expect(conditionOf(stage)).toEqual(['False Completed 1 pod evicted since starting the controller.']);
      },
    );
  });

  test('without effect tells what it would do', async () => {
    await onStage(
      (stage) => seedUser(stage, 'user'),
      async (stage) => {
        stage.server.seed(DeviceTaintRules, taintRule({ name: 'rule', effect: 'None' }));
        await settle();
        expect(conditionOf(stage)[0]).toContain(
          'False NoEffect 1 published device selected. 1 allocated device selected. 1 pod would be evicted in 1 namespace',
        );
        expect(stage.left()).toEqual(['user']);
      },
    );
  });
});
