import {
  Deployments,
  Pods,
  ReplicaSets,
  ServiceAccounts,
  type Deployment,
  type ReplicaSet,
} from '../../pkg/api/index.ts';
import { podSettingNames } from '../../pkg/hollow/index.ts';
import { eventually } from './eventually.ts';
import { conditionsOf, type WorkloadUser } from './workload-user.ts';

const neverReady = { [podSettingNames.neverReady]: 'true' };
const ready = { [podSettingNames.neverReady]: null };
const rolling = (maxSurge: number | string, maxUnavailable: number | string): Pick<Deployment['spec'], 'strategy'> => ({
  strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge, maxUnavailable } },
});
const recreate = { strategy: { type: 'Recreate' } };
const rollback = 'deprecated.deployment.rollback.to';
const revision = 'deployment.kubernetes.io/revision';

const hasReason =
  (reason: string) =>
  (deployment: Deployment): boolean =>
    conditionsOf(deployment).some((condition) => condition.endsWith(` ${reason}`));

/** One behaviour each, on a separate Deployment of the same name. */
const scenarios: Readonly<Record<string, (user: WorkloadUser, name: string) => Promise<unknown>>> = {
  async 'rolls-by-percent'(user, name) {
    await user.deployment(name, { replicas: 5, ...rolling('30%', '30%'), ownAnnotations: { cause: 'first' } });
    await user.untilRolledOut(name);
    await rollOutBecause(user, name, 'second');
    return user.untilRolledOut(name);
  },

  async 'rolls-without-surge'(user, name) {
    await user.deployment(name, { replicas: 2, ...rolling(0, 1), minReadySeconds: 1 });
    await user.untilRolledOut(name);
    await user.rollOut(name, 'two');
    return user.untilRolledOut(name);
  },

  async recreates(user, name) {
    await user.deployment(name, { replicas: 3, ...recreate, annotations: { [podSettingNames.stopAfter]: '1s' } });
    await user.untilRolledOut(name);
    await user.rollOut(name, 'two');
    await user.untilRolledOut(name);
    await user.scale(Deployments, name, 1);
    return user.untilRolledOut(name);
  },

  async 'created-paused'(user, name) {
    await user.deployment(name, { replicas: 2, paused: true });
    await user.until(Deployments, name, hasReason('DeploymentPaused'));
    await user.patch(Deployments, name, { spec: { paused: false } });
    return user.untilRolledOut(name);
  },

  async 'scaled-while-paused'(user, name) {
    await user.deployment(name, { replicas: 2 });
    await user.untilRolledOut(name);
    await user.patch(Deployments, name, { spec: { paused: true } });
    await user.until(Deployments, name, hasReason('DeploymentPaused'));
    await user.rollOut(name, 'two');
    await user.scale(Deployments, name, 4);
    return user.until(Deployments, name, ({ status }) => status?.availableReplicas === 4 && !status.updatedReplicas);
  },

  async 'scaled-midway'(user, name) {
    await user.deployment(name, { replicas: 10, ...rolling(3, 2) });
    await user.untilRolledOut(name);
    await user.rollOut(name, 'two', neverReady);
    await untilSizes(user, name, [8, 5]);
    await user.scale(Deployments, name, 20);
    // 8 and 5 of 13 become 14 and 9 of 23.
    await untilSizes(user, name, [14, 9]);
    return user.until(Deployments, name, ({ status }) => status?.replicas === 23 && status.availableReplicas === 14);
  },

  async 'scaled-down-midway'(user, name) {
    await user.deployment(name, { replicas: 10, ...rolling(3, 2) });
    await user.untilRolledOut(name);
    await user.rollOut(name, 'two', neverReady);
    await untilSizes(user, name, [8, 5]);
    await user.scale(Deployments, name, 0);
    return user.untilRolledOut(name);
  },

  async 'keeps-one-revision'(user, name) {
    await user.deployment(name, { replicas: 1, revisionHistoryLimit: 1 });
    for (const image of ['two', 'three', 'four']) {
      await user.untilRolledOut(name);
      await user.rollOut(name, image);
    }
    await user.untilRolledOut(name);
    return eventually(async () => (await user.setsOf(name)).length === 2, user.signal);
  },

  async 'goes-back'(user, name) {
    await user.deployment(name, { replicas: 2 });
    for (const image of ['two', 'three', 'one']) {
      await user.untilRolledOut(name);
      await user.rollOut(name, image);
    }
    await user.until(Deployments, name, ({ metadata }) => metadata.annotations?.[revision] === '4');
    return user.untilRolledOut(name);
  },

  async 'rolled-back-by-annotation'(user, name) {
    await user.deployment(name, { replicas: 1, ownAnnotations: { cause: 'first' } });
    await user.untilRolledOut(name);
    await rollOutBecause(user, name, 'second');
    await user.untilRolledOut(name);
    await user.patch(Deployments, name, { metadata: { annotations: { [rollback]: '0' } } });
    await user.until(Deployments, name, ({ metadata }) => metadata.annotations?.[revision] === '3');
    await user.untilRolledOut(name);
    await user.patch(Deployments, name, { metadata: { annotations: { [rollback]: '77' } } });
    return user.until(Deployments, name, ({ metadata }) => metadata.annotations?.[rollback] === undefined);
  },

  async 'misses-deadline'(user, name) {
    await user.deployment(name, { replicas: 2, progressDeadlineSeconds: 3, annotations: neverReady });
    return user.until(Deployments, name, hasReason('ProgressDeadlineExceeded'));
  },

  async 'recovers-from-deadline'(user, name) {
    await user.deployment(name, { replicas: 2, progressDeadlineSeconds: 3, annotations: neverReady });
    await user.until(Deployments, name, hasReason('ProgressDeadlineExceeded'));
    await user.rollOut(name, 'two', ready);
    await user.untilRolledOut(name);
    return user.until(Deployments, name, hasReason('NewReplicaSetAvailable'));
  },

  async 'without-deadline'(user, name) {
    await user.deployment(name, { replicas: 1, progressDeadlineSeconds: 2 ** 31 - 1 });
    return user.untilRolledOut(name);
  },

  async 'min-ready-seconds'(user, name) {
    await user.deployment(name, { replicas: 2, minReadySeconds: 2 });
    await user.untilRolledOut(name);
    await user.patch(Deployments, name, { spec: { minReadySeconds: 1 } }); // no new revision
    return user.untilRolledOut(name);
  },

  async 'pods-refused'(user, name) {
    await user.deployment(name, { replicas: 2, serviceAccountName: 'missing', progressDeadlineSeconds: 4 });
    await user.until(Deployments, name, hasReason('FailedCreate'));
    return user.until(Deployments, name, hasReason('ProgressDeadlineExceeded'));
  },

  async 'pods-refused-at-first'(user, name) {
    await user.deployment(name, { replicas: 2, serviceAccountName: 'late' });
    await user.until(Deployments, name, hasReason('FailedCreate'));
    await user.client.create(ServiceAccounts, { metadata: { namespace: user.namespace, name: 'late' } }, user.signal);
    await user.untilRolledOut(name);
    return user.until(Deployments, name, (deployment) => conditionsOf(deployment).length === 2);
  },

  async 'rolls-over-a-bad-one'(user, name) {
    await user.deployment(name, { replicas: 4, ...rolling(2, 1) });
    await user.untilRolledOut(name);
    await user.rollOut(name, 'bad', neverReady);
    await untilSizes(user, name, [3, 3]);
    await user.rollOut(name, 'good', ready);
    return user.untilRolledOut(name);
  },

  async 'adopts-a-set'(user, name) {
    await user.replicaSet(name, { replicas: 2 });
    await user.untilAvailable(ReplicaSets, name, 2);
    await user.deployment(name, { replicas: 2 });
    return user.untilRolledOut(name);
  },

  async 'adopts-an-old-set'(user, name) {
    await user.replicaSet(name, { replicas: 2, image: 'old' });
    await user.untilAvailable(ReplicaSets, name, 2);
    await user.deployment(name, { replicas: 2 });
    return user.untilRolledOut(name);
  },

  /** The released ReplicaSet still has the name that the next one would get. */
  async 'lets-go-and-collides'(user, name) {
    await user.deployment(name, { replicas: 1 });
    await user.untilRolledOut(name);
    const [[released], [pod]] = [await user.setsOf(name), await user.podsOf(name, 1)];
    if (released === undefined) throw new Error('there is no ReplicaSet');
    await user.patch(ReplicaSets, released.metadata.name, { metadata: { labels: { app: `${name}-no-more` } } });
    await user.until(ReplicaSets, released.metadata.name, ({ metadata }) => metadata.ownerReferences === undefined);
    await user.until(Deployments, name, ({ status }) => status?.collisionCount === 1);
    await eventually(async () => (await user.setsOf(name)).length === 1, user.signal);
    await user.untilRolledOut(name);
    // Only names of owned objects can be compared.
    await user.delete(ReplicaSets, released.metadata.name);
    return user.delete(Pods, pod.metadata.name);
  },

  async 'loses-a-pod'(user, name) {
    await user.deployment(name, { replicas: 2 });
    await user.untilRolledOut(name);
    const [gone] = await user.podsOf(name, 2);
    await user.delete(Pods, gone.metadata.name);
    await eventually(
      async () => (await user.pods(name)).every(({ metadata }) => metadata.uid !== gone.metadata.uid),
      user.signal,
    );
    return user.untilRolledOut(name);
  },

  async 'being-deleted'(user, name) {
    await user.deployment(name, { replicas: 1, finalizers: ['example.com/hold'] });
    await user.untilRolledOut(name);
    await user.delete(Deployments, name);
    await user.rollOut(name, 'two');
    return user.until(Deployments, name, ({ metadata, status }) => status?.observedGeneration === metadata.generation);
  },

  async 'without-pods'(user, name) {
    await user.deployment(name, { replicas: 0 });
    await user.untilRolledOut(name);
    await user.rollOut(name, 'two');
    await user.until(Deployments, name, ({ metadata }) => metadata.annotations?.[revision] === '2');
    return user.untilRolledOut(name);
  },
};

/** In one write, as `kubectl apply` does it: the previous ReplicaSet must not get the annotation. */
function rollOutBecause(user: WorkloadUser, name: string, cause: string): Promise<Deployment> {
  const containers = [{ name: 'main', image: 'two' }];
  return user.patch(Deployments, name, {
    metadata: { annotations: { cause } },
    spec: { template: { spec: { containers } } },
  });
}

/** The sizes of the Deployment's ReplicaSets, oldest revision first, without those at zero. */
async function untilSizes(user: WorkloadUser, name: string, sizes: readonly number[]): Promise<void> {
  const revisionOf = ({ metadata }: ReplicaSet): number => Number(metadata.annotations?.[revision] ?? 0);
  await eventually(async () => {
    const sets = (await user.setsOf(name)).sort((a, b) => revisionOf(a) - revisionOf(b));
    const found = sets.map(({ spec }) => spec.replicas ?? 0).filter((size) => size > 0);
    if (found.join() !== sizes.join()) throw new Error(`${name} has sizes ${found.join()}, not ${sizes.join()}`);
  }, user.signal);
}

export async function runDeploymentScenarios(user: WorkloadUser): Promise<void> {
  await Promise.all(Object.entries(scenarios).map(([name, run]) => run(user, name)));
}
