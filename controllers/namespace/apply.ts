import {
  isBeingDeleted,
  isEqualJson,
  Namespaces,
  type Namespace,
  type ObjectKey,
  type Unsaved,
} from '../../pkg/api/index.ts';
import { decided } from '../../pkg/controller/index.ts';
import { isConflict, isNotFound, type Client } from '../../pkg/client/index.ts';
import { computeConditions, type DeletionOutcome } from './conditions.ts';

/** The finalizer that this controller removes once the namespace is empty. */
export const finalizer = 'kubernetes';

/** The live namespace in phase Terminating; undefined if there is nothing to do. A stale cache must not delete anything. */
export async function readTerminating(
  client: Client,
  key: ObjectKey,
  signal: AbortSignal,
): Promise<Namespace | undefined> {
  try {
    const namespace = await client.get(Namespaces, key, signal);
    if (!isBeingDeleted(namespace.metadata)) return undefined;
    if ((namespace.spec?.finalizers ?? []).length === 0) return undefined;
    if (namespace.status?.phase === 'Terminating') return namespace;
    const status = { ...namespace.status, phase: 'Terminating' };
    return await client.updateStatus(Namespaces, { ...namespace, status }, signal);
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/** Returns the namespace after the write. */
export async function writeConditions(
  client: Client,
  namespace: Namespace,
  { outcome, nowMs }: { readonly outcome: DeletionOutcome; readonly nowMs: number },
  signal: AbortSignal,
): Promise<Namespace> {
  const before = namespace.status?.conditions ?? [];
  const conditions = decided(computeConditions(before, outcome, nowMs));
  if (isEqualJson(conditions, before)) return namespace;
  const updated = { ...namespace, status: { ...namespace.status, conditions } } as Unsaved<Namespace>;
  try {
    return await client.updateStatus(Namespaces, updated, signal);
  } catch (error) {
    // Conditions are informational. The next sync writes them again, and the deletion must not wait for them.
    if (!isConflict(error) && !isNotFound(error)) throw error;
    return namespace;
  }
}

/** Removes our finalizer as the last step. The API server then removes the namespace. */
export async function finalize(client: Client, namespace: Namespace, signal: AbortSignal): Promise<void> {
  const finalizers = (namespace.spec?.finalizers ?? []).filter((present) => present !== finalizer);
  try {
    await client.finalizeNamespace({ ...namespace, spec: { ...namespace.spec, finalizers } }, signal);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
