import type { MetricsRegistry } from '../pkg/metrics/index.ts';
import type { Clock } from '../pkg/time/index.ts';
import { DelayHeap, InvalidDelayError } from './delay-heap.ts';
import { GroupedFifo } from './grouped-fifo.ts';
import { defineQueueMetrics } from './metrics.ts';
import type { QueueMetrics, QueueState } from './metrics.ts';
import { defaultRateLimiter } from './rate-limiter.ts';
import type { RateLimiter } from './rate-limiter.ts';
import { WaitingTakers } from './waiting-takers.ts';
import type { KeyPlace, QueueInspection, WorkQueue } from './work-queue.ts';

export interface WorkQueueOptions<K> {
  /** The label of its metrics. */
  readonly name: string;
  readonly clock: Clock;
  /** Default: `defaultRateLimiter()`. Has state per key, so queues must not share one. */
  readonly rateLimiter?: RateLimiter<K> | undefined;
  /**
   * Groups take turns. While one group occupies all workers, a spare worker serves the other groups: see `takeSpare`.
   * Default: all keys are one group.
   */
  readonly groupOf?: ((key: K) => string) | undefined;
  /** Default: no metrics. */
  readonly metrics?: MetricsRegistry | undefined;
}

export function createWorkQueue<K>(options: WorkQueueOptions<K>): WorkQueue<K> {
  return new Queue(options);
}

class Queue<K> implements WorkQueue<K>, QueueState {
  readonly #name: string;
  readonly #clock: Clock;
  readonly #rateLimiter: RateLimiter<K>;
  readonly #metrics: QueueMetrics | undefined;
  readonly #delays: DelayHeap<K>;
  readonly #takers = new WaitingTakers<K>();
  readonly #spareTakers = new WaitingTakers<K>();
  /** Workers, not counting the spare one. */
  #workers = Number.POSITIVE_INFINITY;
  readonly #groupOf: (key: K) => string;
  /** Keys to be processed, with the time they were added: those in `#order`, and those added while in progress. */
  readonly #dirty = new Map<K, number>();
  /** Keys in progress, with the time they were taken. */
  readonly #processing = new Map<K, number>();
  /** How many keys of each group are in progress. */
  readonly #held = new Map<string, number>();
  readonly #order: GroupedFifo<K>;
  #shuttingDown = false;
  #added = 0;
  readonly #drained: (() => void)[] = [];

  constructor({ name, clock, rateLimiter, groupOf = () => '', metrics }: WorkQueueOptions<K>) {
    this.#name = name;
    this.#groupOf = groupOf;
    this.#order = new GroupedFifo(groupOf);
    this.#clock = clock;
    this.#rateLimiter = rateLimiter ?? defaultRateLimiter();
    this.#delays = new DelayHeap(clock, (key) => this.add(key));
    this.#metrics = metrics && defineQueueMetrics(metrics, name, this);
  }

  get length(): number {
    return this.#order.length;
  }

  add(key: K): void {
    if (this.#shuttingDown || this.#dirty.has(key)) return;
    this.#metrics?.adds.inc();
    this.#added++;
    this.#dirty.set(key, this.#clock.monotonic());
    if (!this.#processing.has(key)) this.#enqueue(key);
  }

  addAfter(key: K, delayMs: number): void {
    if (!Number.isFinite(delayMs)) throw new InvalidDelayError(key, delayMs);
    if (this.#shuttingDown) return;
    this.#metrics?.retries.inc();
    if (delayMs <= 0) this.add(key);
    else this.#delays.add(key, delayMs);
  }

  cancelDelay(key: K): void {
    this.#delays.remove(key);
  }

  addRateLimited(key: K): void {
    this.addAfter(key, this.#rateLimiter.nextDelayMs(key, this.#clock.monotonic()));
  }

  forget(key: K): void {
    this.#rateLimiter.forget(key);
  }

  numRequeues(key: K): number {
    return this.#rateLimiter.numRequeues(key);
  }

  take(signal: AbortSignal): Promise<K | undefined> {
    if (signal.aborted) return Promise.resolve(undefined);
    if (this.#order.length > 0) return Promise.resolve(this.#takeNext());
    if (this.#shuttingDown) return Promise.resolve(undefined);
    return this.#takers.wait(signal);
  }

  takeSpare(workers: number, signal: AbortSignal): Promise<K | undefined> {
    if (signal.aborted || this.#shuttingDown) return Promise.resolve(undefined);
    this.#workers = workers;
    const taken = this.#spareTakers.wait(signal);
    this.#serveSpare();
    return taken;
  }

  done(key: K): void {
    const takenAtMs = this.#processing.get(key);
    if (takenAtMs === undefined) return;
    this.#processing.delete(key);
    this.#countHeld(key, -1);
    this.#metrics?.workSeconds.observe((this.#clock.monotonic() - takenAtMs) / 1000);
    if (this.#dirty.has(key)) this.#enqueue(key);
    if (this.#processing.size === 0) this.#endDrain();
  }

  async shutDown({ drain = false }: { readonly drain?: boolean } = {}): Promise<void> {
    this.#shuttingDown = true;
    this.#delays.clear();
    this.#takers.releaseAll();
    this.#spareTakers.releaseAll();
    if (!drain) this.#endDrain();
    else if (this.#processing.size > 0) await new Promise<void>((resolve) => this.#drained.push(resolve));
  }

  inspect(limit: number): QueueInspection<K> {
    const nowMs = this.#clock.monotonic();
    return {
      name: this.#name,
      added: this.#added,
      waiting: [...this.#dirty.keys().take(limit)],
      waitingCount: this.#dirty.size,
      delayed: this.#delays.next(limit).map(({ key, readyAtMs }) => ({
        key,
        dueInMs: readyAtMs - nowMs,
        retries: this.numRequeues(key),
      })),
      delayedCount: this.#delays.size,
      running: [...this.#processing.entries().take(limit)].map(([key, takenAtMs]) => ({
        key,
        forMs: nowMs - takenAtMs,
      })),
    };
  }

  find(key: K): KeyPlace | undefined {
    const nowMs = this.#clock.monotonic();
    const retries = this.numRequeues(key);
    const takenAtMs = this.#processing.get(key);
    if (takenAtMs !== undefined) return { state: 'running', ms: nowMs - takenAtMs, retries };
    if (this.#dirty.has(key)) return { state: 'waiting', ms: 0, retries };
    const readyAtMs = this.#delays.readyAtMs(key);
    return readyAtMs === undefined ? undefined : { state: 'delayed', ms: readyAtMs - nowMs, retries };
  }

  depth(): number {
    return this.#dirty.size;
  }

  unfinishedSeconds(): number {
    const nowMs = this.#clock.monotonic();
    return this.#processing.values().reduce((sum, takenAtMs) => sum + (nowMs - takenAtMs) / 1000, 0);
  }

  longestRunningSeconds(): number {
    const nowMs = this.#clock.monotonic();
    return this.#processing.values().reduce((max, takenAtMs) => Math.max(max, (nowMs - takenAtMs) / 1000), 0);
  }

  #enqueue(key: K): void {
    this.#order.push(key);
    if (this.#takers.isEmpty) return this.#serveSpare();
    const next = this.#takeNext();
    if (next !== undefined) this.#takers.give(next);
  }

  #takeNext(): K | undefined {
    const key = this.#hold(this.#order.shift());
    this.#serveSpare();
    return key;
  }

  #serveSpare(): void {
    if (this.#spareTakers.isEmpty || this.#order.length === 0 || this.#processing.size < this.#workers) return;
    for (const [group, held] of this.#held) {
      if (held < this.#workers) continue;
      const key = this.#hold(this.#order.shift(group));
      if (key !== undefined) this.#spareTakers.give(key);
      return;
    }
  }

  #countHeld(key: K, change: 1 | -1): void {
    const group = this.#groupOf(key);
    const held = (this.#held.get(group) ?? 0) + change;
    if (held === 0) this.#held.delete(group);
    else this.#held.set(group, held);
  }

  #hold(key: K | undefined): K | undefined {
    if (key === undefined) return undefined;
    const nowMs = this.#clock.monotonic();
    this.#metrics?.queueSeconds.observe((nowMs - (this.#dirty.get(key) ?? nowMs)) / 1000);
    this.#dirty.delete(key);
    this.#processing.set(key, nowMs);
    this.#countHeld(key, 1);
    return key;
  }

  #endDrain(): void {
    for (const resolve of this.#drained.splice(0)) resolve();
  }
}
