import type { Cached, DaemonSet, Node, PodSpec, Taint, Toleration } from '../../pkg/api/index.ts';
import { compileNodeAffinity } from '../../pkg/nodes/index.ts';
import { nodeTaints, tolerates, type ToleranceOptions } from '../../pkg/taints/index.ts';

/** The placement of a DaemonSet on one node. */
export interface Placement {
  /** A node without a pod gets one. */
  readonly shouldRun: boolean;
  /** A pod that runs there may stay. */
  readonly shouldContinue: boolean;
}

const nowhere: Placement = { shouldRun: false, shouldContinue: false };
const stays: Placement = { shouldRun: false, shouldContinue: true };
const runs: Placement = { shouldRun: true, shouldContinue: true };

/** Where a DaemonSet runs, by node name, selector, affinity and taints. Compile it once and use it for many nodes. */
export function compilePlacement(
  { spec: { template } }: Pick<Cached<DaemonSet>, 'spec'>,
  options: ToleranceOptions,
): (node: Cached<Node>) => Placement {
  const spec: Cached<PodSpec> = template.spec ?? { containers: [] };
  const { nodeName = '' } = spec;
  const isAllowed = compileNodeAffinity(spec);
  const tolerations = daemonTolerations(spec);
  const isTolerated = (taint: Cached<Taint>): boolean =>
    tolerations.some((toleration) => tolerates(toleration, taint, options));
  return (node) => {
    if (nodeName !== '' && nodeName !== node.metadata.name) return nowhere;
    if (!isAllowed(node)) return nowhere;
    const repelled = new Set((node.spec.taints ?? []).filter((one) => !isTolerated(one)).map(({ effect }) => effect));
    if (repelled.has('NoExecute')) return nowhere;
    return repelled.has('NoSchedule') ? stays : runs;
  };
}

const toleration = (key: string, effect: string): Toleration => ({ key, operator: 'Exists', effect });

/** Conditions of a node neither evict daemon pods nor prevent them. */
const always = [
  toleration(nodeTaints.notReady, 'NoExecute'),
  toleration(nodeTaints.unreachable, 'NoExecute'),
  toleration(nodeTaints.diskPressure, 'NoSchedule'),
  toleration(nodeTaints.memoryPressure, 'NoSchedule'),
  toleration(nodeTaints.pidPressure, 'NoSchedule'),
  toleration(nodeTaints.unschedulable, 'NoSchedule'),
];
const hostNetwork = toleration(nodeTaints.networkUnavailable, 'NoSchedule');

/** The tolerations of the template, and those that every daemon pod has. */
export function daemonTolerations(spec: Cached<PodSpec>): Toleration[] {
  const added = spec.hostNetwork === true ? [...always, hostNetwork] : always;
  return added.reduce(withToleration, [...(spec.tolerations ?? [])]);
}

/** Adds the toleration. It takes the place of one that differs in its seconds only. */
function withToleration(tolerations: Toleration[], added: Toleration): Toleration[] {
  const isSame = ({ key = '', operator = '', value = '', effect = '' }: Toleration): boolean =>
    key === added.key && operator === added.operator && value === '' && effect === added.effect;
  if (!tolerations.some(isSame)) return [...tolerations, { ...added }];
  return tolerations.map((one) => (isSame(one) ? { ...added } : one));
}
