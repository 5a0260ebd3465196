import { freezeDeep, resourceName } from '../pkg/api/index.ts';
import type { Kind, KubeObject } from '../pkg/api/index.ts';
import type { Logger } from '../pkg/log/index.ts';
import { systemRandom, Turns } from '../pkg/time/index.ts';
import type { Clock, Random } from '../pkg/time/index.ts';
import { Indexer } from './indexer.ts';
import type {
  Handler,
  HandlerOptions,
  HandlerRegistration,
  Index,
  Informer,
  InformerScope,
  Store,
} from './informer.ts';
import { InformerError } from './informer-error.ts';
import type { InformerMetrics, InformerMetricsSource } from './metrics.ts';
import { Processor } from './processor.ts';
import { runReflector } from './reflector.ts';
import type { ListWatchClient } from './reflector.ts';
import { createSharing } from './sharing.ts';
import { StoreUpdates } from './store-updates.ts';

/** Settings of one kind. */
export interface InformerSettings<T extends KubeObject> extends InformerScope {
  /** The resync period of handlers that set none. Default 0: no resync. */
  readonly resyncMs?: number | undefined;
  /**
   * Applied to every object before anything keeps it. It may change and return the object it is given. Use it to drop
   * fields that nobody reads. Name, namespace, uid and resourceVersion must stay.
   */
  transform?(object: T): T;
}

/** Dependencies that all informers of a process share. */
export interface InformerDependencies {
  readonly client: ListWatchClient;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics?: InformerMetricsSource | undefined;
  /** From 0 up to 1: spreads retries and the ends of watches. Default `systemRandom`. */
  readonly random?: Random | undefined;
  /**
   * A watch that is silent for this long is replaced. Default 150 s: the server sends a bookmark every minute.
   */
  readonly idleTimeoutMs?: number | undefined;
  /**
   * Freeze every object before anything keeps it, so that code which changes a cached object fails at once. Costs time
   * for each object: for development. Default false.
   */
  readonly freeze?: boolean | undefined;
  /** Informers with the same turns share the CPU fairly. Default: turns of its own. */
  readonly turns?: Turns | undefined;
}

/** The state of one cache. */
export interface CacheInspection {
  readonly kind: Kind;
  readonly size: number;
  readonly hasSynced: boolean;
  /** When the last event was applied, by the monotonic clock. Undefined before the first one, and without metrics. */
  readonly changedAtMs: number | undefined;
}

const defaultIdleTimeoutMs = 150_000;

/** Joins the parts: reflector → store updates → indexer and processor. */
export class SharedInformer<T extends KubeObject> implements Informer<T> {
  readonly kind: Kind<T>;
  readonly store: Store<T>;
  readonly scope: InformerScope;
  readonly #dependencies: InformerDependencies;
  readonly #settings: InformerSettings<T>;
  readonly #logger: Logger;
  readonly #indexer: Indexer<T>;
  readonly #updates: StoreUpdates<T>;
  readonly #processor: Processor<T>;
  readonly #metrics: InformerMetrics | undefined;
  readonly #share = createSharing<T>();
  #state: 'new' | 'running' | 'ended' = 'new';
  #released = false;

  constructor(kind: Kind<T>, dependencies: InformerDependencies, settings: InformerSettings<T> = {}) {
    const { clock } = dependencies;
    this.kind = kind;
    this.#dependencies = dependencies;
    this.#settings = settings;
    const { namespace, labelSelector, fieldSelector } = settings;
    this.scope = { namespace, labelSelector, fieldSelector };
    this.#logger = dependencies.logger.child({ resource: resourceName(kind) });
    const turns = dependencies.turns ?? new Turns(clock);
    this.#indexer = new Indexer((index, error) => {
      this.#logger.error({ err: error, index }, 'index function failed');
    });
    this.store = this.#indexer;
    this.#processor = new Processor(() => this.#indexer.list(), { turns, clock, logger: this.#logger });
    this.#metrics = dependencies.metrics?.(kind);
    this.#updates = new StoreUpdates({
      turns,
      indexer: this.#indexer,
      processor: this.#processor,
      observe: this.#metrics === undefined ? undefined : { clock, metrics: this.#metrics },
    });
    this.#metrics?.readQueuedItems(() => this.#updates.length);
  }

  get hasSynced(): boolean {
    return this.#processor.synced.isOpen;
  }

  /** For people who look. */
  inspect(): CacheInspection {
    const changedAtMs = this.#updates.changedAtMs;
    return { kind: this.kind, size: this.store.size, hasSynced: this.hasSynced, changedAtMs };
  }

  get #freezes(): boolean {
    return this.#dependencies.freeze === true;
  }

  get handlerCount(): number {
    return this.#processor.size;
  }

  addIndex(index: Index<T>): void {
    this.#indexer.addIndex(index);
  }

  /** The factory has given this informer up: from now on a handler would never be called. */
  markReleased(): void {
    this.#released = true;
  }

  addHandler(handler: Handler<T>, options: HandlerOptions = {}): HandlerRegistration {
    if (this.#released) {
      const name = resourceName(this.kind);
      throw new InformerError('Released', `add a handler for ${name}: its informer was released, ask for a new one`);
    }
    return this.#processor.add(handler, options.resyncMs ?? this.#settings.resyncMs ?? 0);
  }

  waitForSync(signal: AbortSignal): Promise<void> {
    return this.#processor.synced.wait(signal);
  }

  /** Runs until the signal aborts. Can run once. When it resolves, nothing of it is left running. */
  async run(signal: AbortSignal): Promise<void> {
    if (this.#state !== 'new')
      throw new InformerStartedError(`informer of ${resourceName(this.kind)} has already been started`);
    this.#state = 'running';
    this.#processor.start();
    try {
      await this.#reflect(signal);
    } finally {
      this.#state = 'ended';
      this.#updates.close();
      this.#processor.stop();
      this.#metrics?.remove();
    }
  }

  #reflect(signal: AbortSignal): Promise<void> {
    const { client, clock, random = systemRandom, idleTimeoutMs = defaultIdleTimeoutMs } = this.#dependencies;
    return runReflector(
      {
        client,
        kind: this.kind,
        scope: this.scope,
        transform: (object) => this.#transform(object),
        sharesParts: this.#settings.transform === undefined,
        sink: this.#updates,
        clock,
        random,
        logger: this.#logger,
        idleTimeoutMs,
      },
      signal,
    );
  }

  /** If the transform fails, the object is kept as received: larger than necessary, but not missing. */
  #transform(object: T): T {
    try {
      const kept = this.#settings.transform?.(object) ?? object;
      return this.#freezes ? freezeDeep(kept) : this.#share(kept); // sharing writes into objects
    } catch (error) {
      this.#logger.error({ err: error }, 'transform failed');
      return object;
    }
  }
}

/** An informer runs once: a second run would deliver every event twice. */
export class InformerStartedError extends Error {
  override readonly name = 'InformerStartedError';
  readonly reason = 'InformerStarted';
}
