import { ownValue, type Cached, type Container, type Pod } from '../../pkg/api/index.ts';
import { milliInt64 } from '../../pkg/quantities/index.ts';
import { sumInt64 } from './go-numbers.ts';
import { MetricError } from './metric-reading.ts';

export interface RequestOptions {
  readonly resource: string;
  /** Only this container counts. Undefined: the whole pod. */
  readonly container: string | undefined;
  /** The gate PodLevelResources. */
  readonly podLevelResources: boolean;
}

/** What each pod requests of a resource, in thousandths, by the pod's name. Throws `MetricError` if a request is missing. */
export function requestsOf(pods: readonly Cached<Pod>[], options: RequestOptions): ReadonlyMap<string, bigint> {
  return new Map(pods.map((pod) => [pod.metadata.name, requestOf(pod, options)]));
}

function requestOf(pod: Cached<Pod>, { resource, container, podLevelResources }: RequestOptions): bigint {
  if (container !== undefined) return requestOfContainer(pod, container, resource);
  if (podLevelResources && hasPodLevelRequests(pod)) return podLevelRequest(pod, resource);
  return sumInt64(measuredContainers(pod).map((each) => containerRequest(pod, each, resource)));
}

function requestOfContainer(pod: Cached<Pod>, name: string, resource: string): bigint {
  const found = measuredContainers(pod).find((each) => each.name === name);
  if (found === undefined) throw new MetricError(`container ${name} not found in Pod ${pod.metadata.name}`);
  return containerRequest(pod, found, resource);
}

/** The containers, and the init containers that keep running beside them. */
function measuredContainers({ spec }: Cached<Pod>): readonly Cached<Container>[] {
  return [...spec.containers, ...(spec.initContainers ?? []).filter(isSidecar)];
}

const isSidecar = ({ restartPolicy }: Cached<Container>): boolean => restartPolicy === 'Always';

function containerRequest(pod: Cached<Pod>, { name, resources }: Cached<Container>, resource: string): bigint {
  const request = milliOf(resources?.requests, resource);
  if (request === undefined) {
    throw new MetricError(`missing request for ${resource} in container ${name} of Pod ${pod.metadata.name}`);
  }
  return request;
}

type Amounts = Readonly<Record<string, string>> | null | undefined;

function milliOf(amounts: Amounts, resource: string): bigint | undefined {
  const text = ownValue(amounts, resource);
  return text === undefined ? undefined : milliInt64(text);
}

function hasPodLevelRequests({ spec }: Cached<Pod>): boolean {
  return Object.keys(spec.resources?.requests ?? {}).some(isPodLevelResource);
}

const isPodLevelResource = (name: string): boolean =>
  name === 'cpu' || name === 'memory' || name.startsWith('hugepages-');

function podLevelRequest(pod: Cached<Pod>, resource: string): bigint {
  const own = isPodLevelResource(resource) ? milliOf(pod.spec.resources?.requests, resource) : undefined;
  const request = own ?? containersRequest(pod, resource);
  const overhead = milliOf(pod.spec.overhead, resource);
  if (request === undefined && overhead === undefined) {
    throw new MetricError(`missing pod-level request for ${resource} in Pod ${pod.metadata.name}`);
  }
  return sumInt64([request ?? 0n, overhead ?? 0n]);
}

/**
 * What the containers request at most at the same time: all together, or during the start an init container beside the
 * sidecars before it. Undefined if no container requests the resource.
 */
function containersRequest({ spec }: Cached<Pod>, resource: string): bigint | undefined {
  const requestIn = ({ resources }: Cached<Container>): bigint | undefined => milliOf(resources?.requests, resource);
  let sidecars = 0n;
  let atStart = 0n;
  for (const container of spec.initContainers ?? []) {
    const request = requestIn(container) ?? 0n;
    if (isSidecar(container)) sidecars += request;
    const during = isSidecar(container) ? sidecars : sidecars + request;
    if (during > atStart) atStart = during;
  }
  const requests = [...spec.containers, ...(spec.initContainers ?? [])].map(requestIn);
  if (requests.every((request) => request === undefined)) return undefined;
  const running = sumInt64([...spec.containers.map((container) => requestIn(container) ?? 0n), sidecars]);
  return running > atStart ? running : atStart;
}
