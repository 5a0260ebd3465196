import { controllerOf, objectKey, type KubeObject, type Pod, type ResourceSlice } from '../api/index.ts';
import { claimReferencesOf } from '../pods/index.ts';
import { defineIndex, type Index } from '../../informers/index.ts';

/** Objects by the uid of their controller. For objects without a controller see `orphansByLabel`. */
export const byController: Index<KubeObject> = defineIndex<KubeObject>('controller', (object) => {
  const uid = controllerOf(object)?.uid;
  return uid === undefined ? [] : [uid];
});

export const podsByNode: Index<Pod> = defineIndex<Pod>('spec.nodeName', ({ spec }) =>
  spec.nodeName === undefined || spec.nodeName === '' ? [] : [spec.nodeName],
);

/** Pods by the keys of the claims that their volumes name. */
export const podsByClaim: Index<Pod> = defineIndex<Pod>('claim', (pod) => claimReferencesOf(pod).map(({ key }) => key));

/** Pods by the key of their PodGroup. */
export const podsByGroup: Index<Pod> = defineIndex<Pod>('pod group', ({ metadata, spec }) => {
  const name = spec.schedulingGroup?.podGroupName;
  return name === undefined ? [] : [objectKey(metadata.namespace, name)];
});

/** Slices by their driver, and all of them by `anyDriver`. */
export const slicesByDriver: Index<ResourceSlice> = defineIndex<ResourceSlice>('driver', ({ spec }) => [
  spec.driver,
  anyDriver,
]);
/** No driver has this name. */
export const anyDriver = '*';
