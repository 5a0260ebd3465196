import {
  isConditionTrue,
  keyOf,
  Pods,
  ReplicaSets,
  ReplicationControllers,
  ServiceAccounts,
  type Pod,
} from '../../pkg/api/index.ts';
import { podSettingNames } from '../../pkg/hollow/index.ts';
import { eventually } from './eventually.ts';
import type { WorkloadUser } from './workload-user.ts';

const neverReady = { [podSettingNames.neverReady]: 'true' };
const deletionCost = (cost: number): object => ({
  metadata: { annotations: { 'controller.kubernetes.io/pod-deletion-cost': String(cost) } },
});

/** One behaviour each, on separate objects of the same name. */
const scenarios: Readonly<Record<string, (user: WorkloadUser, name: string) => Promise<unknown>>> = {
  async scaled(user, name) {
    await user.replicaSet(name, { replicas: 3 });
    await user.untilAvailable(ReplicaSets, name, 3);
    await user.scale(ReplicaSets, name, 6);
    await user.untilAvailable(ReplicaSets, name, 6);
    await user.scale(ReplicaSets, name, 2);
    return user.untilAvailable(ReplicaSets, name, 2);
  },

  async 'without-pods'(user, name) {
    await user.replicaSet(name, { replicas: 0 });
    return user.untilAvailable(ReplicaSets, name, 0);
  },

  async 'replaces-deleted'(user, name) {
    await user.replicaSet(name, { replicas: 2 });
    await user.untilAvailable(ReplicaSets, name, 2);
    const [gone] = await user.podsOf(name, 2);
    await user.delete(Pods, gone.metadata.name);
    await eventually(
      async () => !(await user.pods(name)).some(({ metadata }) => metadata.uid === gone.metadata.uid),
      user.signal,
    );
    return user.untilAvailable(ReplicaSets, name, 2);
  },

  async 'replaces-failed'(user, name) {
    await user.replicaSet(name, { replicas: 2 });
    await user.untilAvailable(ReplicaSets, name, 2);
    const [evicted] = await user.podsOf(name, 2);
    await fail(user, evicted);
    await eventually(async () => (await user.pods(name)).length === 2, user.signal);
    return user.untilAvailable(ReplicaSets, name, 2);
  },

  async 'adopts-orphans'(user, name) {
    const labels = { tier: 'front' };
    await user.pod(`${name}-bare`, { app: name }); // selected, but without the labels of the template
    const finished = await user.pod(`${name}-failed`, { app: name, labels });
    await fail(user, finished);
    await user.replicaSet(name, { replicas: 3, labels });
    return user.untilAvailable(ReplicaSets, name, 3);
  },

  async 'adopts-later'(user, name) {
    await user.replicaSet(name, { replicas: 2 });
    await user.untilAvailable(ReplicaSets, name, 2);
    // Now there is one pod too many, and the one that is not ready is deleted.
    await user.pod(`${name}-orphan`, { app: name, annotations: neverReady });
    await eventually(
      async () => !(await user.pods(name)).some(({ metadata }) => metadata.name === `${name}-orphan`),
      user.signal,
    );
    return user.untilAvailable(ReplicaSets, name, 2);
  },

  async 'releases-relabelled'(user, name) {
    await user.replicaSet(name, { replicas: 2 });
    await user.untilAvailable(ReplicaSets, name, 2);
    const [released] = await user.podsOf(name, 2);
    await user.patchPod(released, { metadata: { labels: { app: `${name}-no-more` } } });
    await eventually(async () => (await user.pods(name)).length === 2, user.signal);
    await user.until(Pods, released.metadata.name, ({ metadata }) => metadata.ownerReferences === undefined);
    return user.untilAvailable(ReplicaSets, name, 2);
  },

  async 'leaves-others-alone'(user, name) {
    const reference = { apiVersion: 'example.com/v1', kind: 'Other', name: 'other', uid: 'other', controller: true };
    await user.pod(`${name}-owned`, { app: name }, { ownerReferences: [reference] });
    await user.replicaSet(name, { replicas: 1 });
    return user.untilAvailable(ReplicaSets, name, 1);
  },

  async overlapping(user, name) {
    await Promise.all(['a', 'b'].map((one) => user.replicaSet(`${name}-${one}`, { app: name, replicas: 2 })));
    await Promise.all(['a', 'b'].map((one) => user.untilAvailable(ReplicaSets, `${name}-${one}`, 2)));
  },

  async 'unready-goes-first'(user, name) {
    await user.replicaSet(name, { replicas: 3 });
    await user.untilAvailable(ReplicaSets, name, 3);
    const [unready] = await user.podsOf(name, 3);
    await user.patchPod(unready, { metadata: { annotations: neverReady } });
    await user.until(ReplicaSets, name, ({ status }) => status?.readyReplicas === 2);
    await user.scale(ReplicaSets, name, 2);
    return user.untilAvailable(ReplicaSets, name, 2);
  },

  async 'cheapest-goes-first'(user, name) {
    await user.replicaSet(name, { replicas: 4 });
    await user.untilAvailable(ReplicaSets, name, 4);
    const pods = await user.podsOf(name, 4);
    await Promise.all(pods.map((pod, index) => user.patchPod(pod, deletionCost(index * 10))));
    // A status that includes a later change of a pod shows that the costs have been observed too.
    await user.patchPod(pods[0], { metadata: { annotations: neverReady } });
    await user.until(ReplicaSets, name, ({ status }) => status?.readyReplicas === 3);
    await user.scale(ReplicaSets, name, 1);
    return user.untilAvailable(ReplicaSets, name, 1);
  },

  async 'min-ready-seconds'(user, name) {
    await user.replicaSet(name, { replicas: 2, minReadySeconds: 3 });
    await user.until(ReplicaSets, name, ({ status }) => status?.readyReplicas === 2 && !status.availableReplicas);
    return user.untilAvailable(ReplicaSets, name, 2);
  },

  async 'never-ready'(user, name) {
    await user.replicaSet(name, { replicas: 2, annotations: neverReady });
    return user.until(ReplicaSets, name, ({ status }) => status?.replicas === 2);
  },

  async refused(user, name) {
    await user.replicaSet(name, { replicas: 100, serviceAccountName: 'missing' });
    return user.until(ReplicaSets, name, ({ status }) => status?.conditions?.[0]?.reason === 'FailedCreate');
  },

  async 'refused-at-first'(user, name) {
    const serviceAccountName = 'late';
    await user.replicaSet(name, { replicas: 2, serviceAccountName });
    await user.until(ReplicaSets, name, ({ status }) => status?.conditions?.[0]?.reason === 'FailedCreate');
    await user.client.create(ServiceAccounts, { metadata: { namespace: user.namespace, name: 'late' } }, user.signal);
    return user.until(
      ReplicaSets,
      name,
      ({ status }) => status?.availableReplicas === 2 && status.conditions === undefined,
    );
  },

  async 'being-deleted'(user, name) {
    await user.replicaSet(name, { replicas: 2, finalizers: ['example.com/hold'] });
    await user.untilAvailable(ReplicaSets, name, 2);
    await user.delete(ReplicaSets, name);
    const [gone] = await user.podsOf(name, 2);
    await user.delete(Pods, gone.metadata.name);
    return user.until(ReplicaSets, name, ({ status }) => status?.replicas === 1 && status.terminatingReplicas === 0);
  },

  async 'controller-scaled'(user, name) {
    await user.replicationController(name, { replicas: 3, minReadySeconds: 1 });
    await user.untilAvailable(ReplicationControllers, name, 3);
    await user.scale(ReplicationControllers, name, 1);
    return user.untilAvailable(ReplicationControllers, name, 1);
  },

  async 'controller-adopts'(user, name) {
    const released = `${name}-orphan`;
    await user.pod(released, { app: name });
    // Pods and controllers have two watches. A manager that observes the controller first creates a pod too many, and
    // deletes one.
    await user.until(Pods, released, ({ status }) => status?.phase === 'Running');
    await user.replicationController(name, { replicas: 2 });
    await user.untilAvailable(ReplicationControllers, name, 2);
    await user.patch(Pods, released, { metadata: { labels: { app: `${name}-no-more` } } });
    await eventually(async () => (await user.pods(name)).length === 2, user.signal);
    await user.until(Pods, released, ({ metadata }) => metadata.ownerReferences === undefined);
    return user.untilAvailable(ReplicationControllers, name, 2);
  },

  async 'controller-refused'(user, name) {
    await user.replicationController(name, { replicas: 1, serviceAccountName: 'missing' });
    return user.until(ReplicationControllers, name, ({ status }) => status?.conditions?.[0]?.reason === 'FailedCreate');
  },
};

/** Fails the pod once it runs, as an eviction by the kubelet does. */
async function fail(user: WorkloadUser, pod: Pod): Promise<void> {
  await user.until(Pods, pod.metadata.name, ({ status }) => isConditionTrue(status?.conditions, 'Ready'));
  const body = { status: { phase: 'Failed', reason: 'Evicted', conditions: null, containerStatuses: null } };
  const patch = { type: 'merge', body, subresource: 'status' } as const;
  await user.client.patch(Pods, keyOf(pod), patch, user.signal);
}

export async function runReplicaSetScenarios(user: WorkloadUser): Promise<void> {
  await Promise.all(Object.entries(scenarios).map(([name, run]) => run(user, name)));
}
