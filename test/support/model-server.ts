import { compareResourceVersions, copyOf, keyOf } from '../../pkg/api/index.ts';
import type { ConfigMap, Kind, KubeObject, ObjectKey } from '../../pkg/api/index.ts';
import type { Client, ListOptions, ObjectList, WatchEvent, WatchOptions } from '../../pkg/client/index.ts';
import { settle } from './fake-clock.ts';
import { connectionError, EventStream, expiredError, refusedError, tooLargeError } from './scripted-client.ts';

interface Watcher {
  readonly stream: EventStream<readonly WatchEvent<ConfigMap>[]>;
  pending: WatchEvent<ConfigMap>[];
}

interface Snapshot {
  readonly revision: number;
  readonly rest: readonly ConfigMap[];
}

/**
 * The parts of an API server that an informer uses, in memory: revisions, a history that can be compacted, streamed and
 * paged lists, and watches that lag behind and end at any event.
 */
export class ModelServer implements Pick<Client, 'list' | 'watchBatches'> {
  readonly objects = new Map<ObjectKey, ConfigMap>();
  canStream = true;
  isDown = false;
  requests = 0;
  readonly #random: () => number;
  readonly #watchers = new Set<Watcher>();
  readonly #pages = new Map<string, Snapshot>();
  #history: { readonly revision: number; readonly event: WatchEvent<ConfigMap> }[] = [];
  #revision = 1;
  #compacted = 0;
  #created = 0;

  constructor(random: () => number) {
    this.#random = random;
  }

  get resourceVersion(): string {
    return String(this.#revision);
  }

  write(namespace: string, name: string, value: string): void {
    const key = keyOf({ metadata: { namespace, name } });
    const before = this.objects.get(key);
    const resourceVersion = String(++this.#revision);
    const metadata = before?.metadata ?? {
      namespace,
      name,
      uid: `uid-${++this.#created}`,
      creationTimestamp: '2026-01-01T00:00:00Z',
    };
    const object = { metadata: { ...metadata, resourceVersion }, data: { value } };
    this.objects.set(key, object);
    this.#record({ type: before === undefined ? 'ADDED' : 'MODIFIED', object });
  }

  remove(key: ObjectKey): void {
    const before = this.objects.get(key);
    if (before === undefined) return;
    this.objects.delete(key);
    const resourceVersion = String(++this.#revision);
    this.#record({ type: 'DELETED', object: { ...before, metadata: { ...before.metadata, resourceVersion } } });
  }

  /** Compacts the history: older resource versions are gone. */
  compact(): void {
    this.#compacted = this.#revision;
    this.#history = [];
    this.#pages.clear();
  }

  /** Sends every watcher some of its pending events, possibly with a bookmark. */
  deliver(): void {
    for (const { stream, pending } of this.#watchers) {
      const batch = pending.splice(0, Math.ceil(this.#random() * pending.length));
      if (pending.length === 0 && this.#random() < 0.1) batch.push(this.#bookmark(false));
      if (batch.length > 0) stream.push(batch);
    }
  }

  /** Sends every watcher all of its pending events. */
  deliverAll(): void {
    for (const { stream, pending } of this.#watchers) stream.push([...pending.splice(0), this.#bookmark(false)]);
  }

  /** Ends every watch, after some of its pending events. */
  disconnect(error?: Error): void {
    this.deliver();
    for (const { stream } of this.#watchers) stream.end(error);
    this.#watchers.clear();
  }

  async list<T extends KubeObject>(_kind: Kind<T>, options: ListOptions, signal: AbortSignal): Promise<ObjectList<T>> {
    await this.#receive(signal);
    const { revision, rest } = this.#snapshotFor(options.continue);
    const count = options.limit === undefined ? rest.length : Math.min(options.limit, 5); // small pages, many of them
    const left = rest.slice(count);
    const token = left.length === 0 ? undefined : `${revision}/${this.requests}`;
    if (token !== undefined) this.#pages.set(token, { revision, rest: left });
    const metadata = { resourceVersion: String(revision), continue: token };
    return copyOf<unknown>({ metadata, items: rest.slice(0, count) }) as ObjectList<T>;
  }

  async *watchBatches<T extends KubeObject>(
    _kind: Kind<T>,
    options: WatchOptions,
    signal: AbortSignal,
  ): AsyncGenerator<readonly WatchEvent<T>[]> {
    await this.#receive(signal);
    const watcher: Watcher = { stream: new EventStream(), pending: this.#firstEvents(options) };
    const end = (): void => watcher.stream.end(signal.reason as Error);
    signal.addEventListener('abort', end, { once: true });
    this.#watchers.add(watcher);
    try {
      for await (const batch of watcher.stream.read()) yield copyOf<unknown>(batch) as readonly WatchEvent<T>[];
    } finally {
      this.#watchers.delete(watcher);
      signal.removeEventListener('abort', end);
    }
  }

  async #receive(signal: AbortSignal): Promise<void> {
    this.requests++;
    await settle();
    signal.throwIfAborted();
    if (this.isDown) throw connectionError();
  }

  #snapshotFor(token: string | undefined): Snapshot {
    if (token === undefined) return { revision: this.#revision, rest: [...this.objects.values()] };
    const snapshot = this.#pages.get(token);
    if (snapshot === undefined) throw expiredError();
    return snapshot;
  }

  #firstEvents({ sendInitialEvents, resourceVersion }: WatchOptions): WatchEvent<ConfigMap>[] {
    if (sendInitialEvents === true) {
      if (!this.canStream) throw refusedError();
      const present = [...this.objects.values()].map((object) => ({ type: 'ADDED' as const, object }));
      return [...present, this.#bookmark(true)];
    }
    const from = resourceVersion ?? '';
    if (compareResourceVersions(from, this.resourceVersion) > 0) throw tooLargeError();
    if (compareResourceVersions(from, String(this.#compacted)) < 0) throw expiredError();
    return this.#history.filter(({ revision }) => revision > Number(from)).map(({ event }) => event);
  }

  #bookmark(initialEventsEnd: boolean): WatchEvent<ConfigMap> {
    return { type: 'BOOKMARK', resourceVersion: this.resourceVersion, initialEventsEnd };
  }

  #record(event: WatchEvent<ConfigMap>): void {
    this.#history.push({ revision: this.#revision, event });
    for (const { pending } of this.#watchers) pending.push(event);
  }
}
