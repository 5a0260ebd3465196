import {
  isEqualJson,
  keyOf,
  Namespaces,
  parseTime,
  isBeingDeleted,
  type Cached,
  type Namespace,
  type ObjectKey,
  type Unsaved,
} from '../../pkg/api/index.ts';
import { isConflict, isNotFound, type Client } from '../../pkg/client/index.ts';
import {
  runWorkers,
  type Controller,
  type ControllerContext,
  type ReconcileResult,
} from '../../pkg/controller/index.ts';
import { bucketLimiter, exponentialLimiter, maxOfLimiters } from '../../workqueue/index.ts';
import { computeConditions, isEmptied, problemsOf, type DeletionOutcome } from './conditions.ts';
import { deleteContent } from './content.ts';
import { nextCheckMs } from './remaining.ts';

const name = 'namespace-controller';
const finalizer = 'kubernetes';

/** Other API servers may not have heard of the deletion yet and still let objects in: wait until they have. */
const settleMs = 5000;

export interface NamespaceOptions {
  readonly workers: number;
  readonly resyncMs: number;
}

export function createNamespaceController(context: ControllerContext, options: NamespaceOptions): Controller {
  // One namespace takes a hundred requests and more: at the rate of others it would take minutes.
  const client = context.clientFor(name, { qpsFactor: 20 });
  const rateLimiter = maxOfLimiters<ObjectKey>(
    exponentialLimiter({ baseMs: 5, maxMs: 60_000 }),
    bucketLimiter({ qps: 10, burst: 100 }),
  );
  const queue = context.queueFor('namespace', { rateLimiter });
  const namespaces = context.informers.informerFor(Namespaces);
  const checks = new Map<ObjectKey, number>();

  const enqueue = (namespace: Cached<Namespace>): void => {
    if (isBeingDeleted(namespace.metadata)) queue.addAfter(keyOf(namespace), settleMs);
  };
  const namespaceHandlers = namespaces.addHandler(
    {
      added: enqueue,
      updated(before, after) {
        if (!isStatusChange(before, after)) enqueue(after); // mostly what we have written ourselves
      },
    },
    { resyncMs: options.resyncMs },
  );

  async function reconcile(key: ObjectKey, signal: AbortSignal): Promise<ReconcileResult> {
    const cached = namespaces.store.get(key);
    const namespace = cached === undefined ? undefined : await readTerminating(client, key, signal);
    if (namespace === undefined) {
      checks.delete(key);
      return {};
    }
    await context.discovery.refresh(signal); // a resource we do not know of would be left behind for good
    const discovered = await context.discovery.preferred(signal);
    const deletedMs = parseTime(namespace.metadata.deletionTimestamp) ?? context.clock.now();
    const goneForSeconds = (context.clock.now() - deletedMs) / 1000;
    const outcome = await deleteContent({ client, namespace: key, goneForSeconds }, discovered, signal);
    const nowMs = context.clock.now();
    if (isEmptied(outcome)) {
      checks.delete(key);
      // Whoever else holds it back keeps it in sight: let it not tell of troubles that are over.
      const last = willStay(namespace) ? await writeConditions(client, namespace, outcome, nowMs, signal) : namespace;
      await finalize(client, last, signal);
      return {};
    }
    await writeConditions(client, namespace, outcome, nowMs, signal);
    const problems = problemsOf(outcome);
    if (problems.length > 0) throw new ContentLeftError(key, problems);
    const checksBefore = checks.get(key) ?? 0;
    checks.set(key, checksBefore + 1);
    return { requeueAfterMs: nextCheckMs(outcome.remaining, checksBefore) };
  }

  const caches = [namespaces, namespaceHandlers];
  const work = { name, context, queue, reconcile, caches, workers: options.workers };
  return { name, run: (signal) => runWorkers(work, signal) };
}

export class ContentLeftError extends Error {
  override readonly name = 'ContentLeftError';
  readonly reason = 'ContentLeft';

  constructor(namespace: string, problems: readonly string[]) {
    super(`delete the content of namespace ${namespace}: ${problems.join('; ')}`);
  }
}

/** A namespace that was going before and has new conditions, and nothing else. A resync is no change at all. */
function isStatusChange(before: Cached<Namespace>, after: Cached<Namespace>): boolean {
  if (before.metadata.resourceVersion === after.metadata.resourceVersion) return false;
  return isBeingDeleted(before.metadata) && isEqualJson(before.spec, after.spec);
}

/** Whether the namespace is there still when our finalizer is gone. */
function willStay({ metadata, spec }: Namespace): boolean {
  return (metadata.finalizers ?? []).length > 0 || (spec?.finalizers ?? []).some((present) => present !== finalizer);
}

/** The live namespace, marked as terminating; undefined if there is nothing to do. What is deleted is not judged by a cache. */
async function readTerminating(client: Client, key: ObjectKey, signal: AbortSignal): Promise<Namespace | undefined> {
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

/** Gives the namespace as it is afterwards. */
async function writeConditions(
  client: Client,
  namespace: Namespace,
  outcome: DeletionOutcome,
  nowMs: number,
  signal: AbortSignal,
): Promise<Namespace> {
  const before = namespace.status?.conditions ?? [];
  const conditions = computeConditions(before, outcome, nowMs);
  if (isEqualJson(conditions, before)) return namespace;
  const updated = { ...namespace, status: { ...namespace.status, conditions } } as Unsaved<Namespace>;
  try {
    return await client.updateStatus(Namespaces, updated, signal);
  } catch (error) {
    // They only inform: the next pass writes them anew, and the deletion must not wait for them.
    if (!isConflict(error) && !isNotFound(error)) throw error;
    return namespace;
  }
}

/** Takes our finalizer off, the last step: the server then removes the namespace. */
async function finalize(client: Client, namespace: Namespace, signal: AbortSignal): Promise<void> {
  const finalizers = (namespace.spec?.finalizers ?? []).filter((present) => present !== finalizer);
  try {
    await client.finalizeNamespace({ ...namespace, spec: { ...namespace.spec, finalizers } }, signal);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
