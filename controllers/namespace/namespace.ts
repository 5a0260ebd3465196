import {
  isEqualJson,
  keyOf,
  Namespaces,
  parseTime,
  isBeingDeleted,
  type Cached,
  type Namespace,
  type ObjectKey,
} from '../../pkg/api/index.ts';
import {
  runWorkers,
  type Controller,
  type ControllerContext,
  type ReconcileResult,
} from '../../pkg/controller/index.ts';
import { bucketLimiter, exponentialLimiter, maxOfLimiters } from '../../workqueue/index.ts';
import { deleteContent } from './apply-content.ts';
import { finalize, finalizer, readTerminating, writeConditions } from './apply.ts';
import { ContentLeftError, isEmptied, problemsOf } from './conditions.ts';
import { nextCheckMs } from './remaining.ts';

const name = 'namespace-controller';

export interface NamespaceOptions {
  readonly workers: number;
  readonly resyncMs: number;
  /** Other API servers may not have observed the deletion yet and still accept objects: wait until they have. */
  readonly deletionGraceMs: number;
}

export function createNamespaceController(context: ControllerContext, options: NamespaceOptions): Controller {
  // One namespace needs a hundred requests and more. At the default rate that would take minutes.
  const client = context.clientFor(name, { qpsFactor: 20 });
  const rateLimiter = maxOfLimiters<ObjectKey>(
    exponentialLimiter({ baseMs: 5, maxMs: 60_000 }),
    bucketLimiter({ qps: 10, burst: 100 }),
  );
  const queue = context.queueFor('namespace', { rateLimiter });
  const namespaces = context.informers.informerFor(Namespaces);
  const checks = new Map<ObjectKey, number>();

  const enqueue = (namespace: Cached<Namespace>): void => {
    if (isBeingDeleted(namespace.metadata)) queue.addAfter(keyOf(namespace), options.deletionGraceMs);
  };
  const namespaceHandlers = namespaces.addHandler(
    {
      added: enqueue,
      updated(before, after) {
        if (!isStatusChange(before, after)) enqueue(after); // mostly own writes
      },
      deleted: (last) => queue.add(keyOf(last)), // the loop drops the state of the key
    },
    { resyncMs: options.resyncMs },
  );

  async function reconcile(key: ObjectKey, signal: AbortSignal): Promise<ReconcileResult> {
    const cached = namespaces.store.get(key);
    const namespace = cached === undefined ? undefined : await readTerminating(client, key, signal);
    if (namespace === undefined) return {};
    await context.discovery.refresh(signal); // objects of an unknown resource would never be deleted
    const discovered = await context.discovery.preferred(signal);
    const deletedMs = parseTime(namespace.metadata.deletionTimestamp) ?? context.clock.now();
    const goneForSeconds = (context.clock.now() - deletedMs) / 1000;
    const outcome = await deleteContent({ client, namespace: key, goneForSeconds }, discovered, signal);
    const nowMs = context.clock.now();
    if (isEmptied(outcome)) {
      // Another finalizer may keep the namespace: its conditions must not show errors that are resolved.
      const last = willStay(namespace)
        ? await writeConditions(client, namespace, { outcome, nowMs }, signal)
        : namespace;
      await finalize(client, last, signal);
      return {};
    }
    await writeConditions(client, namespace, { outcome, nowMs }, signal);
    const problems = problemsOf(outcome);
    if (problems.length > 0) throw new ContentLeftError(key, problems);
    const checksBefore = checks.get(key) ?? 0;
    checks.set(key, checksBefore + 1);
    return { requeueAfterMs: nextCheckMs(outcome.remaining, checksBefore) };
  }

  const caches = [namespaces, namespaceHandlers];
  const care = { primary: namespaces.store, forget: (key: ObjectKey): void => void checks.delete(key) };
  const work = { name, context, queue, reconcile, caches, workers: options.workers, ...care };
  return { name, run: (signal) => runWorkers(work, signal) };
}

/** Whether only the status of a terminating namespace has changed. False for a resync. */
function isStatusChange(before: Cached<Namespace>, after: Cached<Namespace>): boolean {
  if (before.metadata.resourceVersion === after.metadata.resourceVersion) return false;
  return isBeingDeleted(before.metadata) && isEqualJson(before.spec, after.spec);
}

/** Whether another finalizer keeps the namespace after ours is removed. */
function willStay({ metadata, spec }: Namespace): boolean {
  return (metadata.finalizers ?? []).length > 0 || (spec?.finalizers ?? []).some((present) => present !== finalizer);
}
