/** The taints that Kubernetes itself sets on nodes. */
export const nodeTaints = {
  notReady: 'node.kubernetes.io/not-ready',
  unreachable: 'node.kubernetes.io/unreachable',
  unschedulable: 'node.kubernetes.io/unschedulable',
  memoryPressure: 'node.kubernetes.io/memory-pressure',
  diskPressure: 'node.kubernetes.io/disk-pressure',
  networkUnavailable: 'node.kubernetes.io/network-unavailable',
  pidPressure: 'node.kubernetes.io/pid-pressure',
  outOfService: 'node.kubernetes.io/out-of-service',
} as const;
