import { goJson, RawJson, stringifyBody, type ObjectKey, type UntypedObject } from '../../api/index.ts';
import { Failure, expired, DefectError } from '../failure.ts';
import type { Persistence } from './persistence.ts';

/** One state of one object. Immutable: a change stores another entry. */
export class Entry {
  readonly object: UntypedObject;
  /** The server assigns versions, so it may treat them as numbers. */
  readonly version: number;
  #json: string | undefined;

  constructor(object: UntypedObject, version: number) {
    this.object = object;
    this.version = version;
  }

  /** Encoded once, for the response and for all lists and watchers. */
  get json(): string {
    return (this.#json ??= stringifyObject(this.object));
  }
}

/** The data of revisions has the bytes that Go writes: its controllers compare them. */
function stringifyObject(object: UntypedObject): string {
  if (object.kind !== 'ControllerRevision' || object.apiVersion !== 'apps/v1') return JSON.stringify(object);
  return stringifyBody({ ...object, data: new RawJson(goJson(object['data'], 'int64')) });
}

export interface Change {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly storage: string;
  readonly key: ObjectKey;
  readonly version: number;
  readonly entry: Entry;
  readonly previous: Entry | undefined;
}

export type Listener = (change: Change) => void;

interface Collection {
  readonly entries: Map<ObjectKey, Entry>;
  readonly listeners: Set<Listener>;
  /** The history of changes, oldest first. */
  changes: Change[];
  /** The version of the newest change that is no longer in the history. */
  forgotten: number;
  sorted: readonly ObjectKey[] | undefined;
}

export interface StoreOptions {
  /** The length of the history of each resource. */
  readonly historyLength: number;
  readonly persistence?: Persistence | undefined;
}

/**
 * All objects, in memory, under one version that grows with every write. It keeps the latest changes of each resource,
 * so that a watch can resume and a list can be of an earlier version. A write takes effect at once, and listeners get
 * changes in order. With persistence, a response that reports a write must wait for `durable()`.
 */
export class Store {
  readonly #collections = new Map<string, Collection>();
  readonly #options: StoreOptions;
  #version: number;
  #compacted = 0;

  constructor(options: StoreOptions) {
    this.#options = options;
    const saved = options.persistence?.load();
    // Versions start at 1: zero has a special meaning in requests.
    this.#version = Math.max(1, saved?.version ?? 0);
    // The history before this start is not known, so a watch from an earlier version has to list again.
    this.#compacted = saved === undefined || saved.version === 0 ? 0 : this.#version;
    for (const { storage, key, object, version } of saved?.objects ?? []) {
      this.#of(storage).entries.set(key, new Entry(object, version));
    }
  }

  get version(): number {
    return this.#version;
  }

  get(storage: string, key: ObjectKey): Entry | undefined {
    return this.#collections.get(storage)?.entries.get(key);
  }

  count(storage: string): number {
    return this.#collections.get(storage)?.entries.size ?? 0;
  }

  /** The keys in the order of lists. */
  keys(storage: string): readonly ObjectKey[] {
    const collection = this.#of(storage);
    return (collection.sorted ??= [...collection.entries.keys()].sort(compareKeys));
  }

  entries(storage: string): IterableIterator<Entry> {
    return this.#of(storage).entries.values();
  }

  /** All objects as of `version`. Throws 410 if the history does not reach back that far. */
  entriesAt(storage: string, version: number): ReadonlyMap<ObjectKey, Entry> {
    const collection = this.#of(storage);
    if (version >= this.#version) return collection.entries;
    this.#requireKnown(collection, version);
    const entries = new Map(collection.entries);
    for (const change of collection.changes.toReversed()) {
      if (change.version <= version) break;
      if (change.previous === undefined) entries.delete(change.key);
      else entries.set(change.key, change.previous);
    }
    return entries;
  }

  /** Stores an object, and sets its resource version. */
  put(storage: string, key: ObjectKey, object: UntypedObject): Entry {
    const collection = this.#of(storage);
    const previous = collection.entries.get(key);
    const entry = this.#next(object);
    collection.entries.set(key, entry);
    if (previous === undefined) collection.sorted = undefined;
    this.#options.persistence?.put({ storage, key, object: entry.object, version: entry.version });
    const type = previous === undefined ? 'ADDED' : 'MODIFIED';
    this.#announce(collection, { type, storage, key, version: entry.version, entry, previous });
    return entry;
  }

  /** Removes an object. The last state that watchers get has the version of the removal. */
  remove(storage: string, key: ObjectKey, last: UntypedObject): Entry {
    const collection = this.#of(storage);
    const previous = collection.entries.get(key);
    if (previous === undefined) throw new DefectError(`remove ${storage} ${key}: it does not exist`);
    const entry = this.#next(last);
    collection.entries.delete(key);
    collection.sorted = undefined;
    this.#options.persistence?.remove({ storage, key, version: entry.version });
    this.#announce(collection, { type: 'DELETED', storage, key, version: entry.version, entry, previous });
    return entry;
  }

  /** The changes after `version`. Throws 410 if some of them are no longer in the history. */
  changesSince(storage: string, version: number): Change[] {
    const collection = this.#of(storage);
    this.#requireKnown(collection, version);
    const { changes } = collection;
    let first = changes.length;
    while (first > 0 && (changes[first - 1]?.version ?? 0) > version) first--;
    return changes.slice(first);
  }

  /** Calls the listener for every change from now on. */
  listen(storage: string, listener: Listener): () => void {
    const { listeners } = this.#of(storage);
    listeners.add(listener);
    return () => listeners.delete(listener);
  }

  /** Drops the history, as a compaction of etcd does. */
  compact(): void {
    this.#compacted = this.#version;
    for (const collection of this.#collections.values()) {
      collection.changes = [];
      collection.forgotten = this.#version;
    }
  }

  /** Resolves once all writes so far would survive a crash; undefined if they already would. */
  durable(): Promise<void> | undefined {
    return this.#options.persistence?.durable();
  }

  close(): void {
    this.#options.persistence?.close();
  }

  #next(object: UntypedObject): Entry {
    this.#version += 1;
    const metadata = { ...object.metadata, resourceVersion: String(this.#version) };
    return new Entry({ ...object, metadata }, this.#version);
  }

  #announce(collection: Collection, change: Change): void {
    collection.changes.push(change);
    if (collection.changes.length > 2 * this.#options.historyLength) {
      const dropped = collection.changes.splice(0, this.#options.historyLength);
      collection.forgotten = dropped.at(-1)?.version ?? collection.forgotten;
    }
    for (const listener of collection.listeners) listener(change);
  }

  #requireKnown(collection: Collection, version: number): void {
    const oldest = Math.max(collection.forgotten, this.#compacted);
    if (version < oldest) throw expired(`too old resource version: ${version} (${oldest})`);
  }

  #of(storage: string): Collection {
    let collection = this.#collections.get(storage);
    if (collection === undefined) {
      collection = { entries: new Map(), listeners: new Set(), changes: [], forgotten: 0, sorted: undefined };
      this.#collections.set(storage, collection);
    }
    return collection;
  }
}

/** A version in the future: the client got it from a server with newer data. */
export function tooLargeVersion(version: number, current: number): Failure {
  const message = `Too large resource version: ${version}, current: ${current}`;
  const causes = [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }];
  return new Failure(504, 'Timeout', message, { details: { causes, retryAfterSeconds: 1 } });
}

/** By bytes, with `/` between namespace and name: the order of keys in etcd. */
function compareKeys(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
