import { objectKey, type Cached, type ObjectKey, type Pod } from '../../pkg/api/index.ts';
import { isPodFinished } from '../../pkg/pods/index.ts';

/** The PodGroup that a pod names; undefined if it names none. */
export function groupOf({ metadata, spec }: Cached<Pod>): ObjectKey | undefined {
  const name = spec.schedulingGroup?.podGroupName ?? undefined;
  return name === undefined ? undefined : objectKey(metadata.namespace, name);
}

/** The PodGroup that must stay for this pod. A finished pod needs none. */
export function groupInUseBy(pod: Cached<Pod>): ObjectKey | undefined {
  return isPodFinished(pod) ? undefined : groupOf(pod);
}
