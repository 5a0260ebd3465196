import {
  Jobs,
  keyOf,
  PodGroups,
  Workloads,
  type Cached,
  type Job,
  type Pod,
  type PodGroup,
  type Workload,
} from '../../pkg/api/index.ts';
import type { PendingWrites, PodControl } from '../../pkg/controller/index.ts';
import type { Store } from '../../informers/index.ts';
import { choosePodGroup, chooseWorkload, newPodGroup, newWorkload } from './gang.ts';
import { groupsByWorkload, workloadsByJob } from './gang-indexes.ts';

export interface GangDeps {
  readonly control: PodControl<Job>;
  readonly workloads: Store<Workload>;
  readonly podGroups: Store<PodGroup>;
  readonly pendingWorkloads: PendingWrites<Workload>;
  readonly pendingGroups: PendingWrites<PodGroup>;
}

/**
 * The PodGroup of a Job whose pods are scheduled together, which is created with its Workload before the first pod is.
 * Undefined if the pods are scheduled one by one.
 */
export async function ensurePodGroup(
  job: Cached<Job>,
  pods: readonly Cached<Pod>[],
  deps: GangDeps,
  signal: AbortSignal,
): Promise<Cached<PodGroup> | undefined> {
  const workload = await ensureWorkload(job, pods, deps, signal);
  if (workload === undefined) return undefined;
  const choice = choosePodGroup(job, deps.podGroups.byIndex(groupsByWorkload, keyOf(workload)));
  if (choice.kind === 'use') return choice.object;
  if (choice.kind === 'none') return undefined;
  const created = await deps.control.client.create(PodGroups, newPodGroup(job, workload), signal);
  deps.pendingGroups.wrote(keyOf(job), created.metadata.resourceVersion);
  return created;
}

async function ensureWorkload(
  job: Cached<Job>,
  pods: readonly Cached<Pod>[],
  { control, workloads, pendingWorkloads }: GangDeps,
  signal: AbortSignal,
): Promise<Cached<Workload> | undefined> {
  const choice = chooseWorkload(job, pods, workloads.byIndex(workloadsByJob, keyOf(job)));
  if (choice.kind === 'use') return choice.object;
  if (choice.kind === 'none') return undefined;
  const created = await control.client.create(Workloads, newWorkload(job), signal);
  pendingWorkloads.wrote(keyOf(job), created.metadata.resourceVersion);
  const message = `Created Workload ${created.metadata.name} for Job ${job.metadata.name}`;
  control.recorder.event(Jobs, job, { type: 'Normal', reason: 'WorkloadCreated', message });
  return created;
}
