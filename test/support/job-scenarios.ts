import { findCondition, Jobs, objectKey, Pods, type Job } from '../../pkg/api/index.ts';
import { podSettingNames } from '../../pkg/hollow/index.ts';
import { exitingWith, type JobUser } from './job-user.ts';

type JobScenarios = Readonly<Record<string, (user: JobUser, name: string) => Promise<unknown>>>;

const isSuspended = ({ status }: Job): boolean => findCondition(status?.conditions, 'Suspended')?.status === 'True';
const hasActive =
  (count: number) =>
  ({ status }: Job): boolean =>
    (status?.active ?? 0) === count;

/**
 * The actions of users on one Job each, named after the behaviour. Each ends when the Job should have nothing left to
 * do.
 */
const jobScenarios: JobScenarios = {
  async plain(user, name) {
    await user.create(name, { completions: 3, parallelism: 2, annotations: exitingWith(0) });
    await user.untilOver(name);
  },

  async 'nothing-to-do'(user, name) {
    await user.create(name, { completions: 0 });
    await user.untilOver(name);
  },

  async 'work-queue'(user, name) {
    await user.create(name, { parallelism: 3 });
    await user.until(name, hasActive(3));
    await user.finish(await user.running(name));
    await user.until(name, ({ status }) => status?.succeeded === 1);
    // The queue is empty: a pod that is deleted now is not replaced, and the last pod decides the result.
    await user.deletePod(await user.running(name));
    await user.until(name, hasActive(1));
    await user.finish(await user.running(name));
    await user.untilOver(name);
  },

  async 'backoff-limit'(user, name) {
    await user.create(name, { backoffLimit: 1, annotations: exitingWith(1) });
    await user.untilOver(name);
  },

  async 'backoff-limit-ends-others'(user, name) {
    await user.create(name, { completions: 3, parallelism: 3, backoffLimit: 0 });
    await user.until(name, ({ status }) => status?.ready === 3);
    await user.finish(await user.running(name), 3);
    await user.untilOver(name);
  },

  async 'restarts-in-place'(user, name) {
    await user.create(name, { annotations: exitingWith('1,0'), pod: { restartPolicy: 'OnFailure' } });
    await user.untilOver(name);
  },

  async 'too-many-restarts'(user, name) {
    const pod = { restartPolicy: 'OnFailure' };
    await user.create(name, { backoffLimit: 1, annotations: exitingWith(1), pod });
    await user.untilOver(name);
  },

  async indexed(user, name) {
    await user.create(name, {
      completionMode: 'Indexed',
      completions: 5,
      parallelism: 2,
      annotations: exitingWith(0),
      pod: { initContainers: [{ name: 'prepare', image: 'example' }] },
    });
    await user.untilOver(name);
  },

  async 'failed-index'(user, name) {
    await user.create(name, {
      completionMode: 'Indexed',
      completions: 4,
      parallelism: 4,
      backoffLimitPerIndex: 1,
    });
    const fail = async (): Promise<unknown> => user.finish(await user.running(name, 1), 1);
    for (const index of [0, 2, 3]) await user.finish(await user.running(name, index));
    await fail();
    await user.pod(
      `batch.kubernetes.io/job-name=${name}`,
      ({ metadata }) => metadata.annotations?.['batch.kubernetes.io/job-index-failure-count'] === '1',
    );
    await fail();
    await user.untilOver(name);
  },

  async 'max-failed-indexes'(user, name) {
    await user.create(name, {
      completionMode: 'Indexed',
      completions: 3,
      parallelism: 3,
      backoffLimitPerIndex: 0,
      maxFailedIndexes: 0,
    });
    await user.until(name, ({ status }) => status?.ready === 3);
    await user.finish(await user.running(name, 0), 1);
    await user.untilOver(name);
  },

  async 'policy-fails-job'(user, name) {
    const onExitCodes = { operator: 'In', values: [42], containerName: 'main' };
    await user.create(name, {
      completions: 2,
      parallelism: 2,
      podFailurePolicy: { rules: [{ action: 'FailJob', onExitCodes }] },
    });
    await user.until(name, ({ status }) => status?.ready === 2);
    await user.finish(await user.running(name), 42);
    await user.untilOver(name);
  },

  async 'policy-ignores'(user, name) {
    const onPodConditions = [{ type: 'DisruptionTarget', status: 'True' }];
    await user.create(name, {
      backoffLimit: 0,
      podFailurePolicy: { rules: [{ action: 'Ignore', onPodConditions }] },
    });
    const { metadata } = await user.running(name);
    await user.client.evictPod(objectKey(user.namespace, metadata.name), {}, user.signal);
    await user.finish(await user.running(name));
    await user.untilOver(name);
  },

  async 'policy-counts'(user, name) {
    const rules = [
      { action: 'Count', onExitCodes: { operator: 'In', values: [7] } },
      { action: 'Ignore', onExitCodes: { operator: 'NotIn', values: [8] } },
    ];
    await user.create(name, { backoffLimit: 0, podFailurePolicy: { rules } });
    await user.finish(await user.running(name), 7);
    await user.untilOver(name);
  },

  async 'policy-fails-index'(user, name) {
    const onExitCodes = { operator: 'In', values: [9] };
    await user.create(name, {
      completionMode: 'Indexed',
      completions: 2,
      parallelism: 2,
      backoffLimitPerIndex: 5,
      podFailurePolicy: { rules: [{ action: 'FailIndex', onExitCodes }] },
    });
    await user.finish(await user.running(name, 0), 9);
    await user.finish(await user.running(name, 1));
    await user.untilOver(name);
  },

  async 'success-policy'(user, name) {
    await user.create(name, {
      completionMode: 'Indexed',
      completions: 4,
      parallelism: 4,
      successPolicy: { rules: [{ succeededIndexes: '3' }, { succeededIndexes: '0-2', succeededCount: 1 }] },
    });
    await user.until(name, ({ status }) => status?.ready === 4);
    await user.finish(await user.running(name, 1));
    await user.untilOver(name);
  },

  async 'replaces-terminating'(user, name) {
    await user.create(name, { annotations: { [podSettingNames.stopAfter]: '20s' } });
    const first = await user.running(name);
    await user.deletePod(first);
    const second = await user.running(name);
    await user.until(name, ({ status }) => status?.active === 1 && status.terminating === 1);
    await user.finish(second);
    await user.untilOver(name);
  },

  async 'replaces-only-ended'(user, name) {
    await user.create(name, { podReplacementPolicy: 'Failed', annotations: { [podSettingNames.stopAfter]: '3s' } });
    await user.deletePod(await user.running(name));
    await user.until(name, ({ status }) => status?.terminating === 1 && (status.active ?? 0) === 0);
    await user.finish(await user.running(name));
    await user.untilOver(name);
  },

  async deadline(user, name) {
    await user.create(name, { completions: 2, parallelism: 2, activeDeadlineSeconds: 3 });
    await user.untilOver(name);
  },

  async 'suspend-resume'(user, name) {
    await user.create(name, { completions: 2, parallelism: 2, suspend: true });
    await user.until(name, isSuspended);
    await user.patch(name, { suspend: false });
    await user.until(name, ({ status }) => status?.ready === 2);
    await user.patch(name, { suspend: true });
    await user.until(name, (job) => isSuspended(job) && (job.status?.terminating ?? 0) === 0);
    // The node selector of a suspended Job may change before its first start.
    await user.patch(name, { template: { spec: { nodeSelector: { 'kubernetes.io/os': 'linux' } } } });
    await user.patch(name, { suspend: false });
    for (let i = 0; i < 2; i++) await user.finish(await user.running(name));
    await user.untilOver(name);
  },

  async 'stays-suspended'(user, name) {
    await user.create(name, { suspend: true });
    await user.until(name, isSuspended);
  },

  async 'managed-by-other'(user, name) {
    await user.create(name, { managedBy: 'example.com/other' });
  },

  async parallelism(user, name) {
    await user.create(name, { completions: 6, parallelism: 1 });
    await user.until(name, hasActive(1));
    await user.patch(name, { parallelism: 4 });
    await user.until(name, ({ status }) => status?.ready === 4);
    await user.patch(name, { parallelism: 2 });
    await user.until(name, (job) => hasActive(2)(job) && job.status?.terminating === 0);
    await user.patch(name, { parallelism: 0 });
    await user.until(name, (job) => hasActive(0)(job) && job.status?.terminating === 0);
  },

  async 'elastic-index'(user, name) {
    await user.create(name, { completionMode: 'Indexed', completions: 4, parallelism: 4 });
    await user.finish(await user.running(name, 1));
    await user.finish(await user.running(name, 3));
    await user.until(name, ({ status }) => status?.completedIndexes === '1,3');
    await user.patch(name, { completions: 3, parallelism: 3 });
    await user.until(name, ({ status }) => status?.completedIndexes === '1');
    await user.finish(await user.running(name, 0));
    await user.finish(await user.running(name, 2));
    await user.untilOver(name);
  },

  async adoption(user, name) {
    const labels = { adopted: name };
    const pod = { restartPolicy: 'Never', containers: [{ name: 'main', image: 'example' }] };
    const metadata = { namespace: user.namespace, name: `${name}-orphan`, labels };
    await user.client.create(Pods, { metadata, spec: pod }, user.signal);
    await user.create(name, {
      manualSelector: true,
      selector: { matchLabels: labels },
      labels,
      parallelism: 2,
      completions: 2,
    });
    const adopted = await user.pod(`adopted=${name}`, ({ metadata: { name: podName, ownerReferences = [] } }) =>
      podName === `${name}-orphan` ? ownerReferences.length === 1 : false,
    );
    await user.finish(adopted);
    await user.until(name, ({ status }) => status?.succeeded === 1);
    // A pod that no longer matches is released, and another one replaces it.
    const leaving = await user.pod(`adopted=${name}`, ({ status }) => status?.phase === 'Running');
    await user.patchPod(leaving, { metadata: { labels: { adopted: 'no' } } });
    await user.pod('adopted=no', ({ metadata: { ownerReferences, finalizers } }) => !ownerReferences && !finalizers);
    await user.finish(await user.pod(`adopted=${name}`, ({ status }) => status?.phase === 'Running'));
    await user.untilOver(name);
  },

  async 'deleted-job'(user, name) {
    await user.create(name, { completions: 2, parallelism: 2 });
    await user.until(name, ({ status }) => status?.ready === 2);
    const selector = `batch.kubernetes.io/job-name=${name}`;
    const options = { propagationPolicy: 'Background' } as const;
    await user.client.delete(Jobs, objectKey(user.namespace, name), options, user.signal);
    for (let released = 0; released < 2;) {
      const { items } = await user.client.listAll(
        Pods,
        { namespace: user.namespace, labelSelector: selector },
        user.signal,
      );
      released = items.filter(({ metadata }) => metadata.finalizers === undefined).length;
    }
  },
};

/** Runs all of them in parallel. */
export async function runJobScenarios(user: JobUser): Promise<void> {
  await Promise.all(
    Object.entries(jobScenarios).map(async ([name, run]) => {
      try {
        await run(user, name);
      } catch (error) {
        throw new Error(`scenario ${name}`, { cause: error });
      }
    }),
  );
}
