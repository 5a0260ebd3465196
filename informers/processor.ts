import type { Cached, KubeObject } from '../pkg/api/index.ts';
import type { Logger } from '../pkg/log/index.ts';
import { Fifo } from '../pkg/fifo/index.ts';
import type { Clock, Task, Timer, Turns } from '../pkg/time/index.ts';
import type { Change } from './store-updates.ts';
import type { Handler, HandlerRegistration } from './informer.ts';
import { Latch } from './latch.ts';

/** An entry in a listener's buffer. */
type Entry<T extends KubeObject> =
  | Change<T>
  /** The cache at one moment: one entry for all its objects. */
  | { readonly type: 'replayed'; readonly objects: readonly Cached<T>[]; readonly as: 'initial' | 'resync' }
  | { readonly type: 'synced' };

export interface ProcessorOptions {
  readonly turns: Turns;
  readonly clock: Clock;
  readonly logger: Logger;
}

interface Resync<T extends KubeObject> {
  readonly listeners: Set<Listener<T>>;
  timer: Timer | undefined;
}

/** Hands every change to every listener, in order. Each listener has its own buffer and its own pace. */
export class Processor<T extends KubeObject> {
  /** Opens when the first list is in the cache and distributed. */
  readonly synced = new Latch();
  readonly #options: ProcessorOptions;
  readonly #readCache: () => readonly Cached<T>[];
  readonly #listeners = new Set<Listener<T>>();
  /** One timer per period, however many handlers ask for it. */
  readonly #resyncs = new Map<number, Resync<T>>();
  #running = false;

  constructor(readCache: () => readonly Cached<T>[], options: ProcessorOptions) {
    this.#readCache = readCache;
    this.#options = options;
  }

  get size(): number {
    return this.#listeners.size;
  }

  add(handler: Handler<T>, resyncMs: number): HandlerRegistration {
    const listener = new Listener(handler, this.#options);
    const present = this.#readCache();
    if (present.length > 0) listener.add({ type: 'replayed', objects: present, as: 'initial' });
    if (this.synced.isOpen) listener.add({ type: 'synced' });
    this.#listeners.add(listener);
    if (resyncMs > 0) this.#addResync(listener, resyncMs);
    return {
      get hasSynced() {
        return listener.synced.isOpen;
      },
      waitForSync: (signal) => listener.synced.wait(signal),
      remove: () => this.#remove(listener),
    };
  }

  distribute(change: Change<T>): void {
    for (const listener of this.#listeners) listener.add(change);
  }

  /** Everything distributed so far was the initial list. */
  markSynced(): void {
    this.synced.open();
    for (const listener of this.#listeners) listener.add({ type: 'synced' });
  }

  start(): void {
    this.#running = true;
    for (const periodMs of this.#resyncs.keys()) this.#armResync(periodMs);
  }

  /** No more events are delivered, not even buffered ones. */
  stop(): void {
    this.#running = false;
    for (const { timer } of this.#resyncs.values()) timer?.cancel();
    for (const listener of this.#listeners) listener.close();
  }

  #remove(listener: Listener<T>): void {
    this.#listeners.delete(listener);
    listener.close();
    for (const [periodMs, { listeners, timer }] of this.#resyncs) {
      if (!listeners.delete(listener) || listeners.size > 0) continue;
      timer?.cancel();
      this.#resyncs.delete(periodMs);
    }
  }

  #addResync(listener: Listener<T>, periodMs: number): void {
    const resync = this.#resyncs.get(periodMs) ?? { listeners: new Set(), timer: undefined };
    resync.listeners.add(listener);
    this.#resyncs.set(periodMs, resync);
    if (this.#running) this.#armResync(periodMs);
  }

  #armResync(periodMs: number): void {
    const resync = this.#resyncs.get(periodMs);
    if (resync === undefined || resync.timer !== undefined) return;
    resync.timer = this.#options.clock.setTimer(periodMs, () => {
      resync.timer = undefined;
      this.#resync(resync.listeners);
      this.#armResync(periodMs);
    });
  }

  #resync(listeners: Iterable<Listener<T>>): void {
    if (!this.synced.isOpen) return;
    const objects = this.#readCache();
    for (const listener of listeners) listener.resync(objects);
  }
}

class Listener<T extends KubeObject> implements Task {
  readonly synced = new Latch();
  readonly #handler: Handler<T>;
  readonly #turns: Turns;
  readonly #logger: Logger;
  readonly #buffer = new Fifo<Entry<T>>();
  /** Position in the objects replayed at the head of the buffer. */
  #position = 0;
  #resyncing = false;
  #closed = false;

  constructor(handler: Handler<T>, { turns, logger }: ProcessorOptions) {
    this.#handler = handler;
    this.#turns = turns;
    this.#logger = logger;
  }

  add(entry: Entry<T>): void {
    if (this.#closed || !this.#isWanted(entry)) return;
    this.#buffer.push(entry);
    this.#turns.wake(this);
  }

  /** A listener that has not finished the last resync gets no second one. */
  resync(objects: readonly Cached<T>[]): void {
    if (this.#resyncing || objects.length === 0) return;
    const entry = { type: 'replayed', objects, as: 'resync' } as const;
    if (!this.#isWanted(entry)) return;
    this.#resyncing = true;
    this.add(entry);
  }

  close(): void {
    this.#closed = true;
    this.#buffer.clear();
    this.#turns.cancel(this);
  }

  run(hasTime: () => boolean): boolean {
    for (let head = this.#buffer.peek(); head !== undefined; head = this.#buffer.peek()) {
      const done = head.type === 'replayed' ? this.#replayNext(head.objects, head.as) : this.#deliver(head);
      if (this.#closed) return false; // the handler has removed itself
      if (done) this.#buffer.shift();
      if (!hasTime()) break;
    }
    return this.#buffer.length > 0;
  }

  /** Entries that the handler has no function for are not buffered. */
  #isWanted(entry: Entry<T>): boolean {
    switch (entry.type) {
      case 'added':
      case 'updated':
      case 'deleted':
        return this.#handler[entry.type] !== undefined;
      case 'replayed':
        return this.#handler[entry.as === 'initial' ? 'added' : 'updated'] !== undefined;
      case 'synced':
        return true;
    }
  }

  #replayNext(objects: readonly Cached<T>[], as: 'initial' | 'resync'): boolean {
    const object = objects[this.#position++];
    if (object !== undefined && as === 'initial') this.#deliver({ type: 'added', object, initial: true });
    else if (object !== undefined) this.#deliver({ type: 'updated', before: object, after: object });
    if (this.#position < objects.length) return false;
    this.#position = 0;
    if (as === 'resync') this.#resyncing = false;
    return true;
  }

  #deliver(entry: Exclude<Entry<T>, { type: 'replayed' }>): boolean {
    try {
      switch (entry.type) {
        case 'added':
          this.#handler.added?.(entry.object, entry.initial);
          break;
        case 'updated':
          this.#handler.updated?.(entry.before, entry.after);
          break;
        case 'deleted':
          this.#handler.deleted?.(entry.last, entry.missed);
          break;
        case 'synced':
          this.synced.open();
          break;
      }
    } catch (error) {
      this.#logger.error({ err: error, event: entry.type }, 'event handler failed');
    }
    return true;
  }
}
