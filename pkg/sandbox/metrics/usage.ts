import { ownValue, type Cached, type Container, type Pod } from '../../api/index.ts';
import { formatMilli, milliInt64 } from '../../quantities/index.ts';

/**
 * Annotations of pods, or labels: what each container uses, as a quantity or as a percentage of its request. Without one,
 * a container uses half of its request, or a little if it requests nothing.
 */
export const usageSettings = { cpu: 'hollow-node/cpu-usage', memory: 'hollow-node/memory-usage' } as const;

type ResourceName = keyof typeof usageSettings;

const withoutRequest: Readonly<Record<ResourceName, bigint>> = { cpu: 10n, memory: 32n * 1024n * 1024n * 1000n };
const defaultPercent = 50n;

export interface ContainerUsage {
  readonly name: string;
  /** In thousandths. */
  readonly cpu: bigint;
  readonly memory: bigint;
}

/** What the containers of a pod use; none if the pod does not run. */
export function usageOf(pod: Cached<Pod>): readonly ContainerUsage[] {
  if (pod.status?.phase !== 'Running') return [];
  const sidecars = (pod.spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always');
  return [...pod.spec.containers, ...sidecars].map((container) => ({
    name: container.name,
    cpu: containerUsage(pod, container, 'cpu'),
    memory: containerUsage(pod, container, 'memory'),
  }));
}

function containerUsage(pod: Cached<Pod>, { resources }: Cached<Container>, name: ResourceName): bigint {
  const { annotations, labels } = pod.metadata;
  const text = ownValue(annotations, usageSettings[name]) ?? ownValue(labels, usageSettings[name]) ?? '';
  const request = milliInt64(ownValue(resources?.requests, name) ?? '');
  const [, percent] = /^(\d{1,9})%$/.exec(text) ?? [];
  const given = percent === undefined ? milliInt64(text) : undefined;
  if (given !== undefined) return given < 0n ? 0n : given;
  const share = percent === undefined ? defaultPercent : BigInt(percent);
  if (request !== undefined) return (request * share) / 100n;
  return percent === undefined ? withoutRequest[name] : (withoutRequest[name] * share) / defaultPercent;
}

/** A usage as the metrics API shows it. */
export function showUsage({ cpu, memory }: Omit<ContainerUsage, 'name'>): Readonly<Record<ResourceName, string>> {
  return { cpu: formatMilli(cpu), memory: formatMilli(memory, 'binary') };
}
