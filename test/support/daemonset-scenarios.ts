import { DaemonSets, isConditionTrue, keyOf, objectKey, Pods, type Taint } from '../../pkg/api/index.ts';
import { podSettingNames } from '../../pkg/hollow/index.ts';
import { affinityTo, type DaemonSetUser } from './daemonset-user.ts';
import { eventually } from './eventually.ts';
import { seededRandom } from './random.ts';

/** The nodes of each scenario. */
export const nodesEach = 3;
type Nodes = readonly [string, string, string];

const neverReady = { [podSettingNames.neverReady]: 'true' };
const rolling = (rollingUpdate: object): object => ({ updateStrategy: { type: 'RollingUpdate', rollingUpdate } });
const surging = rolling({ maxSurge: 1, maxUnavailable: 0 });
const taint = (key: string, effect: string): Taint => ({ key, effect });

/** One behaviour each, on separate DaemonSets of the same name, each with its own nodes. */
export const daemonSetScenarios: Readonly<
  Record<string, (user: DaemonSetUser, name: string, nodes: Nodes) => Promise<unknown>>
> = {
  async 'follows-labels'(user, name, [first]) {
    await user.daemonSet(name);
    await user.untilDaemonsRun(name);
    const gone = await user.podOn(name, first);
    await user.takeNode(first);
    await user.untilGone(gone, name);
    await user.untilDaemonsRun(name, 2);
    await user.giveNodes(name, [first]);
    return user.untilDaemonsRun(name);
  },

  async 'follows-affinity'(user, name, [first, second]) {
    await user.daemonSet(name, { pod: { affinity: affinityTo([first, second]) } });
    return user.untilDaemonsRun(name, 2);
  },

  async 'leaves-misscheduled'(user, name, [first, second, third]) {
    await user.daemonSet(name);
    await user.untilDaemonsRun(name);
    await user.taint(first, taint('keep-out', 'NoSchedule'));
    await user.wakeUntilStatus(name, third, { numberMisscheduled: 1, desiredNumberScheduled: 2 });
    const evicted = await user.podOn(name, second);
    await user.taint(second, taint('get-out', 'NoExecute'));
    await user.untilGone(evicted, name);
    return user.untilStatus(name, { numberMisscheduled: 1, desiredNumberScheduled: 1, numberReady: 1 });
  },

  async 'returns-after-taint'(user, name, [first]) {
    await user.daemonSet(name);
    await user.untilDaemonsRun(name);
    const evicted = await user.podOn(name, first);
    await user.taint(first, taint('get-out', 'NoExecute'));
    await user.untilGone(evicted, name);
    await user.taint(first);
    return user.untilDaemonsRun(name);
  },

  async 'tolerates-trouble'(user, name, [first, second, third]) {
    const known = ['disk-pressure', 'memory-pressure', 'pid-pressure'].map((key) => `node.kubernetes.io/${key}`);
    const failing = ['not-ready', 'unreachable'].map((key) => taint(`node.kubernetes.io/${key}`, 'NoExecute'));
    await user.taint(first, ...failing, ...known.map((key) => taint(key, 'NoSchedule')));
    await user.taint(second, taint('node.kubernetes.io/unschedulable', 'NoSchedule'));
    await user.patchNode(second, { spec: { unschedulable: true } });
    await user.taint(third, taint('node.kubernetes.io/network-unavailable', 'NoSchedule'));
    await user.daemonSet(name);
    return user.untilDaemonsRun(name, 2);
  },

  /** Daemons tolerate this taint only with the effect NoExecute. The lifecycle controller adds it with both. */
  async 'waits-for-ready-nodes'(user, name, [first, second, third]) {
    const notReady = taint('node.kubernetes.io/not-ready', 'NoSchedule');
    await user.taint(first, notReady);
    await user.daemonSet(name);
    await user.untilDaemonsRun(name, 2);
    await user.taint(first);
    await user.untilDaemonsRun(name);
    await user.taint(second, notReady);
    return user.wakeUntilStatus(name, third, { numberMisscheduled: 1, desiredNumberScheduled: 2 });
  },

  async 'host-network'(user, name, [, , third]) {
    await user.taint(third, taint('node.kubernetes.io/network-unavailable', 'NoSchedule'));
    await user.daemonSet(name, { pod: { hostNetwork: true } });
    return user.untilDaemonsRun(name);
  },

  async 'nodes-come-and-go'(user, name, [first]) {
    await user.daemonSet(name);
    await user.untilDaemonsRun(name);
    await user.bareNode('late-node', name);
    await user.untilStatus(name, { desiredNumberScheduled: 4, currentNumberScheduled: 4, numberReady: 3 });
    await user.deleteNode('late-node');
    await user.wakeUntilStatus(name, first, { desiredNumberScheduled: 3 });
    return user.untilDaemonsRun(name);
  },

  async 'removes-duplicates'(user, name, [first]) {
    await user.daemonSet(name);
    await user.untilDaemonsRun(name);
    await user.untilOlder(name); // else the names decide which of the two is the duplicate
    const { spec, metadata } = await user.podOn(name, first);
    const { namespace, labels } = metadata;
    const second = { metadata: { namespace, name: `${name}-second`, labels }, spec: { ...spec, nodeName: first } };
    await user.untilGone(await user.client.create(Pods, second, user.signal), name);
    return user.untilDaemonsRun(name);
  },

  async 'adopts-and-replaces'(user, name, [first]) {
    const metadata = { namespace: user.namespace, name: `${name}-orphan`, labels: { app: name } };
    const spec = { nodeName: first, containers: [{ name: 'main', image: 'one' }] };
    const orphan = await user.client.create(Pods, { metadata, spec }, user.signal);
    await user.until(Pods, orphan.metadata.name, ({ status }) => isConditionTrue(status?.conditions, 'Ready'));
    await user.daemonSet(name);
    await user.untilGone(orphan, name);
    return user.untilDaemonsRun(name);
  },

  async 'releases-relabelled'(user, name, [first]) {
    await user.daemonSet(name);
    await user.untilDaemonsRun(name);
    const released = await user.podOn(name, first);
    await user.patchPod(released, { metadata: { labels: { app: `${name}-no-more` } } });
    await user.until(Pods, released.metadata.name, ({ metadata }) => metadata.ownerReferences === undefined);
    return user.untilDaemonsRun(name);
  },

  async 'replaces-deleted'(user, name, [first]) {
    await user.daemonSet(name);
    await user.untilDaemonsRun(name);
    const gone = await user.podOn(name, first);
    await user.delete(Pods, gone.metadata.name);
    await user.untilGone(gone, name);
    return user.untilDaemonsRun(name);
  },

  async 'replaces-failed'(user, name, [first]) {
    await user.daemonSet(name);
    await user.untilDaemonsRun(name);
    for (let times = 0; times < 3; times++) {
      const failed = await user.podOn(name, first);
      await user.end(failed, 'Failed');
      await user.untilGone(failed, name);
      await user.untilDaemonsRun(name);
    }
  },

  async 'replaces-succeeded'(user, name, [first]) {
    await user.daemonSet(name);
    await user.untilDaemonsRun(name);
    const ended = await user.podOn(name, first);
    await user.end(ended, 'Succeeded');
    await user.untilGone(ended, name);
    return user.untilDaemonsRun(name);
  },

  async 'rolls-out'(user, name) {
    await user.daemonSet(name, rolling({ maxUnavailable: '50%' }));
    await user.untilDaemonsRun(name);
    await user.update(name, 'two');
    return user.untilDaemonsRun(name);
  },

  async 'rolls-out-with-surge'(user, name) {
    await user.daemonSet(name, surging);
    await user.untilDaemonsRun(name);
    await user.update(name, 'two');
    return user.untilDaemonsRun(name);
  },

  async 'rolls-out-with-surge-share'(user, name) {
    await user.daemonSet(name, rolling({ maxSurge: '50%', maxUnavailable: 0 }));
    await user.untilDaemonsRun(name);
    await user.update(name, 'two');
    return user.untilDaemonsRun(name);
  },

  async 'rolls-back-stuck-update'(user, name) {
    await user.daemonSet(name);
    await user.untilDaemonsRun(name);
    await user.update(name, 'two', neverReady);
    await user.untilStatus(name, { updatedNumberScheduled: 1, numberReady: 2, numberAvailable: 2 });
    await user.update(name, 'one', { [podSettingNames.neverReady]: null });
    return user.untilDaemonsRun(name);
  },

  async 'stuck-surge'(user, name) {
    await user.daemonSet(name, surging);
    await user.untilDaemonsRun(name);
    await user.untilOlder(name);
    await user.update(name, 'two', neverReady);
    await eventually(async () => (await user.pods(name)).length === 4, user.signal);
    return user.untilStatus(name, { numberReady: 3, updatedNumberScheduled: 0 });
  },

  async 'on-delete'(user, name, [first]) {
    await user.daemonSet(name, { updateStrategy: { type: 'OnDelete' } });
    await user.untilDaemonsRun(name);
    await user.update(name, 'two');
    await user.untilStatus(name, { updatedNumberScheduled: 0, numberReady: 3 });
    const old = await user.podOn(name, first);
    await user.delete(Pods, old.metadata.name);
    await user.untilGone(old, name);
    return user.untilStatus(name, { updatedNumberScheduled: 1, numberReady: 3 });
  },

  async 'min-ready-seconds'(user, name) {
    await user.daemonSet(name, { minReadySeconds: 3 });
    await user.until(DaemonSets, name, ({ status }) => status?.numberReady === 3 && !status.numberAvailable);
    return user.untilDaemonsRun(name);
  },

  async 'keeps-history'(user, name) {
    await user.daemonSet(name, { revisionHistoryLimit: 1, ownAnnotations: { note: '<first>' } });
    for (const image of ['two', 'three', 'four', 'three']) {
      await user.untilDaemonsRun(name);
      await user.update(name, image);
    }
    await user.untilDaemonsRun(name);
    return eventually(async () => (await user.revisionsOf(name)).length === 2, user.signal);
  },

  async refused(user, name) {
    await user.daemonSet(name, { pod: { serviceAccountName: 'missing' } });
    return user.untilStatus(name, { desiredNumberScheduled: 3, currentNumberScheduled: 0 });
  },

  async 'survives-orphaning'(user, name) {
    await user.daemonSet(name);
    await user.untilDaemonsRun(name);
    const before = await user.pods(name);
    const key = objectKey(user.namespace, name);
    await user.client.delete(DaemonSets, key, { propagationPolicy: 'Orphan' }, user.signal);
    for (const pod of before) {
      await user.until(Pods, pod.metadata.name, ({ metadata }) => metadata.ownerReferences === undefined);
    }
    const isOrphaned = async (): Promise<boolean> =>
      (await user.revisionsOf(name)).every(({ metadata }) => metadata.ownerReferences === undefined);
    await eventually(isOrphaned, user.signal);
    await eventually(() => user.daemonSet(name), user.signal); // its finalizer is removed last
    await user.untilDaemonsRun(name);
    const after = new Set((await user.pods(name)).map(keyOf));
    if (!before.every((pod) => after.has(keyOf(pod)))) throw new Error('pods were replaced');
  },

  async 'is-deleted-in-foreground'(user, name) {
    await user.daemonSet(name);
    await user.untilDaemonsRun(name);
    const key = objectKey(user.namespace, name);
    await user.client.delete(DaemonSets, key, { propagationPolicy: 'Foreground' }, user.signal);
    return eventually(
      async () => (await user.allPods(name)).length + (await user.revisionsOf(name)).length === 0,
      user.signal,
    );
  },
};

export async function runDaemonSetScenarios(user: DaemonSetUser, nodes: readonly string[]): Promise<void> {
  const runs = Object.entries(daemonSetScenarios).map(async ([name, run], index) => {
    const [first = '', second = '', third = ''] = nodes.slice(index * nodesEach, (index + 1) * nodesEach);
    await user.giveNodes(name, [first, second, third]);
    await run(user, name, [first, second, third]);
  });
  await Promise.all(runs);
}

/** Changes two DaemonSets and their nodes in random order, and ends with the same settings. */
export async function changeAtRandom(user: DaemonSetUser, seed: number, nodes: readonly string[]): Promise<void> {
  await Promise.all(
    ['random-1', 'random-2'].map(async (name, index) => {
      const random = seededRandom(seed + index);
      const own = nodes.slice(index * 6, (index + 1) * 6);
      await user.giveNodes(name, own);
      await user.daemonSet(name, index === 0 ? {} : surging);
      await user.untilStatus(name, {});
      for (let step = 0; step < 12; step++) await changeOnce(user, name, own, random);
      await user.giveNodes(name, own);
      await user.untilDaemonsRun(name, own.length);
    }),
  );
}

/** Waits until a template is observed: a template that is replaced at once might not become a revision. */
async function changeOnce(
  user: DaemonSetUser,
  name: string,
  nodes: readonly string[],
  random: () => number,
): Promise<unknown> {
  const below = (limit: number): number => Math.floor(random() * limit);
  const node = nodes[below(nodes.length)] ?? '';
  switch (below(6)) {
    case 0:
      return user.takeNode(node);
    case 1:
      return user.giveNodes(name, [node]);
    case 2:
      return user.taint(node, taint('get-out', 'NoExecute'));
    case 3:
      return user.taint(node, taint('keep-out', 'NoSchedule'));
    case 4:
      await user.update(name, ['one', 'two', 'three'][below(3)] ?? '');
      return user.untilStatus(name, {});
    default: {
      const running = (await user.pods(name)).find(({ spec }) => spec.nodeName === node);
      return (
        running && user.client.delete(Pods, keyOf(running), { gracePeriodSeconds: 0 }, user.signal).catch(() => {})
      );
    }
  }
}
