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

/** What is remembered of a node between two looks at it. */
export interface NodeHealth {
  readonly uid: string;
  /** When the last sign of life was noticed; monotonic, since clocks of nodes and masters disagree. */
  readonly aliveMs: number;
  /** The heartbeat of the Ready condition as last seen; undefined without such a condition. */
  readonly heartbeat: string | undefined;
  readonly leaseRenewal: string | undefined;
  /** What the Ready condition says: True, False or Unknown. */
  readonly ready: string | undefined;
}

export interface HealthOptions {
  /** A node silent for longer is unhealthy. */
  readonly graceMs: number;
  /** The same for one that has never said whether it is ready. */
  readonly startupGraceMs: number;
}

export interface HealthInput {
  readonly node: Cached<Node>;
  readonly lease: Cached<Lease> | undefined;
  readonly previous: NodeHealth | undefined;
  readonly options: HealthOptions;
  /** Monotonic. */
  readonly nowMs: number;
  /** Since 1970. */
  readonly wallMs: number;
}

export interface HealthVerdict {
  readonly health: NodeHealth;
  /** Conditions to be written because the node fell silent; empty while it has not, or if they say so already. */
  readonly changes: readonly NodeCondition[];
}

/** Network is set up by the control plane, not by the node: its silence says nothing about it. */
const kubeletConditions = ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure'];

/**
 * A node lives while its lease is renewed or the heartbeat of its Ready condition moves. Which of the two, and to what
 * time, is all the same: what counts is when we noticed.
 */
export function judgeHealth(input: HealthInput): HealthVerdict {
  const { node, lease, options, nowMs } = input;
  const ready = findCondition(node.status?.conditions, 'Ready');
  const previous = input.previous?.uid === node.metadata.uid ? input.previous : undefined;
  const health: NodeHealth = {
    uid: node.metadata.uid,
    aliveMs: isRenewed(lease, previous) ? nowMs : lastSignMs(input, ready, previous),
    heartbeat: heartbeatOf(ready),
    leaseRenewal: lease === undefined ? previous?.leaseRenewal : (lease.spec?.renewTime ?? ''),
    ready: ready?.status,
  };
  const graceMs = ready === undefined ? options.startupGraceMs : options.graceMs;
  const isSilent = nowMs > health.aliveMs + graceMs;
  return { health, changes: isSilent && ready?.status !== 'Unknown' ? unknownConditions(node, input.wallMs) : [] };
}

/** The health after our own changes were written, so that they are not taken for news from the node. */
export function afterChanges(health: NodeHealth, changes: readonly NodeCondition[]): NodeHealth {
  const ready = findCondition(changes, 'Ready');
  return ready === undefined ? health : { ...health, heartbeat: heartbeatOf(ready), ready: ready.status };
}

function lastSignMs(
  { node, nowMs, wallMs }: HealthInput,
  ready: Cached<NodeCondition> | undefined,
  previous: NodeHealth | undefined,
): number {
  if (previous !== undefined) return previous.heartbeat === heartbeatOf(ready) ? previous.aliveMs : nowMs;
  // A node that has yet to say anything has had since its creation; of any other we cannot know, so it starts anew.
  if (ready !== undefined) return nowMs;
  const createdMs = parseTime(node.metadata.creationTimestamp);
  return createdMs === undefined ? nowMs : nowMs - (wallMs - createdMs);
}

/** A condition without a heartbeat is still different from none. */
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
