import {
  compileSelector,
  formatTime,
  isConditionTrue,
  objectKey,
  isBeingDeleted,
  ownValue,
  copyOf,
  type ObjectKey,
  type Pod,
  type PodDisruptionBudget,
} from '../../api/index.ts';
import { badRequest, conflict, tooManyRequests } from '../failure.ts';
import type { Resource } from '../registry/index.ts';
import { isFields, type Fields } from '../schema/index.ts';
import type { Api } from './api.ts';
import type { WriteOptions } from './create.ts';
import { deleteObject, type Deletion } from './remove.ts';
import { storeUpdate } from './update.ts';

const podsOf = (api: Api): Resource => api.registry.get('', 'v1', 'pods');

/** Binds a pod to a node, as a scheduler does. */
export function bindPod(api: Api, key: ObjectKey, binding: Fields, options: WriteOptions): void {
  const pods = podsOf(api);
  const old = api.get(pods, key);
  const pod = old.object as unknown as Pod; // what lies under pods is one
  const target = isFields(binding['target']) ? binding['target'] : {};
  const nodeName = target['name'];
  if (typeof nodeName !== 'string' || nodeName === '') throw badRequest('target.name: Required value');
  const { name } = pod.metadata;
  if (isBeingDeleted(pod.metadata)) {
    throw conflict(pods, name, `pod ${name} is being deleted, cannot be assigned to a host`);
  }
  if ((pod.spec.nodeName ?? '') !== '') {
    throw conflict(pods, name, `pod ${name} is already assigned to node "${pod.spec.nodeName}"`);
  }
  if ((pod.spec.schedulingGates ?? []).length > 0) {
    throw conflict(pods, name, `pod ${name} has non-empty .spec.schedulingGates`);
  }
  if (options.dryRun) return;
  const conditions = (pod.status?.conditions ?? []).filter(({ type }) => type !== 'PodScheduled');
  const scheduled = { type: 'PodScheduled', status: 'True', lastTransitionTime: formatTime(api.nowMs) };
  const metadata = isFields(binding['metadata']) ? binding['metadata'] : {};
  const annotations = isFields(metadata['annotations']) ? metadata['annotations'] : {};
  api.store.put('pods', key, {
    ...old.object,
    metadata: {
      ...pod.metadata,
      labels: { ...topologyOf(api, nodeName), ...pod.metadata.labels },
      ...(Object.keys(annotations).length > 0 && {
        annotations: { ...pod.metadata.annotations, ...textOnly(annotations) },
      }),
    },
    spec: { ...pod.spec, nodeName },
    status: { ...pod.status, conditions: [...conditions, scheduled] },
  });
}

/** Where its node stands, so that the pod can tell by its own labels. */
function topologyOf(api: Api, nodeName: string): Record<string, string> {
  const labels = api.store.get('nodes', objectKey(undefined, nodeName))?.object.metadata.labels ?? {};
  return Object.fromEntries(
    topologyLabels.flatMap((name) => {
      const value = ownValue(labels, name);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

const topologyLabels = ['topology.kubernetes.io/region', 'topology.kubernetes.io/zone'];

function textOnly(fields: Fields): Record<string, string> {
  return Object.fromEntries(
    Object.entries(fields).filter((each): each is [string, string] => typeof each[1] === 'string'),
  );
}

/** Deletes a pod unless a disruption budget forbids it. */
export function evictPod(api: Api, key: ObjectKey, deletion: Deletion, options: WriteOptions): void {
  const pods = podsOf(api);
  const pod = api.get(pods, key).object as unknown as Pod; // what lies under pods is one
  const isOver = pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed' || pod.status?.phase === 'Pending';
  if (!isOver && !isBeingDeleted(pod.metadata)) takeFromBudget(api, pod, options);
  if (!options.dryRun) markEvicted(api, pods, key);
  deleteObject(api, { resource: pods, key }, deletion, options);
}

/** Why the pod goes, for controllers that count disruptions apart from failures. */
function markEvicted(api: Api, pods: Resource, key: ObjectKey): void {
  const { object } = api.get(pods, key);
  const { status } = object as unknown as Pod; // what lies under pods is one
  if (isConditionTrue(status?.conditions, 'DisruptionTarget')) return;
  const condition = {
    type: 'DisruptionTarget',
    status: 'True',
    reason: 'EvictionByEvictionAPI',
    message: 'Eviction API: evicting',
    lastTransitionTime: formatTime(api.nowMs),
  };
  const conditions = [...(status?.conditions ?? []).filter(({ type }) => type !== 'DisruptionTarget'), condition];
  api.store.put('pods', key, { ...object, status: { ...status, conditions } });
}

function takeFromBudget(api: Api, pod: Pod, options: WriteOptions): void {
  const budgets = [...api.store.entries('poddisruptionbudgets.policy')].filter(({ object }) => {
    const { metadata, spec } = object as unknown as PodDisruptionBudget; // what lies there is one
    return metadata.namespace === pod.metadata.namespace && compileSelector(spec?.selector)(pod.metadata.labels);
  });
  const [old] = budgets;
  if (old === undefined) return;
  const { name, namespace } = pod.metadata;
  if (budgets.length > 1) {
    throw badRequest(
      `This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.`,
    );
  }
  const budget = old.object as unknown as PodDisruptionBudget;
  const { status, spec } = budget;
  // A pod that is not ready counts for nothing: taking it away disrupts nobody.
  const isReady = isConditionTrue(pod.status?.conditions, 'Ready');
  const healthy = status?.currentHealthy ?? 0;
  const spares =
    spec?.unhealthyPodEvictionPolicy === 'AlwaysAllow' || (healthy >= (status?.desiredHealthy ?? 0) && healthy > 0);
  if (!isReady && spares) return;
  const left = status?.disruptionsAllowed ?? 0;
  if (left <= 0) {
    const message = `The disruption budget ${budget.metadata.name} needs ${status?.desiredHealthy ?? 0} healthy pods and has ${healthy} currently`;
    throw tooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", [
      { reason: 'DisruptionBudget', message },
    ]);
  }
  const resource = api.registry.get('policy', 'v1', 'poddisruptionbudgets');
  const disruptedPods = { ...status?.disruptedPods, [name]: formatTime(api.nowMs) };
  const next: Fields = {
    ...copyOf(old.object),
    status: { ...status, disruptionsAllowed: left - 1, disruptedPods },
  };
  const key = `${namespace}/${budget.metadata.name}` as ObjectKey; // as keys of namespaced objects are
  storeUpdate(api, resource, { key, old, next }, { ...options, target: 'status' });
}
