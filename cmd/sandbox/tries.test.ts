import { describe, expect, test } from 'vitest';

import { daemonSet, deployment, lease, node, pod, replicaSet } from '../../test/support/builders.ts';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { apiError, RecordingClient } from '../../test/support/recording-client.ts';
import { DaemonSets, Deployments, Leases, Nodes, Pods, ReplicaSets, type Pod } from '../../pkg/api/index.ts';
import { describeTry, tries } from './tries.ts';

function setUp() {
  const clock = new FakeClock();
  const client = new RecordingClient({ now: () => clock.now() });
  const calls: unknown[] = [];
  const sandbox = {
    endWatches: () => void calls.push('endWatches'),
    delayRequests: (slowness: object) => void calls.push(slowness),
  };
  const run = (id: string, input: unknown = {}, random = 0): Promise<string> => {
    const found = tries.find((each) => each.id === id);
    if (found === undefined) throw new Error(`there is no try ${id}`);
    return found.run(input, { client, sandbox, clock, random: () => random }, new AbortController().signal);
  };
  return { client, calls, run, clock };
}

const web = { namespace: 'default', name: 'web', resource: 'deployments.apps' };
const owner = { kind: ReplicaSets, object: replicaSet({ name: 'web-1' }) };

function ownedPod(name: string, more: Partial<Parameters<typeof pod>[0]> = {}): Pod {
  return pod({ name, owner, ...more });
}

describe('killing a pod', () => {
  test('takes one that has an owner and is not terminating', async () => {
    const { client, run } = setUp();
    client.seed(Pods, pod({ name: 'alone' }));
    client.seed(
      Pods,
      ownedPod('terminating', { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['x'] } }),
    );
    client.seed(Pods, ownedPod('web-1-a'));
    expect(await run('kill-any', {}, 0.99)).toBe('Pod web-1-a is being deleted.');
    expect(client.writes).toMatchObject([{ verb: 'delete', resource: 'pods', key: 'default/web-1-a' }]);
  });

  test('says so if there is none', async () => {
    const { client, run } = setUp();
    client.seed(Pods, pod({ name: 'alone' }));
    expect(await run('kill-any')).toMatch(/^There is no pod with an owner/);
    expect(client.writes).toEqual([]);
  });

  test('takes the one that is named', async () => {
    const { client, run } = setUp();
    client.seed(Pods, pod({ name: 'a' }));
    expect(await run('kill', { namespace: 'default', name: 'a' })).toBe('Pod a is being deleted.');
    expect(client.stored(Pods)).toEqual([]);
  });
});

describe('a workload', () => {
  test('is scaled', async () => {
    const { client, run } = setUp();
    client.seed(Deployments, deployment({ name: 'web' }));
    expect(await run('scale', { ...web, replicas: '5' })).toBe('Deployment web is scaled to 5.');
    expect(client.stored(Deployments)[0]?.spec.replicas).toBe(5);
  });

  for (const replicas of ['-1', '1.5', 'many', '5001', undefined]) {
    test(`is not scaled to ${replicas ?? 'nothing'}`, async () => {
      const { client, run } = setUp();
      await expect(run('scale', { ...web, replicas })).rejects.toThrow('replicas');
      expect(client.writes).toEqual([]);
    });
  }

  const wrong = [
    { id: 'scale', resource: 'daemonsets.apps' },
    { id: 'roll-out', resource: 'replicasets.apps' },
    { id: 'scale', resource: 'constructor' },
  ];
  for (const { id, resource } of wrong) {
    test(`${id} is refused for ${resource}`, async () => {
      const { client, run } = setUp();
      await expect(run(id, { ...web, resource, replicas: '1' })).rejects.toThrow('this cannot be tried on it');
      expect(client.writes).toEqual([]);
    });
  }

  test('is rolled out broken, and repaired by the next rollout', async () => {
    const { client, run } = setUp();
    client.seed(Deployments, deployment({ name: 'web' }));
    const annotations = () => client.stored(Deployments)[0]?.spec.template.metadata?.annotations;
    await run('break', web);
    expect(annotations()).toEqual({ 'hollow-node/never-ready': 'true' });
    expect(await run('roll-out', web)).toBe('Deployment web is rolled out.');
    expect(annotations()).toEqual({ 'kubectl.kubernetes.io/restartedAt': '2026-01-01T00:00:00Z' });
  });
});

describe('a node', () => {
  test('is drained: cordoned, and rid of all pods but those of DaemonSets', async () => {
    const { client, run } = setUp();
    client.seed(Nodes, node({ name: 'node-1' }));
    const spec = { nodeName: 'node-1' };
    const agent = { kind: DaemonSets, object: daemonSet({ name: 'agent' }) };
    client.seed(Pods, ownedPod('web-1-a', { spec }));
    client.seed(Pods, pod({ name: 'agent-a', owner: agent, spec }));
    client.seed(Pods, ownedPod('web-1-gone', { spec }));
    client.before('create', ({ key }) => {
      if (key === 'default/web-1-gone') throw apiError(404, 'NotFound');
    });
    expect(await run('drain', { name: 'node-1' })).toBe('Node node-1 is cordoned; 2 pods are evicted.');
    expect(client.stored(Nodes)[0]?.spec?.unschedulable).toBe(true);
    const evicted = client.writes.filter(({ subresource }) => subresource === 'eviction').map(({ key }) => key);
    expect(evicted).toEqual(['default/web-1-a', 'default/web-1-gone']);
    expect(await run('uncordon', { name: 'node-1' })).toBe('Node node-1 takes pods again.');
    expect(client.stored(Nodes)[0]?.spec?.unschedulable).toBe(false);
  });
});

describe('the cluster', () => {
  test('has its lease taken away for five seconds', async () => {
    const { client, run } = setUp();
    const spec = { holderIdentity: 'us', leaseDurationSeconds: 15, leaseTransitions: 3 };
    client.seed(Leases, lease({ namespace: 'kube-system', name: 'kube-controller-manager', spec }));
    await run('take-lease');
    expect(client.stored(Leases)[0]?.spec).toEqual({
      holderIdentity: 'somebody-else',
      leaseDurationSeconds: 5,
      leaseTransitions: 3,
      acquireTime: '2026-01-01T00:00:00.000000Z',
      renewTime: '2026-01-01T00:00:00.000000Z',
    });
  });

  test('has its watches cut', async () => {
    const { calls, run } = setUp();
    await run('cut-watches');
    expect(calls).toEqual(['endWatches']);
  });

  test('is slow for a time, which leaves no timer', async () => {
    const { calls, run, clock } = setUp();
    expect(await run('slow', { delayMs: '300', seconds: '15' })).toBe('Each request takes 300 ms longer, for 15 s.');
    expect(calls).toEqual([{ delayMs: 300, forMs: 15_000 }]);
    expect(clock.pendingTimers).toBe(0);
  });

  for (const input of [{}, { delayMs: '0', seconds: '15' }, { delayMs: '300', seconds: '3600' }]) {
    test(`is not slow with ${JSON.stringify(input)}`, async () => {
      const { calls, run } = setUp();
      await expect(run('slow', input)).rejects.toThrow();
      expect(calls).toEqual([]);
    });
  }
});

describe('the list of tries', () => {
  test('has each id once, fit for a path', () => {
    const ids = tries.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const id of ids) expect(id).toMatch(/^[a-z-]+$/);
  });

  for (const each of tries.filter(({ fields }) => fields.length > 0)) {
    test(`${each.id} accepts the defaults of its fields`, async () => {
      const { client, run } = setUp();
      client.seed(Deployments, deployment({ name: 'web' }));
      const defaults = Object.fromEntries(each.fields.map((field) => [field.name, field.default]));
      await expect(run(each.id, { ...web, ...defaults })).resolves.toMatch(/\.$/);
    });
  }

  test('is described without its functions', () => {
    for (const each of tries) expect(Object.keys(describeTry(each))).not.toContain('run');
  });
});
