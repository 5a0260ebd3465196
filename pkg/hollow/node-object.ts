import {
  type Cached,
  findCondition,
  formatMicroTime,
  formatTime,
  isEqualJson,
  type Lease,
  type Node,
  type NodeCondition,
  type Unsaved,
} from '../api/index.ts';

export const leaseNamespace = 'kube-node-lease';

/** The kubelet's default. */
const leaseDurationSeconds = 40;

/** The kubelet sets it with `--cloud-provider=external`. */
const uninitialisedTaint = 'node.cloudprovider.kubernetes.io/uninitialized';

/** The static properties of a simulated machine. */
export interface Machine {
  readonly name: string;
  readonly ip: string;
  readonly zone?: string | undefined;
  readonly labels: Readonly<Record<string, string>>;
  readonly podCapacity: number;
  /** The node is tainted until a cloud has described it. Default: false. */
  readonly isUninitialised?: boolean | undefined;
}

export type WantedCondition = Pick<NodeCondition, 'type' | 'status' | 'reason' | 'message'>;

export const healthyConditions: readonly WantedCondition[] = [
  {
    type: 'MemoryPressure',
    status: 'False',
    reason: 'KubeletHasSufficientMemory',
    message: 'kubelet has sufficient memory available',
  },
  {
    type: 'DiskPressure',
    status: 'False',
    reason: 'KubeletHasNoDiskPressure',
    message: 'kubelet has no disk pressure',
  },
  {
    type: 'PIDPressure',
    status: 'False',
    reason: 'KubeletHasSufficientPID',
    message: 'kubelet has sufficient PID available',
  },
  { type: 'Ready', status: 'True', reason: 'KubeletReady', message: 'kubelet is posting ready status' },
];

/** What a kubelet reports when its machine shuts down. */
export const shuttingDown: WantedCondition = {
  type: 'Ready',
  status: 'False',
  reason: 'KubeletNotReady',
  message: 'node is shutting down',
};

export function buildNode(machine: Machine, conditions: readonly WantedCondition[], nowMs: number): Unsaved<Node> {
  const capacity = { cpu: '64', memory: '256Gi', 'ephemeral-storage': '1Ti', pods: String(machine.podCapacity) };
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name: machine.name,
      annotations: { 'volumes.kubernetes.io/controller-managed-attach-detach': 'true' },
      labels: {
        'kubernetes.io/hostname': machine.name,
        'kubernetes.io/os': 'linux',
        'kubernetes.io/arch': 'amd64',
        ...(machine.zone !== undefined && { 'topology.kubernetes.io/zone': machine.zone }),
        ...machine.labels,
      },
    },
    spec:
      machine.isUninitialised === true
        ? { taints: [{ key: uninitialisedTaint, value: 'true', effect: 'NoSchedule' }] }
        : {},
    status: {
      capacity,
      allocatable: capacity,
      conditions: computeConditions(undefined, conditions, nowMs),
      addresses: [
        { type: 'InternalIP', address: machine.ip },
        { type: 'Hostname', address: machine.name },
      ],
      daemonEndpoints: { kubeletEndpoint: { Port: 10250 } },
      nodeInfo: {
        machineID: machine.name,
        systemUUID: machine.name,
        bootID: machine.name,
        kernelVersion: 'hollow',
        osImage: 'hollow node',
        containerRuntimeVersion: 'hollow://1.0.0',
        kubeletVersion: 'v1.36.4',
        kubeProxyVersion: '',
        operatingSystem: 'linux',
        architecture: 'amd64',
      },
    },
  };
}

export interface NodeReport {
  /** Undefined if no report is due. */
  readonly patch?: object | undefined;
  readonly nextReportMs: number;
}

/** Reports changes at once, and an unchanged status every `reportEveryMs` as a heartbeat. */
export function planNodeReport(input: {
  readonly node: Cached<Node>;
  readonly wanted: readonly WantedCondition[];
  /** Sorted. */
  readonly volumesInUse: readonly string[];
  readonly reportedAtMs: number;
  readonly reportEveryMs: number;
  readonly nowMs: number;
}): NodeReport {
  const { node, volumesInUse, wanted, reportedAtMs, reportEveryMs, nowMs } = input;
  const usesOthers = !isEqualJson(node.status?.volumesInUse ?? [], volumesInUse);
  const hasChanged = wanted.some(({ type, status, reason }) => {
    const present = findCondition(node.status?.conditions, type);
    return present === undefined || present.status !== status || present.reason !== reason;
  });
  if (!hasChanged && !usesOthers && nowMs < reportedAtMs + reportEveryMs)
    return { nextReportMs: reportedAtMs + reportEveryMs };
  const conditions = computeConditions(node, wanted, nowMs);
  return {
    patch: {
      metadata: { uid: node.metadata.uid },
      status: { conditions, ...(usesOthers && { volumesInUse: volumesInUse.length === 0 ? null : volumesInUse }) },
    },
    nextReportMs: nowMs + reportEveryMs,
  };
}

function computeConditions(
  node: Cached<Node> | undefined,
  wanted: readonly WantedCondition[],
  nowMs: number,
): NodeCondition[] {
  return wanted.map((condition) => {
    const present = findCondition(node?.status?.conditions, condition.type);
    const isSame = present?.status === condition.status;
    return {
      ...condition,
      lastHeartbeatTime: formatTime(nowMs),
      lastTransitionTime: isSame ? present.lastTransitionTime : formatTime(nowMs),
    };
  });
}

/** The lease of a node. The node owns it, so that the garbage collector deletes it with the node. */
export function buildLease(node: Cached<Node>, nowMs: number): Unsaved<Lease> {
  const { name, uid } = node.metadata;
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name, namespace: leaseNamespace, ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name, uid }] },
    spec: { holderIdentity: name, leaseDurationSeconds, renewTime: formatMicroTime(nowMs) },
  };
}

export function renewalPatch(nodeName: string, nowMs: number): object {
  return { spec: { holderIdentity: nodeName, leaseDurationSeconds, renewTime: formatMicroTime(nowMs) } };
}
