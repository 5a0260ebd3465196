import { expect, test } from 'vitest';

import { keyOf, PodGroups, Pods, type Pod, type PodGroup, type Unsaved } from '../../pkg/api/index.ts';
import { pod } from '../../test/support/builders.ts';
import { createTestContext, settle, whileRunning, type TestContext } from '../../test/support/controller-context.ts';
import { createPodGroupProtection } from './pod-group-protection.ts';

const signal = new AbortController().signal;
const finalizers = ['scheduling.k8s.io/podgroup-protection'];
const deletionTimestamp = '2026-01-01T00:00:00Z';
const group = (name: string, metadata: object): Unsaved<PodGroup> => ({
  metadata: { namespace: 'team', name, ...metadata },
  spec: { schedulingPolicy: { basic: {} } },
});

function member({ server }: TestContext, name: string, podGroupName: string): Pod {
  return server.seed(Pods, pod({ namespace: 'team', name, spec: { schedulingGroup: { podGroupName } } }));
}

async function run(test: TestContext, use: () => Promise<void>, isServed = true): Promise<void> {
  const discovery = {
    ...test.context.discovery,
    refresh: async () => undefined,
    all: async () => ({
      resources: isServed ? [{ kind: PodGroups, verbs: new Set<string>() }] : [],
      failures: new Map<string, string>(),
    }),
  };
  await whileRunning(test, createPodGroupProtection({ ...test.context, discovery }), use);
}

test('a group goes with the last of its pods that has not finished', async () => {
  const context = createTestContext({ freeze: true });
  const { server } = context;
  const terminating = { finalizers, deletionTimestamp };
  for (const name of ['unused', 'deleted', 'finished', 'constructor']) {
    server.seed(PodGroups, group(name, terminating));
  }
  server.seed(PodGroups, group('of-others', { finalizers: ['example.com/x', ...finalizers], deletionTimestamp }));
  server.seed(PodGroups, group('alive', { finalizers }));
  server.seed(PodGroups, group('bare', {}));
  const deleted = member(context, 'a', 'deleted');
  const [first, second] = [member(context, 'b', 'finished'), member(context, 'c', 'finished')];
  const left = () => server.stored(PodGroups).map(({ metadata }) => metadata.name);
  const finish = async (each: Pod, phase: string): Promise<void> => {
    await server.patch(
      Pods,
      keyOf(each),
      { type: 'merge', body: { status: { phase } }, subresource: 'status' },
      signal,
    );
    await settle();
  };
  await run(context, async () => {
    expect(left()).toEqual(['deleted', 'finished', 'of-others', 'alive', 'bare']);
    await server.delete(Pods, keyOf(deleted), {}, signal);
    await settle();
    expect(left()).toEqual(['finished', 'of-others', 'alive', 'bare']);
    await finish(first, 'Succeeded');
    expect(left()).toContain('finished');
    await finish(second, 'Failed');
    expect(left()).toEqual(['of-others', 'alive', 'bare']);
    expect(server.stored(PodGroups).map(({ metadata }) => metadata.finalizers)).toEqual([
      ['example.com/x'],
      finalizers,
      undefined,
    ]);
    expect(await context.context.metrics.metrics()).toMatch(/^workqueue_adds_total\{name="podgroupprotection"\}/m);
  });
});

test('nothing is watched where groups are not served', async () => {
  const context = createTestContext();
  await run(context, async () => expect(context.server.actions).toEqual([]), false);
});
