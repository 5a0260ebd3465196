import { formatTime, type JobStatus } from '../../pkg/api/index.ts';
import { withSuspension, type Ending } from './conditions.ts';
import { isSuspended } from './job-spec.ts';
import type { PodsPlan } from './scaling.ts';
import type { Assessment } from './assess.ts';

/** What came of a `PodsPlan`. */
export interface PodsOutcome {
  readonly created: number;
  readonly deleted: number;
  /** How many of the deleted pods were ready. */
  readonly deletedReady: number;
  readonly error: Error | undefined;
}

export interface ProgressOptions {
  /** Makes the next start of a suspended Job its first: only so may users change how its pods are scheduled. */
  readonly clearsStartTime: boolean;
}

/** Where the Job stands once its pods have been seen to, before any end has been counted. */
export interface Progress {
  readonly status: Pick<JobStatus, 'active' | 'ready' | 'terminating' | 'startTime' | 'conditions'>;
  /** Set when the Job ends and every active pod has been told so. */
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
  const ending = plan.kind === 'end' ? endingOnceTold(assessment, active) : completion(assessment, active);
  const before = job.status?.conditions ?? [];
  const mayShowSuspension = plan.kind !== 'end' && plan.kind !== 'leave' && ending === undefined;
  const conditions = mayShowSuspension ? withSuspension(before, isSuspended(job), nowMs) : before;
  const suspension = conditions === before ? undefined : isSuspended(job) ? 'suspended' : 'resumed';
  let { startTime } = assessment;
  // The deadline is for the time a Job is active: what it ran before it was suspended does not count.
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

/** While a pod could not be deleted, nothing is announced: it might succeed yet, and would be counted as failed. */
function endingOnceTold({ ending }: Assessment, active: number): Ending | undefined {
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
