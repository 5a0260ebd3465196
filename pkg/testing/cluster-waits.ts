import type { Kind, ObjectOf } from '../api/index.ts';
import { keyOfRef, type ObjectRef, type ResourceClient } from '../operator/index.ts';
import { formatDuration, systemClock } from '../time/index.ts';
import type { ReconcileErrors } from './cluster-log.ts';
import { until } from './until.ts';

/** The end of a wait: whichever comes first. */
export interface WaitOptions {
  readonly signal?: AbortSignal | undefined;
  /** Default: that of the cluster. `Infinity`: no limit. */
  readonly timeoutMs?: number | undefined;
}

export interface ClusterWaits {
  /** Waits until the object exists and matches, and returns it. Rejects with an `UnmetError` that says how it is. */
  until<K extends Kind>(
    kind: K,
    ref: ObjectRef,
    isWanted?: (object: ObjectOf<K>) => boolean,
    options?: WaitOptions,
  ): Promise<ObjectOf<K>>;
  /** Waits until the object is deleted. Rejects with an `UnmetError` that says how it is. */
  untilGone(kind: Kind, ref: ObjectRef, options?: WaitOptions): Promise<void>;
}

interface WaitDeps {
  /** A client whose calls end with the signal. */
  readonly clientFor: (signal: AbortSignal) => ResourceClient;
  readonly errors: Pick<ReconcileErrors, 'of'>;
  readonly timeoutMs: number;
  readonly ending: AbortSignal;
}

export function createClusterWaits(deps: WaitDeps): ClusterWaits {
  return {
    until: (kind, ref, isWanted = () => true, options = {}) =>
      wait(deps, { ref, ...options }, async (client) => {
        const object = await client.get(kind, ref);
        if (isWanted(object)) return object;
        throw stillIs(kind, ref, object);
      }),
    async untilGone(kind, ref, options = {}) {
      await wait(deps, { ref, ...options }, async (client) => {
        const object = await client.find(kind, ref);
        if (object === undefined) return true;
        throw stillIs(kind, ref, object);
      });
    },
  };
}

/** The object does not match. */
export class UnmetError extends Error {
  override readonly name = 'UnmetError';
  readonly reason = 'Unmet';
}

function stillIs(kind: Kind, ref: ObjectRef, object: unknown): UnmetError {
  return new UnmetError(`${kind.kind} ${keyOfRef(ref)} is ${JSON.stringify(object)}`);
}

async function wait<T>(
  deps: WaitDeps,
  { ref, signal, timeoutMs = deps.timeoutMs }: WaitOptions & { readonly ref: ObjectRef },
  attempt: (client: ResourceClient) => Promise<T | false>,
): Promise<T> {
  const limit = new AbortController();
  // A timer cannot take Infinity.
  const timer = Number.isFinite(timeoutMs) ? systemClock.setTimer(timeoutMs, () => limit.abort()) : undefined;
  const ends = AbortSignal.any([deps.ending, limit.signal, ...(signal === undefined ? [] : [signal])]);
  const client = deps.clientFor(ends);
  try {
    return await until(() => attempt(client), ends);
  } catch (error) {
    const last = error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error);
    const why = limit.signal.aborted ? `not met within ${formatDuration(timeoutMs)}` : 'not met when the wait ended';
    const failed = deps.errors.of(keyOfRef(ref));
    const reasons = failed.map((each) => `; the last reconcile of ${each.controller} failed: ${String(each.error)}`);
    throw new UnmetError(`${why}: ${last}${reasons.join('')}`, { cause: failed[0]?.error ?? error });
  } finally {
    timer?.cancel();
  }
}
