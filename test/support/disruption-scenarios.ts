import {
  DaemonSets,
  Deployments,
  Jobs,
  PodDisruptionBudgets,
  Pods,
  ReplicaSets,
  ReplicationControllers,
  type DaemonSet,
  type Job,
  type Pod,
  type Unsaved,
} from '../../pkg/api/index.ts';
import { isNotFound } from '../../pkg/client/index.ts';
import { podSettingNames } from '../../pkg/hollow/index.ts';
import { Crowds, Gatherings, type BudgetUser } from './budget-user.ts';
import { seededRandom } from './random.ts';
import { StatefulSetUser } from './stateful-set-user.ts';
import { podTemplate } from './workload-user.ts';

const neverReady = { [podSettingNames.neverReady]: 'true' };
const ago = (seconds: number): string => new Date(Date.now() - seconds * 1000).toISOString().replace(/\.\d+Z$/, 'Z');

async function readySet(user: BudgetUser, name: string, replicas: number): Promise<void> {
  await user.replicaSet(name, { replicas });
  await user.untilAvailable(ReplicaSets, name, replicas);
}

/** Ready pods, each of a custom resource that wants four. */
async function ownPods(user: BudgetUser, name: string, count: number): Promise<void> {
  for (let index = 0; index < count; index++) {
    const object = await user.custom(Gatherings, `${name}-${index}`, 4);
    await user.readyPod(`${name}-${index}`, name, { kind: Gatherings.kind, object });
  }
}

/** One behaviour each, on separate objects of the same name. */
const scenarios: Readonly<Record<string, (user: BudgetUser, name: string) => Promise<unknown>>> = {
  async 'min-available'(user, name) {
    await readySet(user, name, 3);
    await user.budget(name, { minAvailable: 2 });
    return user.untilBudget(name, { disruptionsAllowed: 1 });
  },

  async 'min-available-share'(user, name) {
    await user.deployment(name, { replicas: 3 });
    await user.untilRolledOut(name);
    await user.budget(name, { minAvailable: '50%' });
    return user.untilBudget(name, { desiredHealthy: 2, disruptionsAllowed: 1 });
  },

  async 'max-unavailable'(user, name) {
    await user.replicationController(name, { replicas: 3 });
    await user.untilAvailable(ReplicationControllers, name, 3);
    await user.budget(name, { maxUnavailable: 2 });
    return user.untilBudget(name, { desiredHealthy: 1, disruptionsAllowed: 2 });
  },

  async 'max-unavailable-share'(user, name) {
    await readySet(user, name, 3);
    await user.budget(name, { maxUnavailable: '10%' });
    return user.untilBudget(name, { desiredHealthy: 2, disruptionsAllowed: 1 });
  },

  async 'stateful-set'(user, name) {
    const sets = new StatefulSetUser(user.client, user.namespace, user.signal);
    await sets.statefulSet(name, { replicas: 3 });
    await sets.untilSettled(name, 3);
    await user.budget(name, { maxUnavailable: '34%' });
    return user.untilBudget(name, { expectedPods: 3, desiredHealthy: 1, disruptionsAllowed: 2 });
  },

  async 'more-than-there-are'(user, name) {
    await readySet(user, name, 2);
    await user.budget(name, { minAvailable: 5 });
    return user.untilBudget(name, { expectedPods: 2, desiredHealthy: 5, disruptionsAllowed: 0 });
  },

  /** Neither minAvailable nor maxUnavailable. */
  async 'no-bound'(user, name) {
    await readySet(user, name, 1);
    await user.budget(name, {});
    return user.untilBudget(name, { currentHealthy: 1, expectedPods: 0, disruptionsAllowed: 0 });
  },

  async changed(user, name) {
    await readySet(user, name, 3);
    await user.budget(name, { minAvailable: 3 });
    await user.untilBudget(name, { disruptionsAllowed: 0 });
    await user.patch(PodDisruptionBudgets, name, { spec: { minAvailable: 1 } });
    return user.untilBudget(name, { observedGeneration: 2, disruptionsAllowed: 2 });
  },

  async 'budget-first'(user, name) {
    await user.budget(name, { maxUnavailable: 1 });
    await user.untilBudget(name, { expectedPods: 0 });
    await readySet(user, name, 2);
    return user.untilBudget(name, { expectedPods: 2, currentHealthy: 2, disruptionsAllowed: 1 });
  },

  async 'not-ready'(user, name) {
    await user.replicaSet(name, { replicas: 2, annotations: neverReady });
    await user.until(ReplicaSets, name, ({ status }) => status?.replicas === 2);
    await user.budget(name, { maxUnavailable: 1 });
    return user.untilBudget(name, { currentHealthy: 0, desiredHealthy: 1 });
  },

  async scaled(user, name) {
    await user.deployment(name, { replicas: 2 });
    await user.untilRolledOut(name);
    await user.budget(name, { maxUnavailable: '50%' });
    await user.untilBudget(name, { expectedPods: 2, disruptionsAllowed: 1 });
    await user.scale(Deployments, name, 4);
    await user.untilRolledOut(name);
    return user.untilBudget(name, { expectedPods: 4, currentHealthy: 4, disruptionsAllowed: 2 });
  },

  async relabelled(user, name) {
    await readySet(user, name, 2);
    await user.budget(`${name}-away`, { minAvailable: 1 });
    await user.budget(name, { minAvailable: 1 });
    await user.untilBudget(name, { currentHealthy: 2 });
    const [pod] = await user.podsOf(name, 2);
    await user.patchPod(pod, { metadata: { labels: { app: `${name}-away` } } });
    await user.untilBudget(`${name}-away`, { currentHealthy: 1 });
    await user.untilAvailable(ReplicaSets, name, 2);
    return user.untilBudget(name, { currentHealthy: 2 });
  },

  /** Evicted pods are counted at once, and dropped from the status when their replacements exist. */
  async evicted(user, name) {
    await readySet(user, name, 3);
    await user.budget(name, { minAvailable: 2 });
    await user.untilBudget(name, { disruptionsAllowed: 1 });
    for (const pod of await user.podsOf(name, 3)) await user.evict(pod);
    await user.untilAvailable(ReplicaSets, name, 3);
    return user.untilBudget(name, { currentHealthy: 3, disruptionsAllowed: 1, disruptedPods: undefined });
  },

  /** The API server approved an eviction, but the pod was not deleted. */
  async 'not-deleted'(user, name) {
    await readySet(user, name, 2);
    await user.budget(name, { minAvailable: 1 });
    await user.untilBudget(name, { disruptionsAllowed: 1 });
    const [late, waiting] = await user.podsOf(name, 2);
    const disruptedPods = { [late.metadata.name]: ago(300), [waiting?.metadata.name ?? '']: ago(10) };
    await user.patchStatus(PodDisruptionBudgets, name, { disruptedPods, disruptionsAllowed: 0 });
    return user.untilBudget(name, { currentHealthy: 1, disruptionsAllowed: 0 });
  },

  /** The same, and the two minutes pass. */
  async 'not-deleted-in-time'(user, name) {
    await readySet(user, name, 2);
    await user.budget(name, { minAvailable: 1 });
    await user.untilBudget(name, { disruptionsAllowed: 1 });
    const [late] = await user.podsOf(name, 2);
    const disruptedPods = { [late.metadata.name]: ago(117) };
    await user.patchStatus(PodDisruptionBudgets, name, { disruptedPods, disruptionsAllowed: 0 });
    await user.untilBudget(name, { currentHealthy: 1 });
    return user.untilBudget(name, { currentHealthy: 2, disruptionsAllowed: 1, disruptedPods: undefined });
  },

  async unmanaged(user, name) {
    await user.readyPod(name, name);
    await user.budget(name, {
      maxUnavailable: 1,
      selector: { matchLabels: { app: name }, matchExpressions: [{ key: 'app', operator: 'In', values: [name, 'b'] }] },
    });
    return user.untilBudget(name, { expectedPods: 0, currentHealthy: 1 });
  },

  async 'unmanaged-number'(user, name) {
    await user.readyPod(name, name);
    await user.budget(name, { minAvailable: 0 });
    return user.untilBudget(name, { expectedPods: 1, disruptionsAllowed: 1 });
  },

  async 'custom-resource'(user, name) {
    const object = await user.custom(Gatherings, name, 4);
    await user.readyPod(name, name, { kind: Gatherings.kind, object });
    await user.budget(name, { maxUnavailable: '75%' });
    return user.untilBudget(name, { expectedPods: 4, desiredHealthy: 1, currentHealthy: 1 });
  },

  async 'many-controllers'(user, name) {
    await readySet(user, name, 2);
    await ownPods(user, name, 12);
    await user.budget(name, { maxUnavailable: '50%' });
    return user.untilBudget(name, { expectedPods: 50, desiredHealthy: 25, currentHealthy: 14 });
  },

  async 'many-controllers-without-scale'(user, name) {
    await readySet(user, name, 2);
    await ownPods(user, name, 2);
    for (const one of ['p', 'q', 'r']) {
      const object = await user.custom(Crowds, `${name}-${one}`, 4);
      await user.readyPod(`${name}-${one}`, name, { kind: Crowds.kind, object });
    }
    await user.budget(name, { maxUnavailable: 1 });
    return user.untilReason(name, 'SyncFailed');
  },

  async 'custom-resource-gone'(user, name) {
    const object = await user.custom(Gatherings, name, 4);
    await user.delete(Gatherings, name);
    await user.readyPod(name, name, { kind: Gatherings.kind, object });
    await user.budget(name, { maxUnavailable: 1 });
    return user.untilReason(name, 'SyncFailed');
  },

  async 'custom-resource-without-scale'(user, name) {
    const object = await user.custom(Crowds, name, 4);
    await user.readyPod(name, name, { kind: Crowds.kind, object });
    await user.budget(name, { maxUnavailable: 1 });
    return user.untilReason(name, 'SyncFailed');
  },

  async 'unknown-kind'(user, name) {
    const object = await user.custom(Crowds, name, 4);
    await user.readyPod(name, name, { kind: 'Nothing', object });
    await user.budget(name, { maxUnavailable: 1 });
    return user.untilReason(name, 'SyncFailed');
  },

  async job(user, name) {
    const { spec } = podTemplate({ app: name });
    const template = { metadata: { labels: { app: name }, annotations: { [podSettingNames.finishAfter]: '1h' } } };
    const containers = spec?.containers ?? [];
    const job = { ...template, spec: { containers, restartPolicy: 'Never' } };
    const object: Unsaved<Job> = { metadata: { namespace: user.namespace, name }, spec: { template: job } };
    await user.client.create(Jobs, object, user.signal);
    await user.until(Jobs, name, ({ status }) => status?.ready === 1);
    await user.budget(name, { maxUnavailable: 1 });
    return user.untilReason(name, 'SyncFailed');
  },

  async 'daemon-set'(user, name) {
    const { metadata, spec: pod } = podTemplate({ app: name });
    const tolerations = [{ operator: 'Exists' }]; // no controller removes the not-ready taint of a new node here
    const template = { metadata, spec: { containers: [], ...pod, tolerations } };
    const spec = { selector: { matchLabels: { app: name } }, template };
    const object: Unsaved<DaemonSet> = { metadata: { namespace: user.namespace, name }, spec };
    await user.client.create(DaemonSets, object, user.signal);
    await user.until(DaemonSets, name, ({ status }) => status?.numberAvailable === 3); // one for each node
    await user.budget(name, { maxUnavailable: 1 });
    return user.untilReason(name, 'SyncFailed');
  },

  /** A failed sync succeeds again once the pods that caused it are gone. */
  async recovered(user, name) {
    const object = await user.custom(Crowds, name, 4);
    const pod = await user.readyPod(name, name, { kind: Crowds.kind, object });
    await user.budget(name, { maxUnavailable: 1 });
    await user.untilReason(name, 'SyncFailed');
    await user.delete(Pods, pod.metadata.name);
    return user.untilReason(name, 'InsufficientPods');
  },

  async 'without-selector'(user, name) {
    await user.readyPod(name, name);
    await user.budget(name, { minAvailable: 1, selector: undefined });
    return user.untilBudget(name, { expectedPods: 0, currentHealthy: 0 });
  },

  async 'stale-target'(user, name) {
    await user.readyPod(name, name);
    const condition = {
      type: 'DisruptionTarget',
      status: 'True',
      reason: 'EvictionByEvictionAPI',
      message: 'gone soon',
    };
    await user.patchStatus(Pods, name, { conditions: [{ ...condition, lastTransitionTime: ago(118) }] });
    return user.until(
      Pods,
      name,
      ({ status }) =>
        status?.conditions?.some(({ type, status: value }) => type === condition.type && value === 'False') === true,
    );
  },

  async 'kubelet-target'(user, name) {
    const pod = await user.readyPod(name, name);
    const condition = { type: 'DisruptionTarget', status: 'True', reason: 'TerminationByKubelet', message: '' };
    await user.patchStatus(Pods, pod.metadata.name, { conditions: [{ ...condition, lastTransitionTime: ago(600) }] });
  },
};

export async function runDisruptionScenarios(user: BudgetUser): Promise<void> {
  await Promise.all(Object.entries(scenarios).map(([name, run]) => run(user, name)));
}

/** Changes budgets, their pods and the controllers of the pods in random order, and ends with the same three pods. */
export async function runBudgetsAtRandom(user: BudgetUser, seed: number): Promise<void> {
  await Promise.all(
    [1, 2, 3, 4].map((offset) => changeAtRandom(user, `random-${offset}`, seededRandom(seed + offset))),
  );
}

async function changeAtRandom(user: BudgetUser, name: string, random: () => number): Promise<void> {
  const below = (limit: number): number => Math.floor(random() * limit);
  const bounds = [{ minAvailable: 1 }, { minAvailable: '50%' }, { maxUnavailable: 2 }, { maxUnavailable: '30%' }];
  const bound = async (given: object): Promise<void> =>
    void (await user.patch(PodDisruptionBudgets, name, {
      spec: { minAvailable: null, maxUnavailable: null, ...given },
    }));
  const somePod = async (): Promise<Pod | undefined> => (await user.pods(name)).at(below(2));
  await readySet(user, name, 2);
  await user.budget(name, { minAvailable: 1 });
  const changes = [
    async (): Promise<void> => bound(bounds[below(bounds.length)] ?? {}),
    async (): Promise<void> => void (await user.scale(ReplicaSets, name, 1 + below(4))),
    async (): Promise<void> => {
      const pod = await somePod();
      if (pod !== undefined) await user.tryToEvict(pod).catch(ignoreAbsence);
    },
    async (): Promise<void> => {
      const pod = await somePod();
      if (pod !== undefined) await user.delete(Pods, pod.metadata.name).catch(ignoreAbsence);
    },
  ];
  for (let count = 0; count < 12; count++) await changes[below(changes.length)]?.();
  await bound({ minAvailable: 2 });
  await user.scale(ReplicaSets, name, 3);
  await user.untilAvailable(ReplicaSets, name, 3);
  const numbers = { expectedPods: 3, desiredHealthy: 2, currentHealthy: 3, disruptionsAllowed: 1 };
  await user.untilBudget(name, { ...numbers, disruptedPods: undefined });
}

/** The pod may have been deleted since it was listed. */
function ignoreAbsence(error: unknown): void {
  if (!isNotFound(error)) throw error;
}
