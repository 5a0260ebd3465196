import {
  apiVersionOf,
  DeviceTaintRules,
  isBeingDeleted,
  keyOf,
  metadataOf,
  type Cached,
  type DeviceTaintRule,
  type Pod,
} from '../../pkg/api/index.ts';
import { AttemptError, isNotFound, type Client } from '../../pkg/client/index.ts';
import type { PendingWrites } from '../../pkg/controller/index.ts';
import { evictPod, type Evictions } from '../../pkg/evictions/index.ts';
import type { Clock } from '../../pkg/time/index.ts';
import type { DeviceTaintEvictionMetrics } from './metrics.ts';
import type { changedCondition } from './rule-condition.ts';

const cause = {
  reason: 'DeletionByDeviceTaintManager',
  message: 'Device Taint manager: deleting due to NoExecute taint',
  observesGeneration: false,
};

export interface EvictDeps {
  readonly client: Client;
  readonly clock: Clock;
  readonly evictions: Evictions;
  readonly metrics: DeviceTaintEvictionMetrics;
}

/** Evicts a pod that was due at `dueMs`. A pod that is being deleted counts as evicted. False if it was gone. */
export async function applyEviction(
  pod: Cached<Pod>,
  dueMs: number,
  { client, clock, evictions, metrics }: EvictDeps,
  signal: AbortSignal,
): Promise<boolean> {
  if (!isBeingDeleted(pod.metadata)) {
    evictions.start(pod, dueMs);
    const isEvicted = await evictPod(client, pod, { cause, nowMs: clock.now() }, signal);
    evictions.finish(pod);
    if (!isEvicted) return false;
  } else evictions.finish(pod);
  metrics.deletions.inc();
  metrics.latency.observe((clock.now() - dueMs) / 1000);
  return true;
}

export interface ConditionDeps {
  readonly client: Client;
  readonly pending: PendingWrites<DeviceTaintRule> | undefined;
  readonly fieldManager: string;
}

export async function applyCondition(
  rule: Cached<DeviceTaintRule>,
  condition: NonNullable<ReturnType<typeof changedCondition>>,
  { client, pending, fieldManager }: ConditionDeps,
  signal: AbortSignal,
): Promise<void> {
  const { name, uid } = rule.metadata;
  const body = {
    apiVersion: apiVersionOf(DeviceTaintRules),
    kind: DeviceTaintRules.kind,
    metadata: { name, uid }, // not the status of a rule that has taken the name
    status: { conditions: [condition] },
  };
  const patch = { type: 'apply', subresource: 'status', fieldManager, force: true, body } as const;
  try {
    const { metadata } = await client.patch(metadataOf(DeviceTaintRules), keyOf(rule), patch, signal);
    pending?.wrote(keyOf(rule), metadata.resourceVersion);
  } catch (error) {
    if (!isNotFound(error)) throw new AttemptError(`add a condition to DeviceTaintRule ${name}`, error);
  }
}
