import { keyOf, type Cached, type KubeObject, type ObjectKey } from '../../pkg/api/index.ts';
import type { Clock } from '../../pkg/time/index.ts';
import type { Store } from '../../informers/index.ts';

/** A write that a cache has not observed by then counts as lost: an etcd may have been restored from a backup. */
const expiryMs = 5 * 60_000;

interface Own<T> {
  readonly object: T;
  readonly sinceMs: number;
}

/**
 * The newest known version of each object: of the cache, or of an own write that the cache has not observed yet. To wait for
 * the cache would not do here: until it has observed that a volume is bound, every other claim would find the same volume.
 */
export class Latest<T extends KubeObject> {
  readonly #store: Pick<Store<T>, 'get' | 'hasSeen'>;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #own = new Map<ObjectKey, Own<Cached<T>>>();

  constructor(store: Pick<Store<T>, 'get' | 'hasSeen'>, clock: Pick<Clock, 'monotonic'>) {
    this.#store = store;
    this.#clock = clock;
  }

  get(key: ObjectKey): Cached<T> | undefined {
    const own = this.#own.get(key);
    if (own !== undefined) {
      const { resourceVersion } = (own.object as Cached<KubeObject>).metadata;
      const isLost = this.#clock.monotonic() - own.sinceMs > expiryMs;
      if (!isLost && !this.#store.hasSeen(resourceVersion)) return own.object;
      this.#own.delete(key);
    }
    return this.#store.get(key);
  }

  wrote(object: Cached<T>): void {
    this.#own.set(keyOf(object), { object, sinceMs: this.#clock.monotonic() });
  }

  /** Drops what was written, if the cache has observed it. */
  settle(key: ObjectKey): void {
    this.get(key);
  }
}
