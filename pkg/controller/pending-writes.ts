import {
  compareResourceVersions,
  isBeingDeleted,
  type Cached,
  type Kind,
  type KubeObject,
  type ObjectKey,
} from '../api/index.ts';
import type { Clock } from '../time/index.ts';
import type { Store } from '../../informers/index.ts';
import type { OwnWrites } from './key-care.ts';

/**
 * After this long, a write that the cache has not observed counts as lost. An etcd restored from a backup may never
 * reach the resource versions of writes made before: waiting for them must not stop a controller forever.
 */
const expiryMs = 5 * 60_000;

interface Pending {
  /** The newest resource version that a create or update returned. */
  resourceVersion: string;
  /** Deleted objects, until the cache shows them as terminating or gone. */
  readonly deleted: Map<ObjectKey, string>;
  /** Objects that are gone according to the server, until they are gone from the cache. */
  readonly vanished: Map<ObjectKey, string>;
  sinceMs: number;
}

/** The part of an informer that shows which writes its cache has observed. */
export interface WrittenCache<T extends KubeObject> {
  readonly kind: Kind<T>;
  readonly store: Pick<Store<T>, 'get' | 'hasSeen'>;
}

/**
 * The writes that a controller made for each owner and that its cache has not observed yet. The worker loop waits for
 * them: see `KeyCare`.
 */
export class PendingWrites<T extends KubeObject> implements OwnWrites {
  readonly kind: Kind;
  readonly #store: WrittenCache<T>['store'];
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #byOwner = new Map<ObjectKey, Pending>();

  constructor({ kind, store }: WrittenCache<T>, clock: Pick<Clock, 'monotonic'>) {
    this.kind = kind;
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

  /** The server answered that the object is gone. A cache that still has it, even as terminating, is stale. */
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
      if (metadata?.uid === uid && !isBeingDeleted(metadata)) return false;
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
