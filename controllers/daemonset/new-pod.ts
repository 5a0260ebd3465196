import {
  copyOf,
  DaemonSets,
  setOwn,
  type Cached,
  type DaemonSet,
  type Pod,
  type PodSpec,
  type Unsaved,
} from '../../pkg/api/index.ts';
import { podFromTemplate } from '../../pkg/controller/index.ts';
import { revisionHashLabel } from '../../pkg/revisions/index.ts';
import { templateGenerationLabel, type Current } from './daemon-pods.ts';
import { daemonTolerations } from './placement.ts';

type Affinity = NonNullable<PodSpec['affinity']>;

/**
 * Returns a function that builds the DaemonSet's pod for a node. The scheduler binds it to the node in its affinity.
 */
export function daemonPodMaker(daemonSet: Cached<DaemonSet>, current: Current): (nodeName: string) => Unsaved<Pod> {
  const pod = podFromTemplate(daemonSet.spec.template, DaemonSets, daemonSet);
  const labels = { ...pod.metadata.labels };
  if (current.templateGeneration !== undefined) setOwn(labels, templateGenerationLabel, current.templateGeneration);
  if (current.hash !== '') setOwn(labels, revisionHashLabel, current.hash);
  const tolerations = daemonTolerations(pod.spec);
  return (nodeName) => ({
    ...pod,
    metadata: { ...pod.metadata, labels },
    spec: { ...pod.spec, tolerations, affinity: onNode(pod.spec.affinity, nodeName) },
  });
}

/** The affinity with required node terms that select this node only. The template's own terms already hold there. */
export function onNode(affinity: Cached<Affinity> | undefined, nodeName: string): Affinity {
  const copy = copyOf<Affinity>(affinity ?? {});
  const matchFields = [{ key: 'metadata.name', operator: 'In', values: [nodeName] }];
  const required = { nodeSelectorTerms: [{ matchFields }] };
  return { ...copy, nodeAffinity: { ...copy.nodeAffinity, requiredDuringSchedulingIgnoredDuringExecution: required } };
}
