import {
  apiVersionOf,
  keyOf,
  metadataOf,
  splitKey,
  type Cached,
  type KubeObject,
  type ObjectKey,
  type ResourceQuota,
} from '../../pkg/api/index.ts';
import type { HandlerRegistration, Informer, InformerFactory } from '../../informers/index.ts';
import { scopesOf, type MutableUsage } from '../../pkg/quota/index.ts';
import { addAmounts, type Amount } from '../../pkg/quantities/index.ts';
import { forEachInTurns, type Clock } from '../../pkg/time/index.ts';
import type { Charged, Evaluators } from './evaluators.ts';
import { Tally, type Change } from './tally.ts';

export interface LedgerDeps {
  readonly informers: InformerFactory;
  readonly clock: Clock;
  readonly evaluators: Evaluators;
  /** The usage of a quota has changed. */
  readonly onChange: (quota: ObjectKey, change: Change) => void;
}

/** A quota without the usage of a resource that cannot be listed is written after this long. */
const patienceMs = 30_000;

/** The usage of a quota as far as it is known. */
export interface KnownUsage {
  readonly usage: MutableUsage;
  /** The lists of some resources have not arrived yet. `late`: they may never arrive. */
  readonly missing: 'nothing' | 'soon' | 'late';
}

/** One resource whose objects are charged. */
interface Watched {
  readonly charged: Charged;
  readonly informer: Informer<KubeObject>;
  readonly registration: HandlerRegistration;
  readonly sinceMs: number;
  /** By namespace, then by quota. */
  readonly tallies: Map<string, Map<ObjectKey, Tally>>;
}

/**
 * The usage of all quotas, kept up to date by the events of the objects that they charge. Only resources that a quota
 * names are watched, through the shared informers.
 */
export class Ledger {
  readonly #deps: LedgerDeps;
  /** By resource. */
  readonly #watched = new Map<string, Watched>();
  readonly #ending = new Set<Promise<void>>();

  constructor(deps: LedgerDeps) {
    this.#deps = deps;
  }

  /** Charges for a new quota, or for one whose spec or whose kinds have changed. */
  track(quota: Cached<ResourceQuota>): void {
    const key = keyOf(quota);
    const hard = Object.keys(quota.spec?.hard ?? {});
    const scopes = scopesOf(quota);
    const all = this.#deps.evaluators.forNames(hard);
    const wanted = new Set(all.map(({ evaluator }) => evaluator.resource));
    const tracked = hard.filter((name) => all.some(({ evaluator }) => evaluator.tracks(name)));
    for (const charged of all) {
      const { evaluator } = charged;
      const names = new Set(tracked.filter((name) => evaluator.tracks(name)));
      const counted = new Set(tracked.filter((name) => names.has(name) || evaluator.alsoCharges?.(name) === true));
      const tallies = this.#talliesIn(this.#watch(charged), namespaceOf(quota));
      const former = tallies.get(key);
      const tally = new Tally(evaluator, { names, counted, scopes });
      if (former === undefined || !former.isLike(tally)) tallies.set(key, tally);
    }
    this.#drop(key, namespaceOf(quota), (resource) => !wanted.has(resource));
  }

  forget(key: ObjectKey): void {
    this.#drop(key, namespaceOfKey(key), () => true);
  }

  /** Computes all charges again with the next `count`: some change with time, some with other objects. */
  recount(key: ObjectKey): void {
    for (const { tally } of this.#talliesOf(key)) tally.isDue = true;
  }

  /** Charges all objects for which that is due. */
  async count(key: ObjectKey): Promise<void> {
    for (const { tally, watched } of this.#talliesOf(key)) {
      const { store, hasSynced } = watched.informer;
      if (!hasSynced || !tally.isDue) continue;
      tally.isDue = false; // events during the count charge their objects themselves
      const charge = (object: ObjectKey): void => void tally.charge(object, store.get(object));
      await forEachInTurns(store.list(namespaceOfKey(key)), this.#deps.clock, (object) => charge(keyOf(object)));
      await forEachInTurns([...tally.keys], this.#deps.clock, charge); // some may be gone
      tally.isComplete = true;
    }
  }

  usageOf(key: ObjectKey): KnownUsage {
    const usage: MutableUsage = new Map();
    const unknown = new Set<string>();
    let missing: KnownUsage['missing'] = 'nothing';
    for (const { tally, watched } of this.#talliesOf(key)) {
      if (!tally.isComplete) tally.names.forEach((name) => unknown.add(name));
      else tally.sums.forEach((sum, name) => usage.set(name, add(usage.get(name), sum)));
      if (tally.isComplete || missing === 'soon') continue;
      const isLate = this.#deps.clock.monotonic() - watched.sinceMs >= patienceMs;
      missing = isLate ? 'late' : 'soon';
    }
    for (const name of unknown) usage.delete(name);
    return { usage, missing };
  }

  /** The caches by which these names are charged. */
  informersOf(key: ObjectKey, names: ReadonlySet<string>): Informer<KubeObject>[] {
    return this.#talliesOf(key)
      .filter(({ tally }) => !names.isDisjointFrom(tally.counted))
      .map(({ watched }) => watched.informer);
  }

  /** Charges an object again whose cost depends on another one. */
  refresh(resource: string, key: ObjectKey): void {
    const watched = this.#watched.get(resource);
    if (watched !== undefined) this.#charge(watched, key);
  }

  /** Stops all watches. Resolves when none is left. */
  async stop(): Promise<void> {
    for (const [resource, watched] of this.#watched) this.#unwatch(resource, watched);
    await Promise.all(this.#ending);
  }

  #charge({ informer, tallies }: Pick<Watched, 'informer' | 'tallies'>, key: ObjectKey): void {
    const concerned = tallies.get(namespaceOfKey(key));
    if (concerned === undefined) return;
    const object = informer.store.get(key); // at least as new as the event
    for (const [quota, tally] of concerned) {
      const change = tally.charge(key, object);
      if (change.kind !== 'none' && tally.isComplete) this.#deps.onChange(quota, change);
    }
  }

  #watch(charged: Charged): Watched {
    const { resource } = charged.evaluator;
    const present = this.#watched.get(resource);
    if (present !== undefined) {
      if (apiVersionOf(present.charged.kind) === apiVersionOf(charged.kind)) return present;
      this.#unwatch(resource, present);
    }
    const { informers, clock } = this.#deps;
    const { kind, countsOnly } = charged;
    const whole = countsOnly ? informers.find(kind) : informers.informerFor(kind);
    const informer = whole ?? informers.informerFor(metadataOf(kind));
    const tallies: Watched['tallies'] = new Map();
    const charge = (object: Cached<KubeObject>): void => this.#charge({ informer, tallies }, keyOf(object));
    const handler = {
      added: charge,
      updated: (_: unknown, after: Cached<KubeObject>) => charge(after),
      deleted: charge,
    };
    const registration = informer.addHandler(handler, { resyncMs: 0 });
    const watched = { charged, informer, registration, sinceMs: clock.monotonic(), tallies };
    this.#watched.set(resource, watched);
    return watched;
  }

  #unwatch(resource: string, { informer, registration }: Watched): void {
    registration.remove();
    this.#watched.delete(resource);
    // Informers of whole objects may serve others, also without handlers. An informer of metadata has no other reader.
    if (informer.kind.metadataOnly !== true) return;
    const ended = this.#deps.informers.release(informer.kind).finally(() => this.#ending.delete(ended));
    this.#ending.add(ended);
  }

  #talliesIn({ tallies }: Watched, namespace: string): Map<ObjectKey, Tally> {
    const present = tallies.get(namespace) ?? new Map<ObjectKey, Tally>();
    tallies.set(namespace, present);
    return present;
  }

  #talliesOf(key: ObjectKey): { readonly tally: Tally; readonly watched: Watched }[] {
    const namespace = namespaceOfKey(key);
    return [...this.#watched.values()].flatMap((watched) => {
      const tally = watched.tallies.get(namespace)?.get(key);
      return tally === undefined ? [] : [{ tally, watched }];
    });
  }

  #drop(key: ObjectKey, namespace: string, isUnwanted: (resource: string) => boolean): void {
    for (const [resource, watched] of this.#watched) {
      const tallies = watched.tallies.get(namespace);
      if (!isUnwanted(resource) || tallies?.delete(key) !== true) continue;
      if (tallies.size === 0) watched.tallies.delete(namespace);
      if (watched.tallies.size === 0) this.#unwatch(resource, watched);
    }
  }
}

function add(first: Amount | undefined, second: Amount): Amount {
  return first === undefined ? second : addAmounts(first, second);
}

function namespaceOf({ metadata }: Cached<KubeObject>): string {
  return metadata.namespace ?? '';
}

function namespaceOfKey(key: ObjectKey): string {
  return splitKey(key).namespace ?? '';
}
