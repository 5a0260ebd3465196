import {
  isBeingDeleted,
  Namespaces,
  resourceName,
  splitKey,
  type Cached,
  type Kind,
  type KubeObject,
  type ObjectKey,
  type ObjectOf,
} from '../api/index.ts';
import { apiErrorOf, isNotFound } from '../client/index.ts';
import {
  byController,
  PendingWrites,
  runWorkers,
  type Controller,
  type ControllerContext,
  type ControllerDefinition,
  type ReconcileResult,
} from '../controller/index.ts';
import { bucketLimiter, exponentialLimiter, maxOfLimiters, type RateLimiter } from '../../workqueue/index.ts';
import { checkDefinition } from './check-definition.ts';
import { DefinitionError } from './definition-error.ts';
import { AppliedConfigurations } from './ensure.ts';
import type { Predicate } from './predicates.ts';
import { rulesOf, type PolicyRule } from './rbac.ts';
import { createResourceClient } from './resource-client.ts';
import { Reconciliation, type ReconcileContext, type Shared } from './reconcile-context.ts';
import { asWatch, Watches, type CacheOptions, type Watch, type Watchable } from './watch.ts';

/** Nothing, or when to reconcile the object again. A delay of 0 or less is none. */
export type Reconciled = ReconcileResult | void;

export interface Finalizer<T extends KubeObject> {
  /** With a domain, such as `example.com/cleanup`. */
  readonly name: string;
  /**
   * Cleans up what the garbage collector cannot, once the object is being deleted. When it returns, the finalizer is
   * removed. To wait, it returns `requeueAfterMs` above 0, and is called again.
   */
  cleanup(object: Cached<T>, context: ReconcileContext<T>): Promise<Reconciled>;
}

export interface ControllerOptions<T extends KubeObject> extends CacheOptions<T> {
  /** Names the controller in logs, metrics, events and as a field manager. */
  readonly name: string;
  /**
   * Moves one object to its desired state. Called after changes of the object and of the objects that it owns, at the
   * start, and after errors, with back-off. Never called twice at once for one object, and never for one that is being
   * deleted. A `TerminalError` ends the retries.
   */
  reconcile(object: Cached<T>, context: ReconcileContext<T>): Promise<Reconciled>;
  /** Kinds of objects that are created for the primary ones. Their changes reconcile their owner. */
  readonly owns?: readonly Watchable[] | undefined;
  /** Other kinds whose changes matter, each with a mapping to primary objects. */
  readonly watches?: readonly Watch[] | undefined;
  /** Kinds that are read from caches, but whose changes reconcile nothing. */
  readonly reads?: readonly Watchable[] | undefined;
  /** Which changes of primary objects are reconciled. Default: all. */
  readonly when?: Predicate<T> | undefined;
  readonly finalizer?: Finalizer<T> | undefined;
  /** Objects that are reconciled at the same time, at least 1. Default 1. */
  readonly workers?: number | undefined;
  /** The delay of an object after an error, which doubles each time. Default 5 ms up to 1000 s. */
  readonly backoff?: { readonly baseMs: number; readonly maxMs: number } | undefined;
  /** The rate of retries of all objects together. Default 10 a second, and 100 at once. */
  readonly retryRate?: { readonly qps: number; readonly burst: number } | undefined;
  /** The minimum time between two reconciles of one object. Default 0. */
  readonly minIntervalMs?: number | undefined;
  /** Reconciles every object this often, even if nothing changes. Default: the manager's; 0: never. */
  readonly resyncMs?: number | undefined;
  /** Permissions beyond those that follow from the kinds above. */
  readonly permissions?: readonly PolicyRule[] | undefined;
}

/** A controller of an operator, before it runs. */
export interface OperatorController extends ControllerDefinition {
  /** All kinds that it names. */
  readonly kinds: readonly Kind[];
  /** The permissions that its service account needs. */
  readonly rules: readonly PolicyRule[];
}

/**
 * Defines a controller of one kind. A mistake that would otherwise have no visible effect is a `DefinitionError`, here
 * or when the controller is created.
 */
export function controllerFor<K extends Kind>(primary: K, options: ControllerOptions<ObjectOf<K>>): OperatorController {
  const parts = partsOf(primary, options as unknown as ControllerOptions<KubeObject>);
  checkDefinition(parts);
  const all = [parts.primary, ...parts.owns, ...parts.watches, ...parts.reads];
  const kinds = new Map(all.map(({ watched }) => [resourceName(watched), watched]));
  return {
    name: parts.options.name,
    kinds: [...kinds.values()],
    rules: rulesOf(parts),
    create: (context) => createController(parts, context),
  };
}

/** A definition with its kinds in one form. */
export interface ControllerParts {
  readonly options: ControllerOptions<KubeObject>;
  readonly primary: Watch;
  readonly owns: readonly Watch[];
  readonly watches: readonly Watch[];
  readonly reads: readonly Watch[];
}

function partsOf(kind: Kind, options: ControllerOptions<KubeObject>): ControllerParts {
  return {
    options,
    primary: { watched: kind, options },
    owns: (options.owns ?? []).map(asWatch),
    watches: options.watches ?? [],
    reads: (options.reads ?? []).map(asWatch),
  };
}

function createController(parts: ControllerParts, context: ControllerContext): Controller {
  const { options, primary, owns } = parts;
  const { name, minIntervalMs = 0, workers = 1 } = options;
  const queue = context.queueFor<ObjectKey>(name, { rateLimiter: rateLimiterOf(options) });
  const watches = new Watches(name, context);
  const informer = watches.cache(primary);
  watches.enqueueSelf(primary, queue, options.resyncMs);
  for (const each of owns) {
    watches.cache(each).addIndex(byController);
    watches.enqueueOwner(each, queue, primary.watched);
  }
  for (const each of parts.watches) watches.enqueueMapped(each, queue, primary.watched);
  for (const each of parts.reads) watches.cache(each);
  const writes = new Map(
    watches.informers.map((each) => [resourceName(each.kind), new PendingWrites(each, context.clock)]),
  );
  const shared: Shared = {
    controllerName: name,
    context,
    client: context.clientFor(name),
    recorder: context.recorderFor(name),
    primary: primary.watched,
    owned: new Set(owns.map(({ watched }) => resourceName(watched))),
    watches,
    writes,
    applied: new AppliedConfigurations(),
  };
  const work = {
    name,
    context,
    queue,
    workers,
    caches: watches.caches,
    ownWrites: [...writes.values()],
    primary: informer.store,
    minIntervalMs: minIntervalMs > 0 ? () => minIntervalMs : undefined,
    namespaceOf: (key: ObjectKey) => namespaceOf(primary.watched, key),
    forget: (key: ObjectKey) => shared.applied.forget(key),
    async reconcile(key: ObjectKey, signal: AbortSignal): Promise<ReconcileResult> {
      const object = informer.store.get(key);
      if (object === undefined) return {}; // deleted: the garbage collector deletes its dependents
      try {
        return delayOf(await reconcileObject(options, shared, object, signal));
      } catch (error) {
        // The server uses the same words for a subresource that the kind does not have. That must not go unnoticed.
        const seemsGone = isAboutObject(error, primary.watched, object);
        if (seemsGone && !(await exists(shared, key, signal))) return {}; // the cache will observe its deletion
        throw error;
      }
    },
  };
  return { name, run: (signal) => runWorkers(work, signal) };
}

/** A cluster-scoped object lives in no namespace, even if it has the name of one. */
function namespaceOf(primary: Kind, key: ObjectKey): string | undefined {
  return resourceName(primary) === resourceName(Namespaces) ? key : splitKey(key).namespace;
}

/** Whether the server says that the object itself does not exist. */
function isAboutObject(error: unknown, kind: Kind, { metadata }: Cached<KubeObject>): boolean {
  const details = isNotFound(error) ? apiErrorOf(error)?.details : undefined;
  return details?.name === metadata.name && details.kind === kind.resource && (details.group ?? '') === kind.group;
}

async function exists({ client, primary, controllerName }: Shared, key: ObjectKey, signal: AbortSignal) {
  const found = await createResourceClient(client, { signal, fieldManager: controllerName }).find(primary, key);
  return found !== undefined;
}

/** As in controller-runtime, no delay and a negative one requeue nothing: a reconcile must not cause itself at once. */
function delayOf(result: Reconciled): ReconcileResult {
  const requeueAfterMs = result?.requeueAfterMs;
  if (requeueAfterMs === undefined) return {};
  if (!Number.isFinite(requeueAfterMs)) throw new DefinitionError(`requeueAfterMs is ${requeueAfterMs}`);
  return requeueAfterMs > 0 ? { requeueAfterMs } : {};
}

/** Adds the finalizer before the first reconcile, and removes it after the clean-up. */
async function reconcileObject(
  { finalizer, reconcile }: Pick<ControllerOptions<KubeObject>, 'finalizer' | 'reconcile'>,
  shared: Shared,
  object: Cached<KubeObject>,
  signal: AbortSignal,
): Promise<Reconciled> {
  const run = new Reconciliation(shared, object, signal);
  const finalizers = object.metadata.finalizers ?? [];
  const isHeld = finalizer !== undefined && finalizers.includes(finalizer.name);
  if (isBeingDeleted(object.metadata)) {
    if (!isHeld) return {};
    const result = await finalizer.cleanup(object, run.context);
    if (isUnfinished(result)) return result;
    return run.setFinalizers((run.object.metadata.finalizers ?? []).filter((each) => each !== finalizer.name));
  }
  if (finalizer !== undefined && !isHeld) await run.setFinalizers([...finalizers, finalizer.name]);
  return reconcile(run.object, run.context);
}

/** Without a delay it is not clear whether the clean-up has ended. Then the object must not be lost. */
function isUnfinished(result: Reconciled): boolean {
  const requeueAfterMs = result?.requeueAfterMs;
  if (requeueAfterMs === undefined) return false;
  if (requeueAfterMs > 0) return true;
  throw new DefinitionError(`a cleanup returned requeueAfterMs ${requeueAfterMs}: nothing, or a delay above 0`);
}

function rateLimiterOf({ backoff, retryRate }: ControllerOptions<KubeObject>): RateLimiter<ObjectKey> {
  return maxOfLimiters(
    exponentialLimiter<ObjectKey>(backoff ?? { baseMs: 5, maxMs: 1_000_000 }),
    bucketLimiter<ObjectKey>(retryRate ?? { qps: 10, burst: 100 }),
  );
}
