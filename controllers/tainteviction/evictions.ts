import { keyOf, Pods, splitKey, type Cached, type ObjectKey, type Pod } from '../../pkg/api/index.ts';
import type { EventRecorder } from '../../pkg/events/index.ts';
import type { Eviction } from './plan.ts';

/** The evictions of pods. Records the events on these pods. */
export class Evictions {
  readonly #recorder: EventRecorder;
  readonly #byPod = new Map<ObjectKey, Eviction>();

  constructor(recorder: EventRecorder) {
    this.#recorder = recorder;
  }

  get size(): number {
    return this.#byPod.size;
  }

  has(key: ObjectKey): boolean {
    return this.#byPod.has(key);
  }

  /** The eviction of this pod. Cancels the eviction of an earlier pod of the same name. */
  of(pod: Cached<Pod>): Eviction | undefined {
    const key = keyOf(pod);
    const eviction = this.#byPod.get(key);
    if (eviction?.uid === pod.metadata.uid) return eviction;
    this.cancel(key);
    return undefined;
  }

  schedule(pod: Cached<Pod>, dueMs: number): void {
    this.#byPod.set(keyOf(pod), { kind: 'waiting', uid: pod.metadata.uid, dueMs });
  }

  start(pod: Cached<Pod>, dueMs: number): void {
    const key = keyOf(pod);
    if (this.#byPod.get(key)?.kind !== 'evicting') this.#record(key, `Marking for deletion Pod ${key}`);
    this.#byPod.set(key, { kind: 'evicting', uid: pod.metadata.uid, dueMs });
  }

  finish(pod: Cached<Pod>): void {
    this.#byPod.set(keyOf(pod), { kind: 'evicted', uid: pod.metadata.uid });
  }

  /** Drops the eviction. Records an event if it was still waiting. */
  cancel(key: ObjectKey): void {
    if (this.#byPod.get(key)?.kind === 'waiting') this.#record(key, `Cancelling deletion of Pod ${key}`);
    this.#byPod.delete(key);
  }

  #record(key: ObjectKey, message: string): void {
    const { namespace, name } = splitKey(key);
    const subject = { metadata: { namespace, name } };
    this.#recorder.event(Pods, subject, { type: 'Normal', reason: 'TaintManagerEviction', message });
  }
}
