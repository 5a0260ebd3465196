import { describe, expect, test } from 'vitest';

import { Nodes, objectKey, type Taint } from '../../pkg/api/index.ts';
import { frozen, node } from '../../test/support/builders.ts';
import { createTestContext, settle, whileRunning, type TestContext } from '../../test/support/controller-context.ts';
import { apiError } from '../../test/support/recording-client.ts';
import { RecordingCloud } from '../../test/support/recording-cloud.ts';
import { createCloudNodeLifecycleController } from './cloud-node-lifecycle.ts';
import { withoutShutdownTaint, withShutdownTaint } from './shutdown-taint.ts';

const { signal } = new AbortController();
const shutdown: Taint = { key: 'node.cloudprovider.kubernetes.io/shutdown', effect: 'NoSchedule' };
const other: Taint = { key: 'other', effect: 'NoSchedule' };

describe('the taint of a machine that is shut down', () => {
  const withValue = { ...shutdown, value: 'x' };
  const rows = [
    { name: 'no taints', taints: [], added: [shutdown], removed: undefined },
    { name: 'another taint', taints: [other], added: [other, shutdown], removed: undefined },
    { name: 'the taint', taints: [other, shutdown], added: undefined, removed: [other] },
    { name: 'the taint with a value', taints: [withValue], added: [shutdown], removed: [] },
    {
      name: 'its key with another effect',
      taints: [{ ...shutdown, effect: 'NoExecute' }],
      added: [{ ...shutdown, effect: 'NoExecute' }, shutdown],
      removed: undefined,
    },
  ];
  for (const { name, taints, added, removed } of rows) {
    test(name, () => {
      const subject = frozen(node({ spec: { taints } }));
      expect(withShutdownTaint(subject)).toEqual(added);
      expect(withoutShutdownTaint(subject)).toEqual(removed);
    });
  }
});

function setUp(): { test: TestContext; cloud: RecordingCloud } {
  return { test: createTestContext({ freeze: true }), cloud: new RecordingCloud() };
}

function seed({ server }: TestContext, name: string, ready: 'True' | 'False' | 'Unknown', taints: Taint[] = []): void {
  server.seed(Nodes, {
    metadata: { name },
    spec: { taints },
    status: { conditions: [{ type: 'Ready', status: ready }] },
  });
}

async function run({ test: context, cloud }: ReturnType<typeof setUp>, use: () => Promise<void>): Promise<void> {
  const options = { instances: cloud.instances, periodMs: 5000 };
  await whileRunning(context, createCloudNodeLifecycleController(context.context, options), use);
}

const names = ({ server }: TestContext): string[] => server.stored(Nodes).map(({ metadata }) => metadata.name);
const taintsOf = ({ server }: TestContext): (Taint[] | undefined)[] =>
  server.stored(Nodes).map(({ spec }) => spec.taints);

describe('cloud-node-lifecycle-controller', () => {
  test('does not ask for the machines of nodes that are ready', async () => {
    const parts = setUp();
    seed(parts.test, 'a', 'True');
    await run(parts, async () => expect(parts.cloud.calls).toEqual([]));
  });

  test('deletes the node of a machine that is gone, with an event', async () => {
    const parts = setUp();
    seed(parts.test, 'a', 'Unknown');
    seed(parts.test, 'b', 'False');
    parts.cloud.machines.set('a', 'gone');
    await run(parts, async () => {
      expect(names(parts.test)).toEqual(['b']);
      expect(parts.test.recorded).toEqual([
        {
          kind: 'Node',
          object: objectKey(undefined, 'a'),
          type: 'Normal',
          reason: 'DeletingNode',
          message: 'Deleting node a because it does not exist in the cloud provider',
        },
      ]);
      expect(parts.cloud.calls).toEqual(['exists a', 'exists b', 'isShutDown b']);
    });
  });

  test('records a failed deletion, and tries again in the next period', async () => {
    const parts = setUp();
    seed(parts.test, 'a', 'Unknown');
    parts.cloud.machines.set('a', 'gone');
    const stopFailing = parts.test.client.before('delete', () => {
      throw apiError(403, 'Forbidden', 'not you');
    });
    await run(parts, async () => {
      expect(parts.test.recorded.at(-1)).toMatchObject({ type: 'Warning', reason: 'DeletingNodeFailed' });
      expect(parts.test.recorded.at(-1)?.message).toMatch(/^Failed deleting node a: .*not you/);
      stopFailing();
      await parts.test.clock.advance(5000);
      await settle();
      expect(names(parts.test)).toEqual([]);
    });
  });

  test('taints the node of a machine that is shut down, until it is ready', async () => {
    const parts = setUp();
    seed(parts.test, 'a', 'Unknown', [other]);
    parts.cloud.machines.set('a', 'off');
    await run(parts, async () => {
      expect(taintsOf(parts.test)).toEqual([[other, shutdown]]);
      const body = { status: { conditions: [{ type: 'Ready', status: 'True' }] } };
      await parts.test.server.patch(
        Nodes,
        objectKey(undefined, 'a'),
        { type: 'merge', subresource: 'status', body },
        signal,
      );
      await settle();
      await parts.test.clock.advance(5000);
      await settle();
      expect(taintsOf(parts.test)).toEqual([[other]]);
    });
  });

  test('keeps the taints that somebody else writes at the same time', async () => {
    const parts = setUp();
    seed(parts.test, 'a', 'Unknown');
    parts.cloud.machines.set('a', 'off');
    const once = parts.test.client.before('patch', async () => {
      once();
      await parts.test.server.patch(
        Nodes,
        objectKey(undefined, 'a'),
        { type: 'merge', body: { spec: { taints: [other] } } },
        signal,
      );
    });
    await run(parts, async () => expect(taintsOf(parts.test)).toEqual([[other, shutdown]]));
  });

  test('goes on with the other nodes if the cloud cannot say whether a machine exists', async () => {
    const parts = setUp();
    seed(parts.test, 'a', 'Unknown');
    seed(parts.test, 'b', 'Unknown');
    parts.cloud.failures.set('exists', new Error('down'));
    await run(parts, async () => {
      expect(parts.cloud.calls).toEqual(['exists a', 'exists b']);
      expect(names(parts.test)).toEqual(['a', 'b']);
    });
  });
});
