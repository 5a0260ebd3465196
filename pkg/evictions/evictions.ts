import { keyOf, Pods, splitKey, type Cached, type ObjectKey, type Pod } from '../api/index.ts';
import type { EventRecorder } from '../events/index.ts';

/** The eviction of one pod, identified by its uid: a later pod can have the same name. */
export type Eviction =
  | { readonly kind: 'waiting'; readonly uid: string; readonly dueMs: number }
  | { readonly kind: 'evicting'; readonly uid: string; readonly dueMs: number }
  /** Deleted. Kept until the pod is gone, so that a change of taints does not evict it again. */
  | { readonly kind: 'evicted'; readonly uid: string };

/** The events on pods that are evicted. */
export interface EvictionEvents {
  readonly reason: string;
  marking(pod: ObjectKey): string;
  cancelling(pod: ObjectKey): string;
  /** Whether a waiting pod that is gone counts as cancelled. */
  readonly cancelsGone: boolean;
}

/** The evictions of pods. Records the events on these pods. */
export class Evictions {
  readonly #recorder: EventRecorder;
  readonly #events: EvictionEvents;
  readonly #byPod = new Map<ObjectKey, Eviction>();

  constructor(recorder: EventRecorder, events: EvictionEvents) {
    this.#recorder = recorder;
    this.#events = events;
  }

  get size(): number {
    return this.#byPod.size;
  }

  has(key: ObjectKey): boolean {
    return this.#byPod.has(key);
  }

  /** The eviction of this pod. Drops the eviction of an earlier pod of the same name. */
  of(pod: Cached<Pod>): Eviction | undefined {
    const key = keyOf(pod);
    const eviction = this.#byPod.get(key);
    if (eviction?.uid === pod.metadata.uid) return eviction;
    this.forget(key);
    return undefined;
  }

  schedule(pod: Cached<Pod>, dueMs: number): void {
    this.#byPod.set(keyOf(pod), { kind: 'waiting', uid: pod.metadata.uid, dueMs });
  }

  start(pod: Cached<Pod>, dueMs: number): void {
    const key = keyOf(pod);
    if (this.#byPod.get(key)?.kind !== 'evicting') this.#record(key, this.#events.marking(key));
    this.#byPod.set(key, { kind: 'evicting', uid: pod.metadata.uid, dueMs });
  }

  finish(pod: Cached<Pod>): void {
    this.#byPod.set(keyOf(pod), { kind: 'evicted', uid: pod.metadata.uid });
  }

  /** Drops the eviction. Records an event if it was still waiting. */
  cancel(key: ObjectKey): void {
    if (this.#byPod.get(key)?.kind === 'waiting') this.#record(key, this.#events.cancelling(key));
    this.#byPod.delete(key);
  }

  /** Drops the eviction of a pod that is gone. */
  forget(key: ObjectKey): void {
    if (this.#events.cancelsGone) this.cancel(key);
    else this.#byPod.delete(key);
  }

  #record(key: ObjectKey, message: string): void {
    const { namespace, name } = splitKey(key);
    const subject = { metadata: { namespace, name } };
    this.#recorder.event(Pods, subject, { type: 'Normal', reason: this.#events.reason, message });
  }
}
