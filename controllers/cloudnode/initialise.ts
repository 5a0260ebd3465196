import { ownValue, setOwn, type Cached, type Labels, type Node, type Taint } from '../../pkg/api/index.ts';
import type { InstanceMetadata } from '../../pkg/cloud/index.ts';

/** The kubelet of an external cloud sets this taint. Pods are scheduled once the cloud has described the node. */
const uninitializedTaint = 'node.cloudprovider.kubernetes.io/uninitialized';

/** The labels that replaced beta labels. Where both exist, the beta label counts, as in Go. */
const labelPairs = [
  { beta: 'failure-domain.beta.kubernetes.io/zone', stable: 'topology.kubernetes.io/zone', field: 'zone' },
  { beta: 'failure-domain.beta.kubernetes.io/region', stable: 'topology.kubernetes.io/region', field: 'region' },
  { beta: 'beta.kubernetes.io/instance-type', stable: 'node.kubernetes.io/instance-type', field: 'instanceType' },
] as const;

/** Labels of these domains belong to Kubernetes. */
const kubernetesLabel = /(^|\.)(kubernetes|k8s)\.io\//;

export interface NodeChange {
  readonly providerID?: string | undefined;
  readonly labels?: Labels | undefined;
  /** All taints of the node: a patch replaces the whole list. */
  readonly taints?: readonly Cached<Taint>[] | undefined;
}

export function isUninitialised({ spec }: Cached<Node>): boolean {
  return (spec.taints ?? []).some(({ key }) => key === uninitializedTaint);
}

/** Describes a new node, and removes the taint that keeps pods from it. */
export function planInitialisation(node: Cached<Node>, metadata: InstanceMetadata): NodeChange {
  const labels: Record<string, string> = {};
  for (const { beta, stable, field } of labelPairs) {
    const value = metadata[field] ?? '';
    if (value === '') continue;
    setOwn(labels, beta, value);
    setOwn(labels, stable, value);
  }
  for (const [name, value] of Object.entries(metadata.additionalLabels ?? {})) {
    if (kubernetesLabel.test(name) || ownValue(node.metadata.labels, name) !== undefined) continue;
    setOwn(labels, name, value);
  }
  const isNew = (node.spec.providerID ?? '') === '' && metadata.providerId !== '';
  return {
    ...(isNew ? { providerID: metadata.providerId } : {}),
    labels,
    taints: (node.spec.taints ?? []).filter(({ key }) => key !== uninitializedTaint),
  };
}

/** The labels of an initialised node that differ from their beta labels; undefined if none does. */
export function planStableLabels({ metadata }: Cached<Node>): Labels | undefined {
  const wrong = labelPairs.flatMap(({ beta, stable }) => {
    const value = ownValue(metadata.labels, beta);
    return value === undefined || ownValue(metadata.labels, stable) === value ? [] : [[stable, value] as const];
  });
  return wrong.length === 0 ? undefined : Object.fromEntries(wrong);
}
