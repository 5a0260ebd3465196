import { Jobs, type Cached, type Job, type Pod, type PodStatus } from '../../pkg/api/index.ts';
import { frozen, pod, runningStatus } from './builders.ts';

export const trackingFinalizer = 'batch.kubernetes.io/job-tracking';

export interface DescribedJobPod {
  readonly phase?: 'Pending' | 'Running' | 'Succeeded' | 'Failed';
  readonly index?: number;
  /** Default: true. */
  readonly tracked?: boolean;
  readonly deleting?: boolean;
  readonly ready?: boolean;
  /** The exit code of the container `app`. If set, the container has terminated. */
  readonly exitCode?: number;
  /** When the container terminated: seconds after `jobPodTime`. */
  readonly endedAt?: number;
  readonly conditions?: PodStatus['conditions'];
  readonly restarts?: number;
  readonly annotations?: Record<string, string>;
  readonly name?: string;
}

export const jobPodTime = '2026-01-01T00:00:00Z';

let made = 0;

/** A pod of the Job, in the state described. */
export function jobPod(job: Cached<Job>, described: DescribedJobPod = {}): Cached<Pod> {
  const { phase = 'Running', index, tracked = true, deleting = false, ready = phase === 'Running' } = described;
  const name = described.name ?? `pod-${String(++made)}`;
  const annotations = {
    ...(index !== undefined && { 'batch.kubernetes.io/job-completion-index': String(index) }),
    ...described.annotations,
  };
  return frozen(
    pod({
      name,
      labels: job.spec.selector?.matchLabels as Record<string, string>,
      annotations,
      owner: { kind: Jobs, object: job },
      metadata: {
        ...(tracked && { finalizers: [trackingFinalizer] }),
        ...(deleting && { deletionTimestamp: jobPodTime, deletionGracePeriodSeconds: 0 }),
      },
      spec: { nodeName: 'node', restartPolicy: 'Never' },
      status: statusOf({ ...described, phase, ready }),
    }),
  );
}

function statusOf({ phase, ready = false, exitCode, endedAt, conditions, restarts = 0 }: DescribedJobPod): PodStatus {
  if (phase === 'Pending') return { phase };
  const ended = phase === 'Succeeded' || phase === 'Failed';
  const status = runningStatus({ phase, ready: ready && !ended });
  const finishedAt = new Date(Date.parse(jobPodTime) + (endedAt ?? 0) * 1000).toISOString();
  const terminated = { exitCode: exitCode ?? (phase === 'Failed' ? 1 : 0), finishedAt };
  const containerStatuses = status.containerStatuses?.map((container) => ({
    ...container,
    restartCount: restarts,
    ...(ended && { ready: false, state: { terminated } }),
  }));
  return { ...status, containerStatuses, ...(conditions !== undefined && { conditions }) };
}
