import type { Cached, Container, ContainerStatus, Pod } from '../api/index.ts';
import { addAmounts } from '../quantities/index.ts';
import { addUsage, raiseUsage, usageOf, type MutableUsage, type ResourceList, type Usage } from './usage.ts';

/** The two lists of a container's resources. */
type Side = 'requests' | 'limits';

export interface PodResourceOptions {
  /** Whether `spec.resources` counts: the gate PodLevelResources. */
  readonly podLevel: boolean;
}

/**
 * What a pod needs in total: its containers run together with its sidecars, and each init container runs alone, with the
 * sidecars before it. Where a container is being resized, the larger of the old and the new size counts.
 */
export function podRequests(pod: Cached<Pod>, { podLevel }: PodResourceOptions): MutableUsage {
  const total = sumOfContainers(pod, 'requests');
  if (podLevel && hasPodLevel(pod.spec.resources?.requests)) setPodLevel(total, pod.spec.resources?.requests);
  addUsage(total, usageOf(pod.spec.overhead));
  return total;
}

/** The limits of a pod in total. Overhead counts only for resources that have a limit. */
export function podLimits(pod: Cached<Pod>, { podLevel }: PodResourceOptions): MutableUsage {
  const total = sumOfContainers(pod, 'limits');
  if (podLevel && hasPodLevelResources(pod)) setPodLevel(total, pod.spec.resources?.limits);
  for (const [name, overhead] of usageOf(pod.spec.overhead)) {
    const limit = total.get(name);
    if (limit !== undefined && limit.nanos !== 0n) total.set(name, addAmounts(limit, overhead));
  }
  return total;
}

export function hasPodLevelResources({ spec }: Cached<Pod>): boolean {
  return hasPodLevel(spec.resources?.requests) || hasPodLevel(spec.resources?.limits);
}

function hasPodLevel(list: ResourceList): boolean {
  return Object.keys(list ?? {}).some(isPodLevelResource);
}

function isPodLevelResource(name: string): boolean {
  return name === 'cpu' || name === 'memory' || name.startsWith('hugepages-');
}

function setPodLevel(total: MutableUsage, list: ResourceList): void {
  for (const [name, amount] of usageOf(list)) if (isPodLevelResource(name)) total.set(name, amount);
}

function sumOfContainers(pod: Cached<Pod>, side: Side): MutableUsage {
  const total: MutableUsage = new Map();
  const sidecars: MutableUsage = new Map();
  const largestInit: MutableUsage = new Map();
  for (const container of pod.spec.containers) addUsage(total, effective(pod, container, side));
  for (const container of pod.spec.initContainers ?? []) {
    const isSidecar = container.restartPolicy === 'Always';
    const own = isSidecar ? effective(pod, container, side) : usageOf(container.resources?.[side]);
    if (isSidecar) {
      addUsage(total, own);
      addUsage(sidecars, own);
      raiseUsage(largestInit, sidecars);
    } else {
      const during = new Map(own);
      addUsage(during, sidecars);
      raiseUsage(largestInit, during);
    }
  }
  raiseUsage(total, largestInit);
  return total;
}

/** The resources of a container that the node has acknowledged, or the larger ones that it should get. */
function effective(pod: Cached<Pod>, { name, resources }: Cached<Container>, side: Side): Usage {
  const wanted = usageOf(resources?.[side]);
  const status = statusOf(pod, name);
  if (status?.resources === undefined || status.resources === null) return wanted;
  const result = isResizeInfeasible(pod) ? new Map<never, never>() : wanted;
  raiseUsage(result, usageOf(status.resources[side]));
  if (side === 'requests') raiseUsage(result, usageOf(status.allocatedResources));
  return result;
}

/** The last status of a name counts: those of init containers come after the others. */
function statusOf({ status }: Cached<Pod>, name: string): Cached<ContainerStatus> | undefined {
  return [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])].findLast(
    (each) => each.name === name,
  );
}

function isResizeInfeasible({ status }: Cached<Pod>): boolean {
  return status?.conditions?.find(({ type }) => type === 'PodResizePending')?.reason === 'Infeasible';
}
