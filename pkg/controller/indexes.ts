import { controllerOf, type KubeObject, type Pod } from '../api/index.ts';
import { defineIndex, type Index } from '../../informers/index.ts';

/** The value under which `byController` keeps what nobody manages: candidates for adoption in their namespace. */
export function orphansIn(namespace: string | undefined): string {
  return `orphans of ${namespace ?? ''}`;
}

/** Objects by the uid of their controller, or by `orphansIn(namespace)` when they have none. */
export const byController: Index<KubeObject> = defineIndex<KubeObject>('controller', (object) => [
  controllerOf(object)?.uid ?? orphansIn(object.metadata.namespace),
]);

export const podsByNode: Index<Pod> = defineIndex<Pod>('spec.nodeName', ({ spec }) =>
  spec.nodeName === undefined || spec.nodeName === '' ? [] : [spec.nodeName],
);
