import {
  ControllerRevisions,
  CronJobs,
  DaemonSets,
  Deployments,
  HorizontalPodAutoscalers,
  isConditionTrue,
  Jobs,
  PersistentVolumeClaims,
  PodDisruptionBudgets,
  Pods,
  ReplicaSets,
  ReplicationControllers,
  StatefulSets,
  type HorizontalPodAutoscalerCondition,
  type Kind,
  type Pod,
} from '../../../pkg/api/index.ts';
import { AutoscalerUser, metricSpecs } from '../autoscaler-user.ts';
import { BudgetUser } from '../budget-user.ts';
import { CronJobUser } from '../cronjob-scenarios.ts';
import { affinityTo, DaemonSetUser } from '../daemonset-user.ts';
import { eventually } from '../eventually.ts';
import { JobUser } from '../job-user.ts';
import { claimTemplates, StatefulSetUser } from '../stateful-set-user.ts';
import { WorkloadUser } from '../workload-user.ts';
import type { FaultScenario, FaultStage } from './scenario.ts';

const workloads = ({ client, namespace, signal }: FaultStage): WorkloadUser =>
  new WorkloadUser(client, namespace, signal);

/** Three pods; one is lost and replaced; then scaled down by one. */
async function loseAndShrink(stage: FaultStage, kind: Kind): Promise<void> {
  const user = workloads(stage);
  await (kind === ReplicaSets
    ? user.replicaSet('web', { replicas: 3 })
    : user.replicationController('web', { replicas: 3 }));
  await user.untilAvailable(kind, 'web', 3);
  const [lost] = await user.pods('web');
  if (lost !== undefined) await user.delete(Pods, lost.metadata.name);
  const isReplaced = (pods: readonly Pod[]): boolean =>
    pods.length === 3 && pods.every(({ metadata }) => metadata.uid !== lost?.metadata.uid);
  await eventually(async () => isReplaced(await user.pods('web')), stage.signal);
  await user.scale(kind, 'web', 2);
  await user.untilAvailable(kind, 'web', 2);
}

const replicaSet: FaultScenario = {
  controller: 'replicaset-controller',
  kinds: [ReplicaSets, Pods],
  act: (stage) => loseAndShrink(stage, ReplicaSets),
};

const replicationController: FaultScenario = {
  controller: 'replicationcontroller-controller',
  kinds: [ReplicationControllers, Pods],
  act: (stage) => loseAndShrink(stage, ReplicationControllers),
};

const deployment: FaultScenario = {
  controller: 'deployment-controller',
  beside: ['replicaset-controller'],
  kinds: [Deployments, ReplicaSets, Pods],
  async act(stage) {
    const user = workloads(stage);
    const strategy = { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } };
    await user.deployment('web', { replicas: 3, strategy, revisionHistoryLimit: 1 });
    await user.untilRolledOut('web');
    await user.rollOut('web', 'two');
    await user.untilRolledOut('web');
  },
};

/** Two pods with claims; another revision; scaled down by one; the first revision again. */
const statefulSet: FaultScenario = {
  controller: 'statefulset-controller',
  kinds: [StatefulSets, ControllerRevisions, PersistentVolumeClaims, Pods],
  async act({ client, namespace, signal }) {
    const user = new StatefulSetUser(client, namespace, signal);
    await user.statefulSet('db', {
      replicas: 2,
      volumeClaimTemplates: claimTemplates('data'),
      persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete', whenScaled: 'Delete' },
    });
    await user.untilSettled('db', 2);
    await user.update('db', 'two');
    await user.untilSettled('db', 2);
    await user.scaleTo('db', 1);
    await user.untilSettled('db', 1);
    await user.update('db', 'one');
    await user.untilSettled('db', 1);
  },
};

/** A pod on each of two nodes, replaced by an update that keeps no history. */
const daemonSet: FaultScenario = {
  controller: 'daemonset-controller',
  kinds: [DaemonSets, ControllerRevisions, Pods],
  async act({ client, namespace, signal, hollow: { nodeNames } }) {
    const user = new DaemonSetUser(client, namespace, signal);
    const affinity = affinityTo(nodeNames);
    const pod = { nodeSelector: {}, affinity, tolerations: [{ operator: 'Exists' }] };
    await user.daemonSet('web', { pod, revisionHistoryLimit: 0 });
    await user.untilDaemonsRun('web', nodeNames.length);
    await user.update('web', 'two');
    await user.untilDaemonsRun('web', nodeNames.length);
    await eventually(async () => (await user.revisionsOf('web')).length === 1, signal);
  },
};

/** Three indexes, one of which exceeds its backoff limit. */
const job: FaultScenario = {
  controller: 'job-controller',
  kinds: [Jobs, Pods],
  async act({ client, namespace, signal }) {
    const user = new JobUser(client, namespace, signal);
    await user.create('batch', {
      completions: 3,
      parallelism: 2,
      completionMode: 'Indexed',
      backoffLimitPerIndex: 0,
    });
    for (const [index, exitCode] of [0, 1, 0].entries())
      await user.finish(await user.running('batch', index), exitCode);
    await user.untilOver('batch');
  },
};

/** A run is overdue, its Job finishes, and replaces an earlier one in the history. */
const cronJob: FaultScenario = {
  controller: 'cronjob-controller',
  kinds: [CronJobs, Jobs],
  async act({ client, namespace, signal }) {
    const user = new CronJobUser(client, namespace, signal);
    // Once a year, so that no other run is due during the trial.
    const owner = await user.create('yearly', { schedule: '0 0 1 1 *', suspend: true, successfulJobsHistoryLimit: 1 });
    const lastYear = new Date().getUTCFullYear() - 1;
    const times = { started: `${lastYear}-01-01T00:00:00Z`, ended: `${lastYear}-01-01T00:01:00Z` };
    await user.giveTo(await user.finish(await user.createJob('yearly-earlier'), times), owner);
    await user.until('yearly', ({ status }) => status?.lastSuccessfulTime === times.ended);
    await user.patch('yearly', { status: { lastScheduleTime: times.started } }, 'status');
    await user.patch('yearly', { spec: { suspend: false } });
    await user.finish(await user.started('yearly'));
    await user.until('yearly', ({ status }) => (status?.active ?? []).length === 0);
  },
};

const ttlAfterFinished: FaultScenario = {
  controller: 'ttl-after-finished-controller',
  kinds: [Jobs],
  async act({ client, namespace, signal }) {
    const user = new CronJobUser(client, namespace, signal);
    const kept = await user.createJob('kept', { ttlSecondsAfterFinished: 3600 });
    const over = await user.createJob('over', { ttlSecondsAfterFinished: 1 });
    await user.finish(kept);
    await user.finish(over);
    await user.untilJob(over, (left) => left === undefined || left.metadata.deletionTimestamp !== undefined);
  },
};

/** A pod is evicted, a budget changes, and an earlier eviction has expired. */
const disruption: FaultScenario = {
  controller: 'disruption-controller',
  beside: ['replicaset-controller'],
  kinds: [PodDisruptionBudgets, Pods],
  async act({ client, namespace, signal }) {
    const user = new BudgetUser(client, namespace, signal);
    await user.replicaSet('web', { replicas: 3 });
    await user.untilAvailable(ReplicaSets, 'web', 3);
    await user.budget('web', { maxUnavailable: 1 });
    await user.untilBudget('web', { disruptionsAllowed: 1 });
    const [evicted] = await user.podsOf('web', 3);
    await user.evict(evicted);
    await user.untilAvailable(ReplicaSets, 'web', 3);
    await user.untilBudget('web', { disruptionsAllowed: 1, disruptedPods: undefined });
    await user.patch(PodDisruptionBudgets, 'web', { spec: { maxUnavailable: 2 } });
    await user.untilBudget('web', { disruptionsAllowed: 2 });
    await user.readyPod('spared', 'spared');
    const lastTransitionTime = '2026-01-01T00:00:00Z';
    await user.patchStatus(Pods, 'spared', {
      conditions: [{ type: 'DisruptionTarget', status: 'True', lastTransitionTime }],
    });
    await user.until(Pods, 'spared', ({ status }) => !isConditionTrue(status?.conditions, 'DisruptionTarget'));
  },
};

/** A target below the minimum, then above the maximum, then scaled to zero, which turns the autoscaler off. */
const podAutoscaler: FaultScenario = {
  controller: 'horizontal-pod-autoscaler-controller',
  flags: () => ['--horizontal-pod-autoscaler-sync-period=500ms'],
  kinds: [HorizontalPodAutoscalers, ReplicaSets],
  async act({ client, namespace, signal }) {
    const user = new AutoscalerUser(client, namespace, signal);
    await user.target('web', 1);
    await user.autoscaler('web', [metricSpecs.external({ value: '1' })], { minReplicas: 3, maxReplicas: 5 });
    // The next sync shows the new replicas. A user who is faster may be overwritten, if the response to the write was lost.
    const untilScaledTo = (replicas: number) =>
      user.untilAutoscaler('web', ({ status }) => status?.currentReplicas === replicas);
    await untilScaledTo(3);
    await user.scale(ReplicaSets, 'web', 9);
    await untilScaledTo(5);
    await user.scale(ReplicaSets, 'web', 0);
    const isOff = ({ type, reason }: HorizontalPodAutoscalerCondition) =>
      type === 'ScalingActive' && reason === 'ScalingDisabled';
    await user.untilAutoscaler('web', ({ status }) => (status?.conditions ?? []).some(isOff));
  },
};

export const workloadScenarios: readonly FaultScenario[] = [
  replicaSet,
  replicationController,
  deployment,
  statefulSet,
  daemonSet,
  job,
  cronJob,
  ttlAfterFinished,
  disruption,
  podAutoscaler,
];
