import { formatTime, type Cached, type Node, type Pod } from '../../api/index.ts';
import { methodNotAllowed, notFound } from '../failure.ts';
import type { DiscoverableResource } from '../registry/index.ts';
import { keyIn, type Api } from '../rest/api.ts';
import { listObjects } from '../rest/list.ts';
import type { ResourcePath } from '../http/path.ts';
import { showUsage, usageOf } from './usage.ts';

const group = 'metrics.k8s.io';
const version = 'v1beta1';
const apiVersion = `${group}/${version}`;
/** How often a metrics server asks the kubelets. */
const window = '15s';

const common = {
  group,
  version,
  singular: '',
  shortNames: [],
  categories: [],
  verbs: ['get', 'list'],
  subresources: new Map(),
};

/** What discovery shows of the metrics API. */
export const metricsResources: readonly DiscoverableResource[] = [
  { ...common, kind: 'NodeMetrics', resource: 'nodes', namespaced: false },
  { ...common, kind: 'PodMetrics', resource: 'pods', namespaced: true },
];

export interface MetricsRequest {
  readonly method: string | undefined;
  readonly path: ResourcePath;
  readonly query: URLSearchParams;
}

/** Answers a request to the metrics API with the simulated usage of pods; undefined if the request is for another API. */
export function metricsAnswer(api: Api, { method, path, query }: MetricsRequest): object | undefined {
  if (path.group !== group || path.version !== version || path.subresource !== undefined) return undefined;
  if (path.resource !== 'nodes' && path.resource !== 'pods') return undefined;
  if (method !== 'GET') throw methodNotAllowed();
  const show = path.resource === 'nodes' ? nodeMetrics : podMetrics;
  const items = show(api, path, query.get('labelSelector') ?? undefined);
  if (path.name !== undefined) {
    const [only] = items;
    if (only === undefined) throw notFound({ group, resource: path.resource, kind: '' }, path.name);
    return only;
  }
  const kind = path.resource === 'nodes' ? 'NodeMetricsList' : 'PodMetricsList';
  return { kind, apiVersion, metadata: {}, items };
}

function podMetrics(api: Api, path: ResourcePath, labelSelector: string | undefined): object[] {
  return podsOf(api, path, labelSelector).flatMap((pod) => {
    const containers = usageOf(pod).map(({ name, ...usage }) => ({ name, usage: showUsage(usage) }));
    return containers.length === 0 ? [] : [{ ...head(api, 'PodMetrics', pod), containers }];
  });
}

/** A node uses what its pods use. */
function nodeMetrics(api: Api, { name }: ResourcePath, labelSelector: string | undefined): object[] {
  const used = new Map<string, { cpu: bigint; memory: bigint }>();
  for (const pod of podsOf(api, undefined, undefined)) {
    const node = pod.spec.nodeName ?? '';
    const sum = used.get(node) ?? { cpu: 0n, memory: 0n };
    used.set(node, sum);
    for (const { cpu, memory } of usageOf(pod)) {
      sum.cpu += cpu;
      sum.memory += memory;
    }
  }
  const nodes = objectsOf<Node>(api, 'nodes', { labelSelector }).filter(
    ({ metadata }) => name === undefined || metadata.name === name,
  );
  return nodes.map((node) => ({
    ...head(api, 'NodeMetrics', node),
    usage: showUsage(used.get(node.metadata.name) ?? { cpu: 0n, memory: 0n }),
  }));
}

function head(api: Api, kind: string, { metadata }: Cached<Pod | Node>): object {
  const { name, namespace, labels } = metadata;
  const now = formatTime(api.nowMs);
  return { kind, apiVersion, metadata: { name, namespace, labels, creationTimestamp: now }, timestamp: now, window };
}

function podsOf(api: Api, path: ResourcePath | undefined, labelSelector: string | undefined): readonly Cached<Pod>[] {
  if (path?.name === undefined) return objectsOf<Pod>(api, 'pods', { namespace: path?.namespace, labelSelector });
  const pods = api.registry.get('', 'v1', 'pods');
  const entry = api.find(pods, keyIn(pods, path.namespace, path.name));
  return entry === undefined ? [] : [entry.object as unknown as Pod];
}

function objectsOf<T>(
  api: Api,
  resource: string,
  selection: { readonly namespace?: string | undefined; readonly labelSelector: string | undefined },
): readonly T[] {
  const request = { ...selection, limit: 0, resourceVersion: '', resourceVersionMatch: '' };
  const { entries } = listObjects(api, api.registry.get('', 'v1', resource), request);
  return entries.map(({ object }) => object as unknown as T);
}
