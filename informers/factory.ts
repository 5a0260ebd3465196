import { apiVersionOf, resourceName } from '../pkg/api/index.ts';
import type { Kind, KubeObject } from '../pkg/api/index.ts';
import type { Informer, InformerFactory, InformerSelection } from './informer.ts';
import { InformerError } from './informer-error.ts';
import { SharedInformer } from './shared-informer.ts';
import type { CacheInspection, InformerDependencies, InformerSettings } from './shared-informer.ts';
import { Turns } from '../pkg/time/index.ts';

export interface SharedInformerFactoryOptions extends InformerDependencies {
  /** Only objects of this namespace. Default: all. Cluster-scoped kinds are not affected. */
  readonly namespace?: string | undefined;
  /** The resync period of handlers that set none, for kinds without settings of their own. Default 0: no resync. */
  readonly resyncMs?: number | undefined;
  /** Made by `settingsFor`. */
  readonly settings?: readonly KindSettings[] | undefined;
}

/** The settings of one kind. `settingsFor` has checked their type. */
export interface KindSettings {
  readonly kind: Kind;
  readonly settings: InformerSettings<KubeObject>;
}

/** How the informer of one kind differs from the others: list options, resync period, transform. */
export function settingsFor<T extends KubeObject>(kind: Kind<T>, settings: InformerSettings<T>): KindSettings {
  return { kind, settings };
}

/** One informer that is not shared and that the caller runs. */
export function createInformer<T extends KubeObject>(
  kind: Kind<T>,
  dependencies: InformerDependencies,
  settings?: InformerSettings<T>,
): Informer<T> & { run(signal: AbortSignal): Promise<void> } {
  return new SharedInformer(kind, dependencies, settings);
}

interface Member {
  readonly informer: SharedInformer<KubeObject>;
  readonly stop: AbortController;
  /** Settles when the informer has ended. Absent: not started. */
  running: Promise<void> | undefined;
}

/**
 * Makes one informer per kind for the whole process, and one more for its metadata alone or for a selection.
 *
 * Nothing runs before `start`, so handlers and indexes can be added first. An informer that is asked for later starts at
 * once. All informers share the CPU in turns. The signal of the first `start`, or `shutdown`, ends the factory: informers
 * made afterwards never run.
 */
export class SharedInformerFactory implements InformerFactory {
  readonly #options: SharedInformerFactoryOptions;
  readonly #members = new Map<string, Member>();
  readonly #ending = new Set<Promise<void>>();
  readonly #stop = new AbortController();
  #started = false;

  constructor(options: SharedInformerFactoryOptions) {
    this.#options = { ...options, turns: options.turns ?? new Turns(options.clock) };
  }

  informerFor<T extends KubeObject>(kind: Kind<T>, selection: InformerSelection = {}): Informer<T> {
    const id = idOf(kind, selection);
    let member = this.#members.get(id);
    if (member === undefined) {
      const informer = new SharedInformer(kind, this.#options, { ...this.#settingsOf(kind), ...selection });
      member = {
        informer: informer as unknown as SharedInformer<KubeObject>,
        stop: new AbortController(),
        running: undefined,
      };
      this.#members.set(id, member);
      if (this.#started) this.#startMember(member);
    }
    return member.informer as unknown as Informer<T>; // one id, one kind, one T
  }

  find<T extends KubeObject>(kind: Kind<T>): Informer<T> | undefined {
    const { namespace, labelSelector, fieldSelector } = this.#settingsOf(kind);
    const isPart = [namespace, labelSelector, fieldSelector].some((selection) => selection !== undefined);
    return isPart || !this.#members.has(idOf(kind)) ? undefined : this.informerFor(kind);
  }

  /** Starts every informer. Informers asked for later start by themselves. A second call has no effect. */
  start(signal: AbortSignal): void {
    if (this.#started || this.#stop.signal.aborted) return;
    this.#started = true;
    if (signal.aborted) {
      this.#stopAll();
      return;
    }
    const stopAll = (): void => this.#stopAll();
    signal.addEventListener('abort', stopAll, { once: true });
    this.#stop.signal.addEventListener('abort', () => signal.removeEventListener('abort', stopAll), { once: true });
    for (const member of this.#members.values()) this.#startMember(member);
  }

  /**
   * Resolves once the store of every present informer holds its whole initial list. Before `start` it throws an
   * `InformerError`: that would be a wait without end.
   */
  async waitForCacheSync(signal: AbortSignal): Promise<void> {
    if (!this.#started) throw new InformerError('NotStarted', 'wait for caches: the informers are not started');
    await Promise.all([...this.#members.values()].map(({ informer }) => informer.waitForSync(signal)));
  }

  /** The resources whose initial list has not arrived yet. */
  get unsynced(): readonly string[] {
    const waiting = [...this.#members.values()].filter(({ informer }) => !informer.hasSynced);
    return waiting.map(({ informer }) => resourceName(informer.kind));
  }

  /** The state of every cache, for people who look. */
  inspect(): readonly CacheInspection[] {
    return [...this.#members.values()].map(({ informer }) => informer.inspect());
  }

  /** Resolves once the informer has ended. An informer with handlers does not end: another controller needs it. */
  async release(kind: Kind, selection: InformerSelection = {}): Promise<void> {
    const id = idOf(kind, selection);
    const member = this.#members.get(id);
    if (member === undefined || member.informer.handlerCount > 0) return;
    this.#members.delete(id);
    member.informer.markReleased();
    member.stop.abort();
    await member.running;
  }

  /** Stops every informer permanently, and resolves when nothing is left running. */
  async shutdown(): Promise<void> {
    this.#stopAll();
    await Promise.all(this.#ending);
  }

  #stopAll(): void {
    this.#stop.abort();
    for (const { stop } of this.#members.values()) stop.abort();
  }

  #startMember(member: Member): void {
    if (this.#stop.signal.aborted) return;
    const running = member.informer.run(member.stop.signal);
    const ended = running.finally(() => this.#ending.delete(ended));
    member.running = ended;
    this.#ending.add(ended);
  }

  #settingsOf<T extends KubeObject>(kind: Kind<T>): InformerSettings<T> {
    const { namespace, resyncMs, settings = [] } = this.#options;
    const own = settings.find((each) => idOf(each.kind) === idOf(kind))?.settings;
    const scope = kind.namespaced ? { namespace } : {};
    return { ...scope, resyncMs, ...(own as InformerSettings<T> | undefined) };
  }
}

export function createSharedInformerFactory(options: SharedInformerFactoryOptions): SharedInformerFactory {
  return new SharedInformerFactory(options);
}

function idOf(kind: Kind, { labelSelector = '', fieldSelector = '' }: InformerSelection = {}): string {
  const form = kind.metadataOnly === true ? 'metadata' : 'objects';
  return `${form} of ${apiVersionOf(kind)}/${kind.resource}?${labelSelector}&${fieldSelector}`;
}
