import { compareResourceVersions, type Cached, type KubeObject, type ObjectKey } from '../api/index.ts';
import type { Clock } from '../time/index.ts';
import type { Store } from '../../informers/index.ts';

/**
 * After this long a write that the cache has not shown counts as lost: an etcd restored from a backup, for one, never
 * reaches the versions it once handed out, and must not stop a controller for good.
 */
const expiryMs = 5 * 60_000;

interface Pending {
  /** The newest version that a create or update was answered with. */
  resourceVersion: string;
  /** Objects deleted, until the cache shows them gone or going. */
  readonly deleted: Map<ObjectKey, string>;
  /** Objects known to be gone, until the cache shows that too. */
  readonly vanished: Map<ObjectKey, string>;
  sinceMs: number;
}

/**
 * What a controller has written for each owner but its cache has not shown yet. Deciding on such a cache would create
 * what was just created and delete once more what is already going; so a controller asks `isSettled` first, and leaves
 * the rest to the events that the missing changes will bring.
 */
export class PendingWrites<T extends KubeObject> {
  readonly #store: Pick<Store<T>, 'get' | 'hasSeen'>;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #byOwner = new Map<ObjectKey, Pending>();

  constructor(store: Pick<Store<T>, 'get' | 'hasSeen'>, clock: Pick<Clock, 'monotonic'>) {
    this.#store = store;
    this.#clock = clock;
  }

  wrote(owner: ObjectKey, resourceVersion: string): void {
    const pending = this.#pendingOf(owner);
    if (compareResourceVersions(resourceVersion, pending.resourceVersion) > 0)
      pending.resourceVersion = resourceVersion;
  }

  deleted(owner: ObjectKey, key: ObjectKey, uid: string): void {
    this.#pendingOf(owner).deleted.set(key, uid);
  }

  /** The server said that the object is gone: a cache that still has it, even as going, is too old to decide on. */
  vanished(owner: ObjectKey, key: ObjectKey, uid: string): void {
    this.#pendingOf(owner).vanished.set(key, uid);
  }

  isSettled(owner: ObjectKey): boolean {
    const pending = this.#byOwner.get(owner);
    if (pending === undefined) return true;
    const expired = this.#clock.monotonic() - pending.sinceMs > expiryMs;
    if (!expired && !this.#isVisible(pending)) return false;
    this.#byOwner.delete(owner);
    return true;
  }

  forget(owner: ObjectKey): void {
    this.#byOwner.delete(owner);
  }

  #isVisible(pending: Pending): boolean {
    if (pending.resourceVersion !== '' && !this.#store.hasSeen(pending.resourceVersion)) return false;
    for (const [key, uid] of pending.deleted) {
      const metadata = this.#metadataOf(key);
      if (metadata?.uid === uid && metadata.deletionTimestamp === undefined) return false;
      pending.deleted.delete(key);
    }
    for (const [key, uid] of pending.vanished) {
      if (this.#metadataOf(key)?.uid === uid) return false;
      pending.vanished.delete(key);
    }
    return true;
  }

  #metadataOf(key: ObjectKey): Cached<KubeObject>['metadata'] | undefined {
    return (this.#store.get(key) as Cached<KubeObject> | undefined)?.metadata;
  }

  #pendingOf(owner: ObjectKey): Pending {
    let pending = this.#byOwner.get(owner);
    if (pending === undefined) {
      pending = { resourceVersion: '', deleted: new Map(), vanished: new Map(), sinceMs: 0 };
      this.#byOwner.set(owner, pending);
    }
    pending.sinceMs = this.#clock.monotonic();
    return pending;
  }
}
