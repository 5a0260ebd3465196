import type { Cached, Kind, KubeObject, ObjectKey } from '../api/index.ts';
import { currentTrace } from '../controller/index.ts';
import type { Index, Store } from '../../informers/index.ts';

/** A cache as one controller sees it: while somebody looks, what a reconcile reads is noted. */
export class TracedStore<T extends KubeObject> implements Store<T> {
  readonly kind: Kind<T>;
  readonly #store: Store<T>;
  readonly #isRecording: () => boolean;

  constructor(kind: Kind<T>, store: Store<T>, isRecording: () => boolean) {
    this.kind = kind;
    this.#store = store;
    this.#isRecording = isRecording;
  }

  get size(): number {
    return this.#store.size;
  }

  get(key: ObjectKey): Cached<T> | undefined {
    const object = this.#store.get(key);
    if (this.#isRecording()) {
      const { resourceVersion } = (object as Cached<KubeObject> | undefined)?.metadata ?? {};
      currentTrace()?.read(this.kind, { key, resourceVersion });
    }
    return object;
  }

  list(namespace?: string): readonly Cached<T>[] {
    const objects = this.#store.list(namespace);
    if (this.#isRecording()) this.#noteList('namespace', namespace ?? '(all)', objects.length);
    return objects;
  }

  byIndex(index: Index<T>, value: string): readonly Cached<T>[] {
    const objects = this.#store.byIndex(index, value);
    if (this.#isRecording()) this.#noteList(index.name, value, objects.length);
    return objects;
  }

  countByIndex(index: Index<T>, value: string): number {
    const count = this.#store.countByIndex(index, value);
    if (this.#isRecording()) this.#noteList(index.name, value, count);
    return count;
  }

  hasSeen(resourceVersion: string): boolean {
    return this.#store.hasSeen(resourceVersion);
  }

  waitUntilSeen(resourceVersion: string, signal: AbortSignal): Promise<void> {
    return this.#store.waitUntilSeen(resourceVersion, signal);
  }

  #noteList(index: string, value: string, count: number): void {
    currentTrace()?.read(this.kind, { index, value, count });
  }
}
