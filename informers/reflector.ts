import { keyOf } from '../pkg/api/index.ts';
import type { Kind, KubeObject, ObjectKey } from '../pkg/api/index.ts';
import {
  isBadRequest,
  isConnectionError,
  isExpired,
  isInvalid,
  isMethodNotSupported,
  isNotAcceptable,
  isServerTimeout,
  isServiceUnavailable,
  isTimeout,
  isTooLargeResourceVersion,
  isTooManyRequests,
  isUndecodable,
} from '../pkg/client/index.ts';
import type { Client, ListOptions, WatchEvent, WatchOptions } from '../pkg/client/index.ts';
import type { Logger } from '../pkg/log/index.ts';
import type { Clock, Random } from '../pkg/time/index.ts';
import type { Relist } from './store-updates.ts';
import { initialState, planNext } from './reflector-state.ts';
import type { Failure, ListMode, Outcome, Position } from './reflector-state.ts';

/** Receives what the reflector reads. */
export interface Sink<T extends KubeObject> {
  /** Events that follow, without a gap, the ones before. */
  push(events: readonly WatchEvent<T>[]): void;
  replace(relist: Relist<T>): void;
}

/** The part of a client that an informer needs. */
export type ListWatchClient = Pick<Client, 'list' | 'watchBatches'>;

export interface ReflectorOptions<T extends KubeObject> {
  readonly client: ListWatchClient;
  readonly kind: Kind<T>;
  readonly scope: Pick<ListOptions, 'namespace' | 'labelSelector' | 'fieldSelector'>;
  /** Applied to every object before anything keeps it. */
  readonly transform: (object: T) => T;
  /** The transform changes no object, and nobody else does: objects may share their equal parts. */
  readonly sharesParts?: boolean | undefined;
  readonly sink: Sink<T>;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly idleTimeoutMs: number;
}

const pageSize = 500;
/** The server ends each watch after a random time in this range, so that the watches of many clients spread out. */
const watchSeconds = { min: 300, max: 600 };

/**
 * Lists and watches one kind until the signal aborts. The sink receives every change, without gap or repetition. Only the
 * signal ends it: every failure is logged and retried after the delay that `planNext` gives.
 */
export async function runReflector<T extends KubeObject>(
  options: ReflectorOptions<T>,
  signal: AbortSignal,
): Promise<void> {
  const { clock, random, logger } = options;
  let state = initialState;
  while (!signal.aborted) {
    const startedMs = clock.monotonic();
    const outcome = await attempt(state.position, options, signal);
    if (signal.aborted) return;
    const nowMs = clock.monotonic();
    const step = planNext(state, { outcome, nowMs, lastedMs: nowMs - startedMs, random: random() });
    logger.debug({ outcome, next: step.state.position, delayMs: step.delayMs }, 'list or watch ended');
    state = step.state;
    if (step.delayMs > 0) await clock.sleep(step.delayMs, signal).catch(() => {}); // aborted: the loop ends
  }
}

/** Never rejects: the outcome tells how it ended. */
async function attempt<T extends KubeObject>(
  position: Position,
  options: ReflectorOptions<T>,
  signal: AbortSignal,
): Promise<Outcome> {
  const progress = new Progress(position);
  try {
    if (position.at === 'unknown' && position.list !== 'stream') {
      return { type: 'listed', resourceVersion: await list(position.list, options, signal) };
    }
    await watch(progress, options, signal);
    return { type: 'closed', resourceVersion: progress.resourceVersion };
  } catch (error) {
    const failure = failureOf(error);
    if (!signal.aborted) logFailure(options, failure, error);
    return { type: 'failed', failure, resourceVersion: progress.resourceVersion };
  }
}

async function list<T extends KubeObject>(
  mode: Exclude<ListMode, 'stream'>,
  { client, kind, scope, transform, sink }: ReflectorOptions<T>,
  signal: AbortSignal,
): Promise<string> {
  const objects = new Map<ObjectKey, T>();
  // Without a resourceVersion the answer is as new as etcd. It cannot be older than what a handler has received.
  const limit = mode === 'pages' ? pageSize : undefined;
  let next: string | undefined;
  let resourceVersion = '';
  do {
    const page = await client.list(kind, { ...scope, limit, continue: next }, signal);
    for (const item of page.items) {
      const object = transform(item);
      objects.set(keyOf(object), object);
    }
    resourceVersion = page.metadata.resourceVersion ?? '';
    next = page.metadata.continue;
  } while (next !== undefined && next !== '');
  sink.replace({ objects, resourceVersion });
  return resourceVersion;
}

/** The last version of a watch. Not set while a streamed list is incomplete. */
class Progress {
  resourceVersion: string | undefined;

  constructor(position: Position) {
    this.resourceVersion = position.at === 'version' ? position.resourceVersion : undefined;
  }
}

async function watch<T extends KubeObject>(
  progress: Progress,
  options: ReflectorOptions<T>,
  signal: AbortSignal,
): Promise<void> {
  const { transform, sink } = options;
  const initial = progress.resourceVersion === undefined ? new InitialState<T>() : undefined;
  for await (const received of openWatch(progress.resourceVersion, options, signal)) {
    const events = received.map((event) => transformed(event, transform));
    const following = initial === undefined || initial.complete ? events : initial.take(events, sink);
    if (following.length > 0) sink.push(following);
    // Initial events are unordered. Only later events tell how far the watch is.
    if (initial === undefined || initial.complete)
      progress.resourceVersion = versionOf(events.at(-1)) ?? progress.resourceVersion;
  }
}

function openWatch<T extends KubeObject>(
  resourceVersion: string | undefined,
  { client, kind, scope, random, idleTimeoutMs, sharesParts }: ReflectorOptions<T>,
  signal: AbortSignal,
): AsyncIterable<readonly WatchEvent<T>[]> {
  const { min, max } = watchSeconds;
  const timeoutSeconds = Math.floor(min + random() * (max - min));
  const common: WatchOptions = { ...scope, timeoutSeconds, idleTimeoutMs, sharesParts, allowWatchBookmarks: true };
  const start: WatchOptions =
    resourceVersion === undefined
      ? { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' }
      : { resourceVersion };
  return client.watchBatches(kind, { ...common, ...start }, signal);
}

/** Collects the initial events of a streamed list until the bookmark that ends them. */
class InitialState<T extends KubeObject> {
  complete = false;
  #objects = new Map<ObjectKey, T>();

  /** Returns the events after the end of the initial list. */
  take(events: readonly WatchEvent<T>[], sink: Sink<T>): readonly WatchEvent<T>[] {
    for (const [position, event] of events.entries()) {
      if (event.type === 'DELETED') this.#objects.delete(keyOf(event.object));
      else if (event.type !== 'BOOKMARK') this.#objects.set(keyOf(event.object), event.object);
      else if (event.initialEventsEnd) {
        this.complete = true;
        sink.replace({ objects: this.#objects, resourceVersion: event.resourceVersion });
        this.#objects = new Map(); // the watch lasts minutes, and would keep the first state of every object alive
        return events.slice(position + 1);
      }
    }
    return [];
  }
}

function transformed<T extends KubeObject>(event: WatchEvent<T>, transform: (object: T) => T): WatchEvent<T> {
  if (event.type === 'BOOKMARK') return event;
  const object = transform(event.object);
  return object === event.object ? event : { type: event.type, object };
}

function versionOf<T extends KubeObject>(event: WatchEvent<T> | undefined): string | undefined {
  if (event === undefined) return undefined;
  return event.type === 'BOOKMARK' ? event.resourceVersion : event.object.metadata.resourceVersion;
}

function failureOf(error: unknown): Failure {
  // Asked first: servers answer it with 504, which otherwise only means to retry.
  if (isTooLargeResourceVersion(error)) return 'ahead';
  if (isExpired(error)) return 'expired';
  if (isBadRequest(error) || isInvalid(error) || isNotAcceptable(error) || isMethodNotSupported(error)) {
    return 'refused';
  }
  // An event that cannot be decoded would come again if the watch continued from the same version.
  const isUnavailable =
    (isConnectionError(error) && !isUndecodable(error)) ||
    isTooManyRequests(error) ||
    isServiceUnavailable(error) ||
    isTimeout(error) ||
    isServerTimeout(error);
  return isUnavailable ? 'unavailable' : 'other';
}

function logFailure<T extends KubeObject>({ logger }: ReflectorOptions<T>, failure: Failure, error: unknown): void {
  const fields = { err: error, failure }; // the informer's logger names the resource
  if (failure === 'expired' || failure === 'refused') logger.info(fields, 'list or watch starts again');
  else logger.warn(fields, 'list or watch failed');
}
