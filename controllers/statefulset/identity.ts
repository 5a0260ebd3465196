import {
  copyOf,
  ownValue,
  setOwn,
  StatefulSets,
  type Cached,
  type Pod,
  type PodSpec,
  type PodTemplateSpec,
  type StatefulSet,
  type Unsaved,
} from '../../pkg/api/index.ts';
import { podFromTemplate } from '../../pkg/controller/index.ts';
import { revisionHashLabel } from '../../pkg/revisions/index.ts';
import { claimNameOf, claimTemplatesOf } from './claims.ts';
import { ordinalOf, podNameOf, startOrdinal } from './ordinals.ts';

export const podNameLabel = 'statefulset.kubernetes.io/pod-name';
const podIndexLabel = 'apps.kubernetes.io/pod-index';

type Volume = NonNullable<PodSpec['volumes']>[number];

/** A revision of the set and its template. */
export interface Version {
  readonly name: string;
  readonly template: Cached<PodTemplateSpec>;
}

export interface Versions {
  readonly current: Version;
  readonly update: Version;
}

export function revisionOf(pod: Cached<Pod>): string {
  return ownValue(pod.metadata.labels, revisionHashLabel) ?? '';
}

/** Whether the pod has the name and the label of a member of the set. A missing index label alone causes no update. */
export function hasIdentity(set: Cached<StatefulSet>, pod: Cached<Pod>): boolean {
  const ordinal = ordinalOf(pod);
  const { name, labels } = pod.metadata;
  return ordinal !== undefined && name === podNameOf(set, ordinal) && ownValue(labels, podNameLabel) === name;
}

/** Whether the pod mounts the claim of each template under the template's name. */
export function hasStorage(set: Cached<StatefulSet>, pod: Cached<Pod>): boolean {
  const ordinal = ordinalOf(pod);
  if (ordinal === undefined) return false;
  // If several volumes have one name, the last counts.
  const claimed = new Map((pod.spec.volumes ?? []).map((volume) => [volume.name, volume.persistentVolumeClaim]));
  return claimTemplatesOf(set).every(
    (template) => claimed.get(template.metadata?.name ?? '')?.claimName === claimNameOf(set, template, ordinal),
  );
}

/** The volumes of a pod: those of the claims first, then all others that no claim replaces. */
function withClaims(set: Cached<StatefulSet>, ordinal: number, volumes: readonly Volume[]): Volume[] {
  const claims: Volume[] = claimTemplatesOf(set).map((template) => ({
    name: template.metadata?.name ?? '',
    persistentVolumeClaim: { claimName: claimNameOf(set, template, ordinal) },
  }));
  const replaced = new Set(claims.map(({ name }) => name));
  return [...claims, ...volumes.filter(({ name }) => !replaced.has(name))];
}

function identityLabels(set: Cached<StatefulSet>, ordinal: number): Readonly<Record<string, string>> {
  return { [podNameLabel]: podNameOf(set, ordinal), [podIndexLabel]: String(ordinal) };
}

/** The pod with the identity and the storage of a member of the set. */
export function withIdentity(set: Cached<StatefulSet>, pod: Cached<Pod>, ordinal: number): Pod {
  const fixed = copyOf<Pod>(pod);
  fixed.metadata.name = podNameOf(set, ordinal); // `web-01` has the ordinal 1: the server refuses this rename
  fixed.metadata.labels ??= {};
  for (const [name, value] of Object.entries(identityLabels(set, ordinal))) setOwn(fixed.metadata.labels, name, value);
  if (!hasStorage(set, pod)) fixed.spec.volumes = withClaims(set, ordinal, fixed.spec.volumes ?? []);
  return fixed;
}

/** The pod that the set should have at this ordinal. */
export function newPod(set: Cached<StatefulSet>, versions: Versions, ordinal: number): Unsaved<Pod> {
  const { name: revision, template } = versionFor(set, versions, ordinal);
  const pod = podFromTemplate(template, StatefulSets, set);
  const name = podNameOf(set, ordinal);
  const volumes = withClaims(set, ordinal, pod.spec.volumes ?? []);
  return {
    ...pod,
    metadata: {
      ...pod.metadata,
      name,
      labels: { ...pod.metadata.labels, ...identityLabels(set, ordinal), [revisionHashLabel]: revision },
    },
    spec: {
      ...pod.spec,
      hostname: name,
      subdomain: set.spec.serviceName || undefined,
      volumes: volumes.length > 0 ? volumes : undefined,
    },
  };
}

/** Without settings of the rolling update, the first pods use the current revision: as many as the status counts there. */
export function choosesByCount({ spec }: Cached<StatefulSet>): boolean {
  return spec.updateStrategy?.type === 'RollingUpdate' && spec.updateStrategy.rollingUpdate === undefined;
}

/** A pod below the partition uses the current revision. */
export function versionFor(set: Cached<StatefulSet>, { current, update }: Versions, ordinal: number): Version {
  const partition = set.spec.updateStrategy?.rollingUpdate?.partition ?? 0;
  const kept = choosesByCount(set) ? (set.status?.currentReplicas ?? 0) : partition;
  return ordinal - startOrdinal(set) < kept ? current : update;
}
