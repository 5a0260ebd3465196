import { formatTime, objectKey, isBeingDeleted, ownValue, type ObjectKey, type Pod } from '../../api/index.ts';
import { badRequest, conflict } from '../failure.ts';
import type { Resource } from '../registry/index.ts';
import { isFields, type Fields } from '../schema/index.ts';
import type { Api } from './api.ts';
import type { WriteOptions } from './create.ts';

const podsOf = (api: Api): Resource => api.registry.get('', 'v1', 'pods');

/** Binds a pod to a node, as a scheduler does. */
export function bindPod(api: Api, key: ObjectKey, binding: Fields, options: WriteOptions): void {
  const pods = podsOf(api);
  const old = api.get(pods, key);
  const pod = old.object as unknown as Pod; // objects stored under this name are pods
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

/** The topology labels of the node, copied to the pod. */
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
