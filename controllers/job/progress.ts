import { formatTime, type JobStatus } from '../../pkg/api/index.ts';
import { withSuspension, type Ending } from './conditions.ts';
import { isSuspended } from './job-spec.ts';
import type { PodsPlan } from './scaling.ts';
import type { Assessment } from './assess.ts';

/** The outcome of a `PodsPlan`. */
export interface PodsOutcome {
  readonly created: number;
  readonly deleted: number;
  /** How many of the deleted pods were ready. */
  readonly deletedReady: number;
  readonly error: Error | undefined;
}

export interface ProgressOptions {
  /** Clears `startTime` of a suspended Job. Only then may users change its scheduling directives. */
  readonly clearsStartTime: boolean;
}

/** The Job after pods were created or deleted, before ended pods are counted. */
export interface Progress {
  readonly status: Pick<JobStatus, 'active' | 'ready' | 'terminating' | 'startTime' | 'conditions'>;
  /** Set when the Job ends and all active pods have been deleted. */
  readonly ending: Ending | undefined;
  readonly suspension: 'suspended' | 'resumed' | undefined;
}

export function computeProgress(
  assessment: Assessment,
  plan: PodsPlan,
  { created, deleted, deletedReady }: PodsOutcome,
  { clearsStartTime }: ProgressOptions,
): Progress {
  const { job, activePods, nowMs } = assessment;
  const active = activePods.length + created - deleted;
  const ending = plan.kind === 'end' ? endingWithoutActivePods(assessment, active) : completion(assessment, active);
  const before = job.status?.conditions ?? [];
  const mayShowSuspension = plan.kind !== 'end' && plan.kind !== 'leave' && ending === undefined;
  const conditions = mayShowSuspension ? withSuspension(before, isSuspended(job), nowMs) : before;
  const suspension = conditions === before ? undefined : isSuspended(job) ? 'suspended' : 'resumed';
  let { startTime } = assessment;
  // The active deadline starts again when a Job is resumed.
  if (suspension === 'resumed') startTime = formatTime(nowMs);
  if (suspension === 'suspended' && clearsStartTime) startTime = undefined;
  return {
    status: {
      active,
      ready: assessment.ready - deletedReady,
      terminating: assessment.terminating + deleted,
      startTime,
      conditions: [...conditions],
    },
    ending,
    suspension,
  };
}

/** No ending while a pod could not be deleted: it may still succeed, and would be counted as failed. */
function endingWithoutActivePods({ ending }: Assessment, active: number): Ending | undefined {
  return active === 0 ? ending : undefined;
}

function completion({ job, succeeded }: Assessment, active: number): Ending | undefined {
  const { completions } = job.spec;
  const enough = completions === undefined ? succeeded > 0 : succeeded >= completions;
  if (!enough || active > 0) return undefined;
  return {
    outcome: 'succeeded',
    reason: 'CompletionsReached',
    message: 'Reached expected number of succeeded pods',
  };
}
