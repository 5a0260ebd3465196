import { isBeingDeleted, type Cached, type Pod } from '../../pkg/api/index.ts';
import { isPodFinished } from '../../pkg/pods/index.ts';

/** No container of the pod runs, or ever will: it is finished, or was deleted before it was scheduled. */
export function isPodDone(pod: Cached<Pod>): boolean {
  return isPodFinished(pod) || (isBeingDeleted(pod.metadata) && (pod.spec.nodeName ?? '') === '');
}
