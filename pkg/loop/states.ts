import {
  findCondition,
  isBeingDeleted,
  isConditionTrue,
  type Cached,
  type CronJob,
  type DaemonSet,
  type Deployment,
  type EndpointSlice,
  type Job,
  type Node,
  type PersistentVolumeClaim,
  type Pod,
  type ReplicaSet,
  type Service,
  type StatefulSet,
} from '../api/index.ts';
import type { ItemState } from './protocol.ts';

/** The state of an object for people who look: a colour, and a few words. */
export interface Shown {
  readonly state: ItemState;
  readonly text: string;
}

export function showPod({ metadata, status }: Cached<Pod>): Shown {
  if (isBeingDeleted(metadata)) return { state: 'busy', text: 'terminating' };
  const { phase } = status ?? {};
  if (phase === 'Succeeded') return { state: 'ended', text: 'succeeded' };
  if (phase === 'Failed') return { state: 'bad', text: status?.reason ?? 'failed' };
  if (isConditionTrue(status?.conditions, 'Ready')) return { state: 'good', text: 'ready' };
  const waiting = (status?.containerStatuses ?? []).map(({ state }) => state?.waiting?.reason);
  const problem = waiting.find((reason) => reason !== undefined && /BackOff|Err/.test(reason));
  if (problem !== undefined) return { state: 'bad', text: problem };
  if (phase === 'Running') return { state: 'busy', text: 'not ready' };
  const scheduled = findCondition(status?.conditions, 'PodScheduled');
  if (scheduled?.status === 'False') return { state: 'busy', text: scheduled.reason ?? 'not scheduled' };
  return { state: 'busy', text: 'pending' };
}

export function showDeployment({ metadata, spec, status }: Cached<Deployment>): Shown {
  if (isBeingDeleted(metadata)) return { state: 'busy', text: 'terminating' };
  const desired = spec.replicas ?? 1;
  const available = status?.availableReplicas ?? 0;
  const text = `${available} of ${desired} available`;
  const failure = findCondition(status?.conditions, 'ReplicaFailure');
  if (failure?.status === 'True')
    return { state: 'bad', text: `${text}, ${failure.reason ?? 'pods cannot be created'}` };
  const progress = findCondition(status?.conditions, 'Progressing');
  if (progress?.status === 'False') return { state: 'bad', text: `${text}, ${progress.reason ?? 'no progress'}` };
  if (spec.paused === true) return { state: 'ended', text: `${text}, paused` };
  const isObserved = status?.observedGeneration === metadata.generation;
  const isComplete = isObserved && available === desired && (status?.updatedReplicas ?? 0) === desired;
  return { state: isComplete && (status?.replicas ?? 0) === desired ? 'good' : 'busy', text };
}

/** Also ReplicationControllers: the same fields. */
export function showReplicaSet({ metadata, spec, status }: Cached<ReplicaSet>): Shown {
  if (isBeingDeleted(metadata)) return { state: 'busy', text: 'terminating' };
  const desired = spec.replicas ?? 1;
  const ready = status?.readyReplicas ?? 0;
  const text = `${ready} of ${desired} ready`;
  const failure = findCondition(status?.conditions, 'ReplicaFailure');
  if (failure?.status === 'True')
    return { state: 'bad', text: `${text}, ${failure.reason ?? 'pods cannot be created'}` };
  if (desired === 0 && (status?.replicas ?? 0) === 0) return { state: 'ended', text: 'scaled to 0' };
  return { state: ready === desired && (status?.replicas ?? 0) === desired ? 'good' : 'busy', text };
}

export function showStatefulSet({ metadata, spec, status }: Cached<StatefulSet>): Shown {
  if (isBeingDeleted(metadata)) return { state: 'busy', text: 'terminating' };
  const desired = spec?.replicas ?? 1;
  const ready = status?.readyReplicas ?? 0;
  const isUpdated = status?.currentRevision === status?.updateRevision || status?.updatedReplicas === desired;
  const isObserved = status?.observedGeneration === metadata.generation;
  const isComplete = isObserved && ready === desired && status?.replicas === desired && isUpdated;
  return { state: isComplete ? 'good' : 'busy', text: `${ready} of ${desired} ready` };
}

export function showDaemonSet({ metadata, status }: Cached<DaemonSet>): Shown {
  if (isBeingDeleted(metadata)) return { state: 'busy', text: 'terminating' };
  const desired = status?.desiredNumberScheduled ?? 0;
  const available = status?.numberAvailable ?? 0;
  const isObserved = status?.observedGeneration === metadata.generation;
  const isComplete = isObserved && available === desired && (status?.updatedNumberScheduled ?? 0) === desired;
  return { state: isComplete ? 'good' : 'busy', text: `${available} of ${desired} available` };
}

export function showJob({ metadata, spec, status }: Cached<Job>): Shown {
  if (isConditionTrue(status?.conditions, 'Complete')) return { state: 'ended', text: 'complete' };
  const failed = findCondition(status?.conditions, 'Failed');
  if (failed?.status === 'True') return { state: 'bad', text: failed.reason ?? 'failed' };
  if (isBeingDeleted(metadata)) return { state: 'busy', text: 'terminating' };
  if (spec?.suspend === true) return { state: 'ended', text: 'suspended' };
  const counts = `${status?.active ?? 0} active, ${status?.succeeded ?? 0} succeeded`;
  return { state: 'busy', text: (status?.failed ?? 0) > 0 ? `${counts}, ${status?.failed} failed` : counts };
}

export function showCronJob({ metadata, spec, status }: Cached<CronJob>): Shown {
  if (isBeingDeleted(metadata)) return { state: 'busy', text: 'terminating' };
  if (spec?.suspend === true) return { state: 'ended', text: 'suspended' };
  return { state: (status?.active ?? []).length > 0 ? 'busy' : 'good', text: spec?.schedule ?? '' };
}

export function showService({ metadata, spec, status }: Cached<Service>): Shown {
  if (isBeingDeleted(metadata)) return { state: 'busy', text: 'terminating' };
  const type = spec?.type ?? 'ClusterIP';
  if (type !== 'LoadBalancer') return { state: 'good', text: type };
  const [ingress] = status?.loadBalancer?.ingress ?? [];
  const address = ingress?.ip ?? ingress?.hostname;
  return address === undefined
    ? { state: 'busy', text: 'waits for an address' }
    : { state: 'good', text: `${type} ${address}` };
}

export function showEndpointSlice({ metadata, endpoints }: Cached<EndpointSlice>): Shown {
  if (isBeingDeleted(metadata)) return { state: 'busy', text: 'terminating' };
  const all = endpoints ?? [];
  const ready = all.filter(({ conditions }) => conditions?.ready !== false).length;
  return { state: ready === all.length ? 'good' : 'busy', text: `${ready} of ${all.length} ready` };
}

export function showNode({ metadata, spec, status }: Cached<Node>): Shown {
  if (isBeingDeleted(metadata)) return { state: 'busy', text: 'terminating' };
  const ready = findCondition(status?.conditions, 'Ready');
  if (ready?.status !== 'True') return { state: 'bad', text: ready?.reason ?? 'not ready' };
  return spec?.unschedulable === true ? { state: 'busy', text: 'cordoned' } : { state: 'good', text: 'ready' };
}

export function showClaim({ metadata, status }: Cached<PersistentVolumeClaim>): Shown {
  if (isBeingDeleted(metadata)) return { state: 'busy', text: 'terminating' };
  const phase = status?.phase ?? 'Pending';
  if (phase === 'Lost') return { state: 'bad', text: 'lost' };
  return { state: phase === 'Bound' ? 'good' : 'busy', text: phase.toLowerCase() };
}
