import { describe, expect, test, vi } from 'vitest';

import {
  ConfigMaps,
  defineKind,
  DeviceClasses,
  keyOf,
  Pods,
  ResourceClaims,
  ResourceQuotas,
  type Kind,
  type ResourceClaim,
  type ResourceQuota,
} from '../../pkg/api/index.ts';
import { build, configMap, container, pod } from '../../test/support/builders.ts';
import { apiError } from '../../test/support/recording-client.ts';
import { createTestContext, settle, whileRunning, type TestContext } from '../../test/support/controller-context.ts';
import { gateOf } from '../../test/support/lagging-watch.ts';
import type { RateLimiter, WorkQueue } from '../../workqueue/index.ts';
import { createResourceQuotaController } from './resource-quota.ts';

const signal = new AbortController().signal;
const Widgets = defineKind({
  group: 'example.com',
  version: 'v1',
  kind: 'Widget',
  resource: 'widgets',
  namespaced: true,
});
const verbs = new Set(['create', 'list', 'watch', 'delete']);
const remainingVerbs = new Set(['list', 'watch', 'delete']);
const resyncMs = 300_000;

/** A server whose discovery lists these kinds. Those in `terminating` can no longer be created. */
function contextWith(served: Kind[], terminating: Kind[] = []): TestContext {
  const base = createTestContext({ freeze: true });
  const all = async () => ({
    resources: served.map((kind) => ({ kind, verbs: terminating.includes(kind) ? remainingVerbs : verbs })),
    failures: new Map<string, string>(),
  });
  const discovery = { preferred: all, all, kindFor: async () => undefined, refresh: async () => {} };
  return { ...base, context: { ...base.context, discovery, gates: { isEnabled: () => true } } };
}

const quota = (hard: Record<string, string>, more: object = {}): ResourceQuota =>
  build(ResourceQuotas, { name: 'limits' }, { spec: { hard, ...more } });
const sized = (name: string, cpu: string) =>
  pod({ name, spec: { containers: [container({ resources: { requests: { cpu } } })] } });

function usedOf({ server }: TestContext): Record<string, string> | undefined {
  return server.stored(ResourceQuotas)[0]?.status?.used;
}

/** What the API server does for a new object: it charges first. */
async function charge({ server }: TestContext, used: Record<string, string>): Promise<void> {
  const [stored] = server.stored(ResourceQuotas);
  if (stored !== undefined)
    await server.updateStatus(ResourceQuotas, { ...stored, status: { ...stored.status, used } }, signal);
}

const run = (base: TestContext, use: () => Promise<void>, options = { workers: 2, resyncMs }): Promise<void> =>
  whileRunning(base, createResourceQuotaController(base.context, options), async () => {
    await pass(base, 200); // the lists of the resources that quotas name
    await use();
  });

async function pass({ clock }: TestContext, ms: number): Promise<void> {
  await settle();
  await clock.advance(ms);
  await settle();
}

async function passSeconds(base: TestContext, seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second++) await pass(base, 1000);
}

/** The lists by which the controller has looked for objects that its caches lack. */
const listsOf = ({ client }: TestContext): number => client.actions.filter(({ verb }) => verb === 'list').length;

test('usage follows objects that go at once, and what is charged but does not come after a while', async () => {
  const base = contextWith([Pods, ConfigMaps]);
  base.server.seed(ResourceQuotas, quota({ pods: '5', 'requests.cpu': '4', configmaps: '3' }));
  const first = base.server.seed(Pods, sized('first', '250m'));
  base.server.seed(Pods, sized('second', '0.5'));
  base.server.seed(ConfigMaps, configMap({ name: 'a' }));
  await run(base, async () => {
    expect(usedOf(base)).toEqual({ pods: '2', 'requests.cpu': '750m', configmaps: '1' });
    await base.server.delete(Pods, keyOf(first), {}, signal);
    await pass(base, 50);
    expect(usedOf(base)).toEqual({ pods: '1', 'requests.cpu': '500m', configmaps: '1' });
    await charge(base, { pods: '2', 'requests.cpu': '1500m', configmaps: '1' });
    await settle();
    expect(usedOf(base)?.['pods']).toBe('2');
    await passSeconds(base, 5);
    expect(usedOf(base)?.['pods']).toBe('1');
  });
});

test('a new object that the API server has charged costs no write', async () => {
  const base = contextWith([Pods]);
  base.server.seed(ResourceQuotas, quota({ pods: '5' }));
  await run(base, async () => {
    const writes = base.client.writes.length;
    await charge(base, { pods: '1' });
    base.server.seed(Pods, sized('new', '1'));
    await passSeconds(base, 10);
    expect(usedOf(base)).toEqual({ pods: '1' });
    expect(base.client.writes.length).toBe(writes);
    expect(listsOf(base)).toBe(0);
  });
});

test('an object that replaces another costs one write', async () => {
  const base = contextWith([Pods]);
  base.server.seed(ResourceQuotas, quota({ pods: '5' }));
  const former = base.server.seed(Pods, sized('former', '1'));
  await run(base, async () => {
    const writes = base.client.writes.length;
    await base.server.delete(Pods, keyOf(former), {}, signal);
    await settle();
    await charge(base, { pods: '2' });
    base.server.seed(Pods, sized('new', '1'));
    await passSeconds(base, 10);
    expect(usedOf(base)).toEqual({ pods: '1' });
    expect(base.client.writes.length).toBe(writes + 1);
    expect(listsOf(base)).toBe(0);
  });
});

describe('while the watch of pods lags,', () => {
  test('what the API server has charged stays charged', async () => {
    const base = contextWith([Pods]);
    base.server.seed(ResourceQuotas, quota({ pods: '5' }));
    const gate = gateOf(Pods, base);
    await run(base, async () => {
      gate.hold();
      for (let i = 1; i <= 5; i++) {
        await charge(base, { pods: String(i) });
        base.server.seed(Pods, sized(`pod-${i}`, '1'));
      }
      await passSeconds(base, 28);
      expect(usedOf(base)).toEqual({ pods: '5' });
      expect(listsOf(base)).toBe(3); // at 4 s, 8 s and 16 s
      gate.open();
      await passSeconds(base, 20);
      expect(usedOf(base)).toEqual({ pods: '5' });
    });
  });

  test('a deletion frees what it has used, and nothing of the pods that are not observed yet', async () => {
    const base = contextWith([Pods]);
    base.server.seed(ResourceQuotas, quota({ pods: '5' }));
    const [first, second] = [base.server.seed(Pods, sized('a', '1')), base.server.seed(Pods, sized('b', '1'))];
    const gate = gateOf(Pods, base);
    await run(base, async () => {
      expect(usedOf(base)).toEqual({ pods: '2' });
      await base.server.delete(Pods, keyOf(first), {}, signal);
      await settle();
      gate.hold();
      await charge(base, { pods: '3' });
      base.server.seed(Pods, sized('new', '1'));
      await pass(base, 60);
      expect(usedOf(base)).toEqual({ pods: '2' });
      await base.server.delete(Pods, keyOf(second), {}, signal); // not observed either
      await passSeconds(base, 5);
      expect(usedOf(base)).toEqual({ pods: '2' });
      gate.open();
      await passSeconds(base, 5);
      expect(usedOf(base)).toEqual({ pods: '1' });
    });
  });

  test('a charge without an object is corrected when the watch has caught up', async () => {
    const base = contextWith([Pods]);
    base.server.seed(ResourceQuotas, quota({ pods: '5' }));
    const gate = gateOf(Pods, base);
    await run(base, async () => {
      gate.hold();
      await charge(base, { pods: '2' });
      base.server.seed(Pods, sized('one', '1'));
      await pass(base, 5000);
      expect(usedOf(base)).toEqual({ pods: '2' });
      gate.open();
      await passSeconds(base, 10);
      expect(usedOf(base)).toEqual({ pods: '1' });
    });
  });
});

test('a charge without an object is corrected although others come and go all the time', async () => {
  const base = contextWith([Pods]);
  base.server.seed(ResourceQuotas, quota({ pods: '50' }));
  await run(base, async () => {
    let used = 10;
    await charge(base, { pods: String(used) });
    for (let i = 0; i < 12; i++) {
      const created = base.server.seed(Pods, sized(`pod-${i}`, '1'));
      used = Number(usedOf(base)?.['pods']) + 1;
      await charge(base, { pods: String(used) });
      await pass(base, 400);
      await base.server.delete(Pods, keyOf(created), {}, signal);
      await pass(base, 400);
    }
    expect(Number(usedOf(base)?.['pods'])).toBeLessThan(4);
  });
});

test('a value that is too low is raised although the list that another value needs fails', async () => {
  const base = contextWith([Pods, ConfigMaps]);
  base.server.seed(ResourceQuotas, quota({ pods: '5', 'count/configmaps': '5' }));
  await run(base, async () => {
    base.client.before('list', () => {
      throw apiError(500, 'InternalError', 'the conversion webhook is broken');
    });
    await passSeconds(base, 5);
    await charge(base, { pods: '0', 'count/configmaps': '3' });
    await passSeconds(base, 3);
    base.server.seed(Pods, sized('uncharged', '1'));
    await passSeconds(base, 60);
    expect(usedOf(base)).toEqual({ pods: '1', 'count/configmaps': '3' });
  });
});

test('charges without objects that do not end cost a list every ten seconds', async () => {
  const base = contextWith([Pods]);
  base.server.seed(ResourceQuotas, quota({ pods: '500' }));
  await run(base, async () => {
    for (let i = 0; i < 300; i++) {
      await charge(base, { pods: String(Number(usedOf(base)?.['pods']) + 1) });
      await pass(base, 100);
    }
    expect(listsOf(base)).toBe(3);
    await passSeconds(base, 25);
    expect(usedOf(base)).toEqual({ pods: '0' });
  });
});

test('what became free is taken off once, also if the response of the write was lost', async () => {
  const base = contextWith([Pods]);
  base.server.seed(ResourceQuotas, quota({ pods: '20' }));
  const [first, second] = [base.server.seed(Pods, sized('a', '1')), base.server.seed(Pods, sized('b', '1'))];
  let lost = 0;
  await run(base, async () => {
    base.client.after('update', () => {
      if (lost++ === 0) throw apiError(504, 'Timeout', 'no response in time');
    });
    await base.server.delete(Pods, keyOf(first), {}, signal);
    await pass(base, 500);
    expect([usedOf(base), lost]).toEqual([{ pods: '1' }, 1]);
    await charge(base, { pods: '2' }); // the pod is stored later
    await base.server.delete(Pods, keyOf(second), {}, signal);
    await pass(base, 500);
    expect(usedOf(base)).toEqual({ pods: '1' });
  });
});

test('a status that the API server has changed meanwhile is written again after a moment', async () => {
  const base = contextWith([Pods]);
  base.server.seed(ResourceQuotas, quota({ pods: '5' }));
  const former = base.server.seed(Pods, sized('former', '1'));
  let refused = 0;
  await run(base, async () => {
    base.client.before('update', () => {
      if (refused++ === 0) throw apiError(409, 'Conflict', 'the object has been modified');
    });
    await base.server.delete(Pods, keyOf(former), {}, signal);
    await pass(base, 60);
    expect([usedOf(base), refused]).toEqual([{ pods: '1' }, 1]);
    await pass(base, 60);
    expect([usedOf(base), refused]).toEqual([{ pods: '0' }, 2]);
  });
});

test('objects of a namespace are read once, not with each change', async () => {
  const base = contextWith([Pods]);
  base.server.seed(ResourceQuotas, quota({ pods: '5000' }));
  for (let i = 0; i < 500; i++) base.server.seed(Pods, sized(`pod-${i}`, '1'));
  await run(base, async () => {
    expect(usedOf(base)).toEqual({ pods: '500' });
    const lists = vi.spyOn(base.informers.informerFor(Pods).store, 'list');
    for (let i = 0; i < 20; i++) {
      await base.server.delete(Pods, keyOf(sized(`pod-${i}`, '1')), {}, signal);
      await pass(base, 100);
    }
    expect(usedOf(base)).toEqual({ pods: '480' });
    expect(lists).not.toHaveBeenCalled();
  });
});

test('a kind that comes later is counted from then on, and the usage stays when it goes', async () => {
  const served: Kind[] = [Pods];
  const base = contextWith(served);
  base.server.seed(ResourceQuotas, quota({ pods: '5', 'count/widgets.example.com': '5' }));
  base.server.seed(Widgets, build(Widgets, { name: 'a' }, {}));
  await run(base, async () => {
    expect(usedOf(base)).toEqual({ pods: '0' });
    served.push(Widgets);
    await pass(base, 30_000);
    await pass(base, 1000);
    expect(usedOf(base)).toEqual({ pods: '0', 'count/widgets.example.com': '1' });
    served.pop();
    await pass(base, 30_000);
    expect(usedOf(base)).toEqual({ pods: '0', 'count/widgets.example.com': '1' });
  });
});

test('a kind whose definition is being deleted is counted until its objects are gone', async () => {
  const terminating: Kind[] = [];
  const base = contextWith([Pods, Widgets], terminating);
  base.server.seed(ResourceQuotas, quota({ 'count/widgets.example.com': '5' }));
  const widget = base.server.seed(Widgets, build(Widgets, { name: 'a' }, {}));
  await run(base, async () => {
    await pass(base, 1000);
    expect(usedOf(base)).toEqual({ 'count/widgets.example.com': '1' });
    terminating.push(Widgets);
    await pass(base, 30_000);
    await base.server.delete(Widgets, keyOf(widget), {}, signal);
    await pass(base, 1000);
    expect(usedOf(base)).toEqual({ 'count/widgets.example.com': '0' });
  });
});

test('a kind that cannot be listed holds up its own usage alone', async () => {
  const base = contextWith([Pods, Widgets]);
  base.server.seed(ResourceQuotas, quota({ pods: '5', 'count/widgets.example.com': '5' }));
  base.server.seed(Widgets, build(Widgets, { name: 'a' }, {}));
  let isBroken = true;
  base.server.before('*', ({ resource }) => {
    if (isBroken && resource.startsWith('widgets'))
      throw apiError(500, 'InternalError', 'the conversion webhook fails');
  });
  await run(base, async () => {
    expect(usedOf(base)).toBeUndefined();
    for (let seconds = 0; seconds < 40; seconds += 5) await pass(base, 5000);
    expect(usedOf(base)).toEqual({ pods: '0' });
    isBroken = false;
    for (let seconds = 0; seconds < 60; seconds += 5) await pass(base, 5000);
    expect(usedOf(base)).toEqual({ pods: '0', 'count/widgets.example.com': '1' });
  });
});

test('a full resync sees what has changed with time alone', async () => {
  const base = contextWith([Pods]);
  const deletionTimestamp = new Date(base.clock.now() + 30_000).toISOString();
  base.server.seed(ResourceQuotas, quota({ pods: '5', 'count/pods': '5' }));
  base.server.seed(Pods, pod({ metadata: { deletionTimestamp, deletionGracePeriodSeconds: 30, finalizers: ['x/y'] } }));
  await run(base, async () => {
    expect(usedOf(base)).toEqual({ pods: '1', 'count/pods': '1' });
    await pass(base, resyncMs);
    await passSeconds(base, 5);
    expect(usedOf(base)).toEqual({ pods: '0', 'count/pods': '1' });
  });
});

test('without a period of a full resync, there is none', async () => {
  const base = contextWith([Pods]);
  const deletionTimestamp = new Date(base.clock.now() + 30_000).toISOString();
  base.server.seed(ResourceQuotas, quota({ pods: '5' }));
  base.server.seed(Pods, pod({ metadata: { deletionTimestamp, deletionGracePeriodSeconds: 30, finalizers: ['x/y'] } }));
  await run(
    base,
    async () => {
      for (let round = 0; round < 10; round++) await pass(base, resyncMs);
      expect(usedOf(base)).toEqual({ pods: '1' });
    },
    { workers: 2, resyncMs: 0 },
  );
});

test('a quota without usage has a queue of its own, so that it waits for no other', async () => {
  const base = contextWith([Pods]);
  base.server.seed(ResourceQuotas, quota({ pods: '5' }));
  const known = { hard: { pods: '5' }, used: { pods: '0' } };
  base.server.seed(ResourceQuotas, {
    ...build(ResourceQuotas, { name: 'known' }, { spec: { hard: known.hard } }),
    status: known,
  });
  const added: string[] = [];
  const queueFor = <K>(name: string, options?: { readonly rateLimiter?: RateLimiter<K> }): WorkQueue<K> => {
    const queue = base.context.queueFor<K>(name, options);
    vi.spyOn(queue, 'add').mockImplementationOnce((key) => void added.push(`${name} ${String(key)}`));
    return queue;
  };
  await run({ ...base, context: { ...base.context, queueFor } }, async () => {
    expect(added.sort()).toEqual(['resourcequota_primary default/known', 'resourcequota_priority default/limits']);
  });
});

const extendedRows: [name: string, others: readonly Partial<ResourceClaim['metadata']>[]][] = [
  ['as far as its pod is not', []],
  [
    'beside an older one of another namespace that claims the same owner',
    [{ namespace: 'elsewhere', name: 'a', creationTimestamp: '2020-01-01T00:00:00Z' }],
  ],
];
test.each(extendedRows)('a claim for an extended resource is charged %s', async (_name, others) => {
  const base = contextWith([Pods, ResourceClaims, DeviceClasses]);
  const name = 'requests.example.com/gpu';
  base.server.seed(ResourceQuotas, quota({ [name]: '50' }));
  const requests = { 'example.com/gpu': '2' };
  const user = base.server.seed(
    Pods,
    pod({ name: 'user', spec: { containers: [container({ resources: { requests } })] } }),
  );
  const ownerReferences = [{ apiVersion: 'v1', kind: 'Pod', name: 'user', uid: user.metadata.uid, controller: true }];
  const annotations = { 'resource.kubernetes.io/extended-resource-claim': 'true' };
  const exactly = { deviceClassName: 'gpu', allocationMode: 'ExactCount', count: 3 };
  const devices = { requests: [{ name: 'a', exactly }] };
  for (const place of [{}, ...others]) {
    const metadata = { annotations, ownerReferences, ...place };
    base.server.seed(ResourceClaims, build(ResourceClaims, { metadata }, { spec: { devices } }));
  }
  base.server.seed(
    DeviceClasses,
    build(DeviceClasses, { name: 'gpu' }, { spec: { extendedResourceName: 'example.com/gpu' } }),
  );
  await run(base, async () => {
    await pass(base, 1000);
    expect(usedOf(base)).toEqual({ [name]: '3' });
    await base.server.delete(Pods, keyOf(user), {}, signal);
    await pass(base, 3000);
    expect(usedOf(base)).toEqual({ [name]: '3' });
  });
});

test('devices are charged under the implicit name of a class that does not exist', async () => {
  const base = contextWith([Pods, ResourceClaims, DeviceClasses]);
  const implicit = 'requests.deviceclass.resource.kubernetes.io/absent';
  const count = 'count/resourceclaims.resource.k8s.io';
  base.server.seed(ResourceQuotas, quota({ [count]: '5', [implicit]: '5' }));
  const exactly = { deviceClassName: 'absent', allocationMode: 'ExactCount', count: 3 };
  const devices = { requests: [{ name: 'a', exactly }] };
  const claim = base.server.seed(ResourceClaims, build(ResourceClaims, {}, { spec: { devices } }));
  await run(base, async () => {
    expect(usedOf(base)).toEqual({ [count]: '1', [implicit]: '3' });
    await base.server.delete(ResourceClaims, keyOf(claim), {}, signal);
    await pass(base, 60);
    expect(usedOf(base)).toEqual({ [count]: '0', [implicit]: '0' });
  });
});
