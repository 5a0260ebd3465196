import { int64Of, isBeingDeleted, parseTime, type Cached, type Pod } from '../api/index.ts';
import { amountOf } from '../quantities/index.ts';
import { countName, matchesClass, type Evaluator, type ScopeRequirement } from './evaluator.ts';
import { hasPodLevelResources, podLimits, podRequests, type PodResourceOptions } from './pod-resources.ts';
import { usageOf, type MutableUsage, type Usage } from './usage.ts';

const one = amountOf(1);
const count = countName('pods');
const requestsPrefix = 'requests.';
const devicePrefix = 'deviceclass.resource.kubernetes.io/';
const compute = ['cpu', 'memory', 'ephemeral-storage'];
const fixed: ReadonlySet<string> = new Set([
  count,
  'pods',
  ...compute.flatMap((name) => [name, `requests.${name}`, `limits.${name}`]),
]);
/** A quota of these resources requires every container to set them. */
const required: ReadonlySet<string> = new Set([
  'cpu',
  'memory',
  'requests.cpu',
  'requests.memory',
  'limits.cpu',
  'limits.memory',
]);

export interface PodEvaluatorOptions extends PodResourceOptions {
  readonly nowMs: () => number;
}

export function createPodEvaluator(options: PodEvaluatorOptions): Evaluator<Pod> {
  return {
    resource: 'pods',
    tracks: (name) =>
      fixed.has(name) ||
      name.startsWith('hugepages-') ||
      name.startsWith('requests.hugepages-') ||
      isExtendedQuotaName(name),
    usageOf: (pod) => podUsage(pod, options.nowMs(), options),
    matchesScope: (scope, pod) => matchesPodScope(scope, pod, options),
  };
}

/** Whether a quota limits an extended resource or a class of devices under this name. */
export function isExtendedQuotaName(name: string): boolean {
  return name.startsWith(requestsPrefix) && (!isNative(name) || name.startsWith(`${requestsPrefix}${devicePrefix}`));
}

function isNative(name: string): boolean {
  return !name.includes('/') || name.includes('kubernetes.io/');
}

/** Whether requests of this resource of a node or of a class of devices are charged. */
function isExtendedResource(name: string): boolean {
  if (name.startsWith(devicePrefix)) return true;
  if (isNative(name) || name.startsWith(requestsPrefix)) return false;
  const [domain = ''] = name.split('/', 1);
  return `${requestsPrefix}${domain}`.length <= 253; // longer ones have no name in a quota
}

/** A pod in an end state, or one whose node does not confirm its deletion, is charged as an object only. */
export function podUsage(pod: Cached<Pod>, nowMs: number, options: PodResourceOptions): Usage {
  const usage: MutableUsage = new Map([[count, one]]);
  if (!isCharged(pod, nowMs)) return usage;
  usage.set('pods', one);
  addCompute(usage, podRequests(pod, options), podLimits(pod, options));
  return usage;
}

function addCompute(usage: MutableUsage, requests: Usage, limits: Usage): void {
  for (const name of compute) {
    const request = requests.get(name);
    const limit = limits.get(name);
    if (request !== undefined) usage.set(name, request).set(`requests.${name}`, request);
    if (limit !== undefined) usage.set(`limits.${name}`, limit);
  }
  for (const [name, request] of requests) {
    if (name.startsWith('hugepages-')) usage.set(name, request).set(`requests.${name}`, request);
    if (isExtendedResource(name)) usage.set(`requests.${name}`, request);
  }
}

function isCharged({ metadata, status }: Cached<Pod>, nowMs: number): boolean {
  if (status?.phase === 'Failed' || status?.phase === 'Succeeded') return false;
  const grace = metadata.deletionGracePeriodSeconds;
  const deletedMs = parseTime(metadata.deletionTimestamp);
  if (!isBeingDeleted(metadata) || deletedMs === undefined || grace === undefined || grace === null) return true;
  return nowMs <= deletedMs + grace * 1000;
}

function matchesPodScope(scope: ScopeRequirement, pod: Cached<Pod>, options: PodResourceOptions): boolean {
  switch (scope.scopeName) {
    case 'Terminating':
      return hasDeadline(pod);
    case 'NotTerminating':
      return !hasDeadline(pod);
    case 'BestEffort':
      return isBestEffort(pod, options);
    case 'NotBestEffort':
      return !isBestEffort(pod, options);
    case 'PriorityClass': {
      const name = pod.spec.priorityClassName ?? '';
      return matchesClass(scope, name === '' ? [] : [name]);
    }
    case 'CrossNamespacePodAffinity':
      return usesCrossNamespaceAffinity(pod);
    default:
      return false;
  }
}

function hasDeadline({ spec }: Cached<Pod>): boolean {
  const deadline = spec.activeDeadlineSeconds;
  return deadline !== undefined && deadline !== null && int64Of(deadline) >= 0n;
}

/** The class in the status, or the one that the server would store there. */
function isBestEffort({ spec, status }: Cached<Pod>, { podLevel }: PodResourceOptions): boolean {
  const stored = status?.qosClass ?? '';
  if (stored !== '') return stored === 'BestEffort';
  const own = spec.resources ?? undefined;
  const lists =
    podLevel && own !== undefined
      ? [own.requests, own.limits]
      : [...spec.containers, ...(spec.initContainers ?? [])].flatMap(({ resources }) => [
          resources?.requests,
          resources?.limits,
        ]);
  return !lists.some((list) => {
    const usage = usageOf(list);
    return ['cpu', 'memory'].some((name) => (usage.get(name)?.nanos ?? 0n) > 0n);
  });
}

function usesCrossNamespaceAffinity({ spec }: Cached<Pod>): boolean {
  return [spec.affinity?.podAffinity, spec.affinity?.podAntiAffinity].some((affinity) => {
    const preferred = (affinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map(
      ({ podAffinityTerm }) => podAffinityTerm,
    );
    return [...(affinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []), ...preferred].some(
      ({ namespaces, namespaceSelector }) =>
        (namespaces ?? []).length > 0 || (namespaceSelector !== undefined && namespaceSelector !== null),
    );
  });
}

/** What the containers of a pod must set because these names are limited. Undefined if nothing is missing. */
export function missingPodResources(
  pod: Cached<Pod>,
  names: Iterable<string>,
  { podLevel }: PodResourceOptions,
): string | undefined {
  if (podLevel && hasPodLevelResources(pod)) return undefined;
  const wanted = [...names].filter((name) => required.has(name)).sort();
  const containers = [...pod.spec.containers, ...(pod.spec.initContainers ?? [])].map(({ name, resources }) => {
    const usage: MutableUsage = new Map();
    addCompute(usage, usageOf(resources?.requests), usageOf(resources?.limits));
    return { name, usage };
  });
  const missing = wanted.flatMap((name) => {
    const without = containers.filter(({ usage }) => !usage.has(name)).map((container) => container.name);
    return without.length === 0 ? [] : [`${name} for: ${[...new Set(without)].sort().join(',')}`];
  });
  return missing.length === 0 ? undefined : `must specify ${missing.join('; ')}`;
}
