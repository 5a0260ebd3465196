import { describe, expect, test } from 'vitest';

import {
  keyOf,
  objectKey,
  PodGroups,
  Pods,
  ResourceClaims,
  ResourceClaimTemplates,
  type Kind,
  type Pod,
} from '../../pkg/api/index.ts';
import { ConnectionError } from '../../pkg/client/index.ts';
import { pod } from '../../test/support/builders.ts';
import { allocated, claimTemplate, podGroup, resourceClaim } from '../../test/support/claim-builders.ts';
import { createTestContext, settle, whileRunning, type TestContext } from '../../test/support/controller-context.ts';
import { apiError } from '../../test/support/recording-client.ts';
import { createResourceClaimController } from './resource-claim.ts';

const { signal } = new AbortController();
const user = pod({ name: 'user', spec: { resourceClaims: [{ name: 'gpu', resourceClaimTemplateName: 'template' }] } });

function onStage(seed: (stage: TestContext) => void, play: (stage: TestContext) => Promise<void>): Promise<void> {
  const stage = createTestContext({ freeze: true });
  seed(stage);
  return whileRunning(stage, createResourceClaimController(stage.context, 2), () => play(stage));
}

async function pass(stage: TestContext, ms: number): Promise<void> {
  await stage.clock.advance(ms);
  await settle();
}

const storedPod = ({ server }: TestContext): Pod | undefined => server.stored(Pods)[0];
const claimNames = ({ server }: TestContext): string[] =>
  server.stored(ResourceClaims).map(({ metadata }) => metadata.name);

describe('a claim for a pod', () => {
  test('is made and recorded by server-side apply', async () => {
    const seed = ({ server }: TestContext): void => {
      server.seed(ResourceClaimTemplates, claimTemplate({ name: 'template' }));
      server.seed(Pods, user);
    };
    await onStage(seed, async (stage) => {
      const [name = ''] = claimNames(stage);
      expect(storedPod(stage)?.status?.resourceClaimStatuses).toEqual([{ name: 'gpu', resourceClaimName: name }]);
      expect(stage.client.writes).toMatchObject([
        { verb: 'create' },
        {
          verb: 'patch',
          subresource: 'status',
          body: { type: 'apply', fieldManager: 'ResourceClaimController', force: true },
        },
      ]);
      const text = await stage.context.metrics.metrics();
      expect(text).toContain('resourceclaim_controller_creates_total{status="success",admin_access="false"} 1');
      const labels = 'allocated="false",admin_access="false",source="resource_claim_template"';
      expect(text).toContain(`resourceclaim_controller_resource_claims{${labels}} 1`);
    });
  });

  test('that the server refuses is reported, counted and tried again', async () => {
    let refusals = 0;
    const seed = ({ server, client }: TestContext): void => {
      server.seed(ResourceClaimTemplates, claimTemplate({ name: 'template' }));
      server.seed(Pods, user);
      client.before('create', () => {
        if (refusals++ === 0) throw apiError(403, 'Forbidden', 'exceeded quota');
      });
    };
    await onStage(seed, async (stage) => {
      await pass(stage, 1000);
      expect(claimNames(stage)).toHaveLength(1);
      expect(stage.recorded).toMatchObject([
        {
          kind: 'Pod',
          object: keyOf(user),
          type: 'Warning',
          reason: 'FailedResourceClaimCreation',
          message: 'PodResourceClaim gpu: create ResourceClaim : exceeded quota',
        },
      ]);
      const text = await stage.context.metrics.metrics();
      expect(text).toContain('resourceclaim_controller_creates_total{status="failure",admin_access="false"} 1');
    });
  });

  test('is made once although the answer to its create was lost', async () => {
    const seed = ({ server, client }: TestContext): void => {
      server.seed(ResourceClaimTemplates, claimTemplate({ name: 'template' }));
      server.seed(Pods, user);
      let losses = 0;
      client.after('create', () => {
        if (losses++ === 0) throw new ConnectionError('reset', { mayHaveBeenSent: true });
      });
    };
    await onStage(seed, async (stage) => {
      await pass(stage, 1000);
      const [name = '', ...others] = claimNames(stage);
      expect(others).toEqual([]);
      expect(storedPod(stage)?.status?.resourceClaimStatuses).toEqual([{ name: 'gpu', resourceClaimName: name }]);
    });
  });
});

describe('a reservation', () => {
  const reserved = resourceClaim({ name: 'claim', status: allocated({ resource: 'pods', name: 'new', uid: 'new' }) });

  test('of a pod that only the server knows is kept', async () => {
    const seed = ({ server, client }: TestContext): void => {
      server.seed(ResourceClaims, reserved);
      client.get = async () => pod({ name: 'new', metadata: { uid: 'new' } }) as never;
    };
    await onStage(seed, async ({ client }) => expect(client.writes).toEqual([]));
  });

  test('of a pod that nobody knows is removed', async () => {
    await onStage(
      ({ server }) => server.seed(ResourceClaims, reserved),
      async ({ server }) => {
        const claim = await server.get(ResourceClaims, objectKey('default', 'claim'), signal);
        expect(claim.status?.reservedFor).toBeUndefined();
        expect(claim.status?.allocation).toBeDefined(); // without the finalizer, it is somebody else's
      },
    );
  });

  test('of a pod whose deletion was observed is removed without a question', async () => {
    const resourceClaims = [{ name: 'own', resourceClaimName: 'claim' }];
    const holder = pod({ name: 'new', metadata: { uid: 'new' }, spec: { nodeName: 'node', resourceClaims } });
    const seed = ({ server }: TestContext): void => {
      server.seed(ResourceClaims, reserved);
      server.seed(Pods, holder);
    };
    await onStage(seed, async ({ client, server }) => {
      client.get = () => Promise.reject(new Error('no question is needed'));
      await server.delete(Pods, keyOf(holder), {}, signal);
      await settle();
      const [claim] = server.stored(ResourceClaims);
      expect(claim?.status?.reservedFor).toBeUndefined();
    });
  });
});

describe('with the gate for claims of pod groups', () => {
  const seed = ({ server }: TestContext): void => {
    server.seed(ResourceClaimTemplates, claimTemplate({ name: 'template' }));
    server.seed(Pods, user);
  };

  /** With an API server that serves these kinds. */
  async function withGate(served: readonly Kind[], play: (stage: TestContext) => Promise<void>): Promise<void> {
    const stage = createTestContext({ freeze: true });
    seed(stage);
    const discovery = {
      refresh: async () => undefined,
      all: async () => ({ resources: served.map((kind) => ({ kind })), failures: new Map() }),
    } as unknown as TestContext['context']['discovery'];
    const gates = { isEnabled: (gate: string) => gate === 'DRAWorkloadResourceClaims' };
    const controller = createResourceClaimController({ ...stage.context, gates, discovery }, 2);
    await whileRunning(stage, controller, () => play(stage));
  }

  test('pods get their claims although pod groups are not served', async () => {
    await withGate([], async (stage) => expect(claimNames(stage)).toHaveLength(1));
  });

  test('a group gets a claim, which its pods record', async () => {
    await withGate([PodGroups], async (stage) => {
      const { server } = stage;
      const resourceClaims = [{ name: 'gpu', resourceClaimTemplateName: 'template' }];
      const spec = { resourceClaims, schedulingGroup: { podGroupName: 'gang' } };
      server.seed(Pods, pod({ name: 'member', spec }));
      server.seed(PodGroups, podGroup({ name: 'gang', spec: { resourceClaims } }));
      await settle();
      await pass(stage, 1000);
      const [group] = server.stored(PodGroups);
      const member = server.stored(Pods).find(({ metadata }) => metadata.name === 'member');
      expect(group?.status?.resourceClaimStatuses).toHaveLength(1);
      expect(member?.status?.resourceClaimStatuses).toEqual(group?.status?.resourceClaimStatuses);
      await server.delete(PodGroups, objectKey('default', 'gang'), {}, signal);
      await settle();
    });
  });
});
