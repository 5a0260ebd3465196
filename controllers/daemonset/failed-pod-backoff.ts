import type { Cached, DaemonSet, ObjectKey } from '../../pkg/api/index.ts';
import { keyOf } from '../../pkg/api/index.ts';
import type { Clock } from '../../pkg/time/index.ts';

const firstMs = 1000;
const longestMs = 15 * 60_000;
/** After this long without a failure, the back-off of a node is reset. */
const expiryMs = 2 * longestMs;

interface Backoff {
  readonly delayMs: number;
  readonly sinceMs: number;
}

interface DaemonSetBackoffs {
  /** A new generation of a DaemonSet starts without back-off. */
  readonly generation: string;
  readonly byNode: Map<string, Backoff>;
}

/** The back-off between two deletions of failed pods of a DaemonSet on one node: 1 s, then twice as long each time. */
export class FailedPodBackoff {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #byDaemonSet = new Map<ObjectKey, DaemonSetBackoffs>();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** The nodes in back-off, and how long each has to wait. */
  waitsOf(daemonSet: Cached<DaemonSet>): ReadonlyMap<string, number> {
    const nowMs = this.#clock.monotonic();
    const waits = new Map<string, number>();
    const { byNode } = this.#backoffsOf(daemonSet) ?? {};
    for (const [node, { delayMs, sinceMs }] of byNode ?? []) {
      if (nowMs - sinceMs > expiryMs) byNode?.delete(node);
      else if (nowMs - sinceMs < delayMs) waits.set(node, delayMs - (nowMs - sinceMs));
    }
    return waits;
  }

  /** A failed pod is deleted from the node. */
  next(daemonSet: Cached<DaemonSet>, node: string): void {
    const nowMs = this.#clock.monotonic();
    let backoffs = this.#backoffsOf(daemonSet);
    if (backoffs === undefined) {
      backoffs = { generation: generationOf(daemonSet), byNode: new Map() };
      this.#byDaemonSet.set(keyOf(daemonSet), backoffs);
    }
    const { byNode } = backoffs;
    const before = byNode.get(node);
    const isFirst = before === undefined || nowMs - before.sinceMs > expiryMs;
    byNode.set(node, { delayMs: isFirst ? firstMs : Math.min(longestMs, before.delayMs * 2), sinceMs: nowMs });
  }

  forget(key: ObjectKey): void {
    this.#byDaemonSet.delete(key);
  }

  #backoffsOf(daemonSet: Cached<DaemonSet>): DaemonSetBackoffs | undefined {
    const backoffs = this.#byDaemonSet.get(keyOf(daemonSet));
    return backoffs?.generation === generationOf(daemonSet) ? backoffs : undefined;
  }
}

function generationOf({ metadata, status }: Cached<DaemonSet>): string {
  return `${metadata.uid}/${String(status?.observedGeneration ?? 0)}`;
}
