import { controllerOf, type KubeObject, type Pod } from '../api/index.ts';
import { defineIndex, type Index } from '../../informers/index.ts';

/** Objects by the uid of their controller. For objects without a controller see `orphansByLabel`. */
export const byController: Index<KubeObject> = defineIndex<KubeObject>('controller', (object) => {
  const uid = controllerOf(object)?.uid;
  return uid === undefined ? [] : [uid];
});

export const podsByNode: Index<Pod> = defineIndex<Pod>('spec.nodeName', ({ spec }) =>
  spec.nodeName === undefined || spec.nodeName === '' ? [] : [spec.nodeName],
);
