import type { Cached, Pod, StatefulSet } from '../../pkg/api/index.ts';

/** Go parses an ordinal as an int32. A larger number is not an ordinal. */
const maxOrdinal = 2 ** 31 - 1;

/** The set's name and the ordinal in the name of a pod. The ordinal is undefined if it is not an int32. */
export function splitPodName(
  podName: string,
): { readonly parent: string; readonly ordinal: number | undefined } | undefined {
  const [, parent, digits] = /^(.*)-(\d+)$/s.exec(podName) ?? [];
  if (parent === undefined || digits === undefined) return undefined;
  const ordinal = Number(digits);
  return { parent, ordinal: ordinal <= maxOrdinal ? ordinal : undefined };
}

export function ordinalOf(pod: Cached<Pod>): number | undefined {
  return splitPodName(pod.metadata.name)?.ordinal;
}

/** A pod belongs to a set only if its name matches. */
export function isMember(set: Cached<StatefulSet>, pod: Cached<Pod>): boolean {
  return splitPodName(pod.metadata.name)?.parent === set.metadata.name;
}

export function podNameOf(set: Cached<StatefulSet>, ordinal: number): string {
  return `${set.metadata.name}-${ordinal}`;
}

export const startOrdinal = ({ spec }: Cached<StatefulSet>): number => spec.ordinals?.start ?? 0;
export const replicasOf = ({ spec }: Cached<StatefulSet>): number => spec.replicas ?? 1;

/** Whether the set should have a pod with this ordinal. */
export function isInRange(set: Cached<StatefulSet>, ordinal: number): boolean {
  const start = startOrdinal(set);
  return ordinal >= start && ordinal < start + replicasOf(set);
}
