import { findCondition, isBeingDeleted, parseTime, type Cached, type ServiceCIDR } from '../../pkg/api/index.ts';
import type { ReconcileResult } from '../../pkg/controller/index.ts';

export const finalizer = 'networking.k8s.io/service-cidr-finalizer';

/** Other API servers may not have observed the deletion yet, and may allocate from the range: wait until they have. */
const deletionGraceMs = 10_000;

export interface ReadyCondition {
  readonly type: 'Ready';
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
}

const ready: ReadyCondition = {
  type: 'Ready',
  status: 'True',
  reason: '',
  message: 'Kubernetes Service CIDR is ready',
};
const blocked: ReadyCondition = {
  type: 'Ready',
  status: 'False',
  reason: 'Terminating',
  message: 'There are still IPAddresses referencing the ServiceCIDR, please remove them or create a new ServiceCIDR',
};

export interface Plan {
  readonly finalizer?: 'add' | 'remove' | undefined;
  /** Absent if the object already has it. */
  readonly condition?: ReadyCondition | undefined;
  readonly result: ReconcileResult;
}

/** `isDeletable` matters only for a ServiceCIDR that is being deleted. */
export function planSync(
  range: Cached<ServiceCIDR>,
  { isDeletable, nowMs }: { readonly isDeletable: boolean; readonly nowMs: number },
): Plan {
  const hasFinalizer = (range.metadata.finalizers ?? []).includes(finalizer);
  if (!isBeingDeleted(range.metadata)) {
    return { finalizer: hasFinalizer ? undefined : 'add', condition: missing(range, ready), result: {} };
  }
  if (!isDeletable) return { condition: missing(range, blocked), result: {} };
  const deletedMs = parseTime(range.metadata.deletionTimestamp) ?? nowMs;
  const waitMs = deletedMs + deletionGraceMs - nowMs;
  if (waitMs > 0) return { result: { requeueAfterMs: waitMs } };
  return { finalizer: hasFinalizer ? 'remove' : undefined, result: {} };
}

function missing({ status }: Cached<ServiceCIDR>, wanted: ReadyCondition): ReadyCondition | undefined {
  const present = findCondition(status?.conditions ?? [], wanted.type);
  const isSame =
    present?.status === wanted.status && present.reason === wanted.reason && present.message === wanted.message;
  return isSame ? undefined : wanted;
}
