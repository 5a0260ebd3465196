import {
  findCondition,
  formatTime,
  parseTime,
  zeroTimeMs,
  type Cached,
  type Lease,
  type Node,
  type NodeCondition,
} from '../../pkg/api/index.ts';

/** The state of a node that is kept between two checks. */
export interface NodeHealth {
  readonly uid: string;
  /** When we observed the node's last heartbeat. Monotonic time, because the clocks of nodes may differ from ours. */
  readonly aliveMs: number;
  /** The last observed heartbeat of the Ready condition; undefined without that condition. */
  readonly heartbeat: string | undefined;
  readonly leaseRenewal: string | undefined;
  /** The status of the Ready condition: True, False or Unknown. */
  readonly ready: string | undefined;
}

/** A node during one check of all nodes. */
export interface CheckedNode {
  node: Cached<Node>;
  health: NodeHealth;
  readonly zone: string;
  readonly isNew: boolean;
}

export interface HealthOptions {
  /** A node without a heartbeat for longer is unreachable. */
  readonly graceMs: number;
  /** The same for a node that has never had a Ready condition. */
  readonly startupGraceMs: number;
}

export interface HealthInput {
  readonly node: Cached<Node>;
  readonly lease: Cached<Lease> | undefined;
  readonly previous: NodeHealth | undefined;
  readonly options: HealthOptions;
  /** Monotonic time. */
  readonly nowMs: number;
  /** Wall-clock time, since 1970. */
  readonly wallMs: number;
}

export interface HealthVerdict {
  readonly health: NodeHealth;
  /** The conditions to set to Unknown; empty if the node is reachable, or its Ready condition is already Unknown. */
  readonly changes: readonly NodeCondition[];
}

/** The conditions that the kubelet reports. NetworkUnavailable is set by others, so a missing heartbeat does not affect it. */
const kubeletConditions = ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure'];

/**
 * A node is alive while its lease is renewed or the heartbeat of its Ready condition changes. The time that counts is
 * when we observed the change, not the time that the node wrote.
 */
export function judgeHealth(input: HealthInput): HealthVerdict {
  const { node, lease, options, nowMs } = input;
  const ready = findCondition(node.status?.conditions, 'Ready');
  const previous = input.previous?.uid === node.metadata.uid ? input.previous : undefined;
  const health: NodeHealth = {
    uid: node.metadata.uid,
    aliveMs: isRenewed(lease, previous) ? nowMs : lastHeartbeatMs(input, ready, previous),
    heartbeat: heartbeatOf(ready),
    leaseRenewal: lease === undefined ? previous?.leaseRenewal : (lease.spec?.renewTime ?? ''),
    ready: ready?.status,
  };
  const graceMs = ready === undefined ? options.startupGraceMs : options.graceMs;
  const isUnreachable = nowMs > health.aliveMs + graceMs;
  const changes = isUnreachable && ready?.status !== 'Unknown' ? unknownConditions(node, input.wallMs) : [];
  return { health, changes };
}

/** The health after our own write, so that the write is not taken for a heartbeat. */
export function afterChanges(health: NodeHealth, changes: readonly NodeCondition[]): NodeHealth {
  const ready = findCondition(changes, 'Ready');
  return ready === undefined ? health : { ...health, heartbeat: heartbeatOf(ready), ready: ready.status };
}

function lastHeartbeatMs(
  { node, nowMs, wallMs }: HealthInput,
  ready: Cached<NodeCondition> | undefined,
  previous: NodeHealth | undefined,
): number {
  if (previous !== undefined) return previous.heartbeat === heartbeatOf(ready) ? previous.aliveMs : nowMs;
  // A node without a Ready condition gets the startup grace period from its creation. Any other node gets a full grace
  // period from now: when it last reported is not known.
  if (ready !== undefined) return nowMs;
  const createdMs = parseTime(node.metadata.creationTimestamp);
  return createdMs === undefined ? nowMs : nowMs - (wallMs - createdMs);
}

/** A condition without a heartbeat differs from an absent condition. */
function heartbeatOf(ready: Cached<NodeCondition> | undefined): string | undefined {
  return ready === undefined ? undefined : (ready.lastHeartbeatTime ?? '');
}

function isRenewed(lease: Cached<Lease> | undefined, previous: NodeHealth | undefined): boolean {
  if (lease === undefined) return false;
  const [before, after] = [previous?.leaseRenewal, lease.spec?.renewTime ?? ''];
  if (before === undefined || before === after) return before === undefined;
  return (parseTime(after) ?? zeroTimeMs) > (parseTime(before) ?? zeroTimeMs);
}

function unknownConditions(node: Cached<Node>, wallMs: number): readonly NodeCondition[] {
  const now = formatTime(wallMs);
  return kubeletConditions.flatMap((type): NodeCondition[] => {
    const present = findCondition(node.status?.conditions, type);
    if (present?.status === 'Unknown') return [];
    if (present === undefined) {
      return [
        {
          type,
          status: 'Unknown',
          reason: 'NodeStatusNeverUpdated',
          message: 'Kubelet never posted node status.',
          lastHeartbeatTime: node.metadata.creationTimestamp,
          lastTransitionTime: now,
        },
      ];
    }
    return [
      {
        ...present,
        status: 'Unknown',
        reason: 'NodeStatusUnknown',
        message: 'Kubelet stopped posting node status.',
        lastTransitionTime: now,
      },
    ];
  });
}
