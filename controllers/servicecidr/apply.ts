import {
  apiVersionOf,
  formatTime,
  keyOf,
  metadataOf,
  ServiceCIDRs,
  type Cached,
  type ServiceCIDR,
} from '../../pkg/api/index.ts';
import { isNotFound, type Client } from '../../pkg/client/index.ts';
import type { PendingWrites } from '../../pkg/controller/index.ts';
import type { EventRecorder } from '../../pkg/events/index.ts';
import { finalizer, type Plan, type ReadyCondition } from './sync.ts';

const fieldManager = 'service-cidr-controller';

export interface ApplyDeps {
  readonly client: Client;
  readonly recorder: EventRecorder;
  readonly pending: PendingWrites<ServiceCIDR>;
  readonly nowMs: number;
}

/** Writes the finalizer first: a range that is ready must not be deleted while it has addresses. */
export async function applyPlan(
  plan: Plan,
  range: Cached<ServiceCIDR>,
  deps: ApplyDeps,
  signal: AbortSignal,
): Promise<void> {
  if (plan.finalizer !== undefined) await writeFinalizer(plan.finalizer, range, deps, signal);
  if (plan.condition === undefined) return;
  try {
    await writeCondition(plan.condition, range, deps, signal);
  } catch (error) {
    if (plan.condition.status === 'True') {
      const message = 'The ServiceCIDR Status can not be set to Ready=True';
      deps.recorder.event(ServiceCIDRs, range, { type: 'Warning', reason: 'KubernetesServiceCIDRError', message });
    }
    throw error;
  }
}

async function writeFinalizer(
  change: 'add' | 'remove',
  range: Cached<ServiceCIDR>,
  { client, pending }: ApplyDeps,
  signal: AbortSignal,
): Promise<void> {
  const field = change === 'add' ? 'finalizers' : '$deleteFromPrimitiveList/finalizers';
  const body = { metadata: { uid: range.metadata.uid, [field]: [finalizer] } };
  try {
    const { metadata } = await client.patch(
      metadataOf(ServiceCIDRs),
      keyOf(range),
      { type: 'strategic', body },
      signal,
    );
    if (change === 'add') pending.wrote(keyOf(range), metadata.resourceVersion); // without finalizers it is deleted
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

async function writeCondition(
  condition: ReadyCondition,
  range: Cached<ServiceCIDR>,
  { client, pending, nowMs }: ApplyDeps,
  signal: AbortSignal,
): Promise<void> {
  const body = {
    apiVersion: apiVersionOf(ServiceCIDRs),
    kind: ServiceCIDRs.kind,
    metadata: { name: range.metadata.name },
    status: { conditions: [{ ...condition, lastTransitionTime: formatTime(nowMs) }] },
  };
  const patch = { type: 'apply', subresource: 'status', body, fieldManager, force: true } as const;
  const { metadata } = await client.patch(metadataOf(ServiceCIDRs), keyOf(range), patch, signal);
  pending.wrote(keyOf(range), metadata.resourceVersion);
}
