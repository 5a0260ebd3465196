import {
  PodGroups,
  Workloads,
  type Cached,
  type Job,
  type Pod,
  type PodGroup,
  type Workload,
} from '../../pkg/api/index.ts';
import {
  findServed,
  PendingWrites,
  type ControllerContext,
  type OwnWrites,
  type PodControl,
  type Syncable,
} from '../../pkg/controller/index.ts';
import { ensurePodGroup } from './apply-gang.ts';
import { isGang } from './gang.ts';
import { groupsByWorkload, workloadsByJob } from './gang-indexes.ts';

/** Jobs whose pods are scheduled together. */
export interface Gangs {
  readonly caches: readonly Syncable[];
  readonly ownWrites: readonly OwnWrites[];
  /** The group that new pods of the Job belong to; undefined if they are scheduled one by one. */
  podGroupFor(
    job: Cached<Job>,
    pods: readonly Cached<Pod>[],
    signal: AbortSignal,
  ): Promise<Cached<PodGroup> | undefined>;
}

const noGangs: Gangs = { caches: [], ownWrites: [], podGroupFor: async () => undefined };

/** Without the gate, or on a server without the APIs, there are no gangs. */
export async function openGangs(
  context: ControllerContext,
  control: PodControl<Job>,
  signal: AbortSignal,
): Promise<Gangs> {
  if (!context.gates.isEnabled('WorkloadWithJob')) return noGangs;
  for (const kind of [Workloads, PodGroups]) {
    if ((await findServed<Workload | PodGroup>(context.discovery, [kind], signal)) !== undefined) continue;
    context.logger.info({}, 'Workloads are not served: the pods of Jobs are scheduled one by one');
    return noGangs;
  }
  const workloads = context.informers.informerFor(Workloads);
  const podGroups = context.informers.informerFor(PodGroups);
  workloads.addIndex(workloadsByJob);
  podGroups.addIndex(groupsByWorkload);
  const pendingWorkloads = new PendingWrites<Workload>(workloads, context.clock);
  const pendingGroups = new PendingWrites<PodGroup>(podGroups, context.clock);
  const deps = { control, workloads: workloads.store, podGroups: podGroups.store, pendingWorkloads, pendingGroups };
  return {
    caches: [workloads, podGroups],
    ownWrites: [pendingWorkloads, pendingGroups],
    podGroupFor: async (job, pods, abandon) => (isGang(job) ? ensurePodGroup(job, pods, deps, abandon) : undefined),
  };
}
