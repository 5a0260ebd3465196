import { randomUUID } from 'node:crypto';

import { objectKey, type ObjectKey, type UntypedObject } from '../../api/index.ts';
import type { Clock } from '../../time/index.ts';
import { notFound } from '../failure.ts';
import { apiVersionOf, storageId, type Registry, type Resource } from '../registry/index.ts';
import type { WriteContext } from '../rules/index.ts';
import { Entry, type Store } from '../storage/index.ts';

export interface ApiDeps {
  readonly store: Store;
  readonly registry: Registry;
  readonly clock: Pick<Clock, 'now'>;
  readonly random: () => number;
  /** The feature gates that are on. Default: none. */
  readonly featureGates?: Iterable<string> | undefined;
}

/** Shared by all verbs: the store, the registry, the clock and the random source. */
export class Api {
  readonly store: Store;
  readonly registry: Registry;
  readonly #deps: ApiDeps;
  readonly #featureGates: ReadonlySet<string>;

  constructor(deps: ApiDeps) {
    this.#deps = deps;
    this.#featureGates = new Set(deps.featureGates);
    this.store = deps.store;
    this.registry = deps.registry;
  }

  get nowMs(): number {
    return this.#deps.clock.now();
  }

  get random(): () => number {
    return this.#deps.random;
  }

  newUid(): string {
    return randomUUID();
  }

  find(resource: Resource, key: ObjectKey): Entry | undefined {
    return this.store.get(storageId(resource), key);
  }

  /** Throws 404. */
  get(resource: Resource, key: ObjectKey): Entry {
    const entry = this.find(resource, key);
    if (entry === undefined) throw notFound(resource, key.slice(key.indexOf('/') + 1));
    return entry;
  }

  writeContext(): WriteContext {
    return {
      nowMs: this.nowMs,
      featureGates: this.#featureGates,
      random: this.random,
      find: (storage, key) => this.store.get(storage, key)?.object,
      list: (storage) => objectsOf(this.store, storage),
    };
  }
}

function* objectsOf(store: Store, storage: string): Generator<UntypedObject> {
  for (const { object } of store.entries(storage)) yield object;
}

/** Addresses one object. */
export interface ObjectTarget {
  readonly resource: Resource;
  readonly key: ObjectKey;
}

/** The key of an object. Cluster-scoped resources have no namespace in their keys. */
export function keyIn(resource: Resource, namespace: string | undefined, name: string): ObjectKey {
  return objectKey(resource.namespaced ? namespace : undefined, name);
}

/** Shows an entry in the version of the resource: all versions of a custom resource share one stored object. */
export function asVersion(entry: Entry, resource: Resource): Entry {
  if (resource.type.kind === 'built-in') return entry;
  const apiVersion = apiVersionOf(resource);
  if (entry.object.apiVersion === apiVersion) return entry;
  return new Entry({ ...entry.object, apiVersion }, entry.version);
}
