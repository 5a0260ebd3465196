import {
  CronJobs,
  Deployments,
  Jobs,
  Pods,
  ReplicaSets,
  ReplicationControllers,
  type Kind,
  type Pod,
} from '../../../pkg/api/index.ts';
import { CronJobUser } from '../cronjob-scenarios.ts';
import { eventually } from '../eventually.ts';
import { JobUser } from '../job-user.ts';
import { WorkloadUser } from '../workload-user.ts';
import type { FaultScenario, FaultStage } from './scenario.ts';

const workloads = ({ client, namespace, signal }: FaultStage): WorkloadUser =>
  new WorkloadUser(client, namespace, signal);

/** Three pods; one that is lost is replaced; one fewer. */
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

/** Three indexes, of which one fails for good. */
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

/** A run is overdue, comes to its end, and takes the place of an earlier one in the history. */
const cronJob: FaultScenario = {
  controller: 'cronjob-controller',
  kinds: [CronJobs, Jobs],
  async act({ client, namespace, signal }) {
    const user = new CronJobUser(client, namespace, signal);
    // Once a year, so that nothing more is due while the trial lasts.
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

export const workloadScenarios: readonly FaultScenario[] = [
  replicaSet,
  replicationController,
  deployment,
  job,
  cronJob,
  ttlAfterFinished,
];
