import {
  formatTime,
  freezeDeep,
  keyOf,
  resourceName,
  type Cached,
  type Kind,
  type KubeObject,
  type ObjectMeta,
  type ObjectKey,
  type ObjectOf,
} from '../api/index.ts';
import { apiErrorOf, isConflict, type Client } from '../client/index.ts';
import { byController, type ControllerContext, type PendingWrites } from '../controller/index.ts';
import type { EventRecorder, NewEvent } from '../events/index.ts';
import type { Logger } from '../log/index.ts';
import { DefinitionError } from './definition-error.ts';
import {
  ownedConfiguration,
  planEnsure,
  ResourceExistsError,
  type AppliedConfigurations,
  type OwnedConfiguration,
} from './ensure.ts';
import { createResourceClient, type ResourceClient, type WriteObserver } from './resource-client.ts';
import type { DraftOf } from './resource.ts';
import { membershipIn } from './selection.ts';
import { planStatusPatch, type StatusChange } from './status.ts';
import type { Stores, Watches } from './watch.ts';

/** The context of one reconcile. Its functions can be destructured: `reconcile(foo, { ensure })`. */
export interface ReconcileContext<T extends KubeObject = KubeObject> extends Stores {
  /** Aborts when the work must stop. Every call here ends with it. */
  readonly signal: AbortSignal;
  readonly logger: Logger;
  /** Milliseconds since 1970, by the clock of the process. */
  readonly now: () => number;
  /** Typed by the kind. The loop waits until its caches have observed these writes. */
  readonly client: ResourceClient;
  /** The objects of a kind in `owns` that this object controls. */
  owned<K extends Kind>(kind: K): readonly Cached<ObjectOf<K>>[];
  /**
   * Creates or repairs an object that this one owns, by server-side apply, and returns it. The controller owns the fields
   * that are given, and no others. Costs no request if nothing has to change.
   *
   * Throws a `ResourceExistsError`, and records the event `ErrResourceExists`, if an object of that name has another
   * controller or none.
   */
  ensure<K extends Kind>(kind: K, desired: Cached<DraftOf<K>>): Promise<Cached<ObjectOf<K>>>;
  /** Changes these fields of the object's status. Costs no request if they have these values. */
  patchStatus(change: StatusChange<T>): Promise<void>;
  /** Records an event about the object. */
  event(type: NewEvent['type'], reason: string, message: string): void;
}

/** What all reconciles of one run of a controller share. */
export interface Shared {
  readonly controllerName: string;
  readonly context: ControllerContext;
  readonly client: Client;
  readonly recorder: EventRecorder;
  readonly primary: Kind;
  readonly owned: ReadonlySet<string>;
  readonly watches: Watches;
  readonly writes: ReadonlyMap<string, PendingWrites<KubeObject>>;
  readonly applied: AppliedConfigurations;
}

/** One reconcile: the object after the writes so far, and the context for its author. */
export class Reconciliation {
  readonly context: ReconcileContext;
  readonly #shared: Shared;
  readonly #key: ObjectKey;
  #object: Cached<KubeObject>;

  constructor(shared: Shared, object: Cached<KubeObject>, signal: AbortSignal) {
    this.#shared = shared;
    this.#key = keyOf(object);
    this.#object = object;
    const { context, client, controllerName, watches } = shared;
    const { logger, clock } = context;
    const observer = this.#observer();
    this.context = {
      signal,
      logger: logger.child({ object: this.#key }),
      now: () => clock.now(),
      client: createResourceClient(client, { signal, fieldManager: controllerName, observer }),
      store: (kind) => watches.store(kind),
      owned: (kind) => {
        this.#checkOwned(kind);
        return watches.store(kind).byIndex(byController, this.#object.metadata.uid);
      },
      ensure: (kind, desired) => this.#ensure(kind, desired),
      patchStatus: (change) => this.#patchStatus(change),
      event: (type, reason, message) => shared.recorder.event(shared.primary, this.#object, { type, reason, message }),
    };
  }

  /** The newest known state of the object. */
  get object(): Cached<KubeObject> {
    return this.#object;
  }

  /** Replaces the list of finalizers. A conflict if the object has changed since it was read. */
  async setFinalizers(finalizers: readonly string[]): Promise<void> {
    const { resourceVersion } = this.#object.metadata;
    const change = { metadata: { finalizers: [...finalizers], resourceVersion } };
    await this.context.client.patch(this.#shared.primary, this.#key, change);
  }

  /** Records own writes, so that the loop waits for them, and follows the state of the object itself. */
  #observer(): WriteObserver {
    const { writes, primary, watches } = this.#shared;
    return {
      wrote: (kind, answer) => {
        const newer = answer.metadata.resourceVersion;
        if (watches.observes(kind, answer)) writes.get(resourceName(kind))?.wrote(this.#key, newer);
        const isSelf = resourceName(kind) === resourceName(primary) && keyOf(answer) === this.#key;
        if (isSelf && kind.metadataOnly !== true) this.#object = freezeDeep(answer);
      },
      deleted: (kind, key) => {
        const uid = watches.find(kind)?.store.get(key)?.metadata.uid;
        if (uid !== undefined) writes.get(resourceName(kind))?.deleted(this.#key, key, uid);
      },
    };
  }

  async #patchStatus(change: object): Promise<void> {
    const { primary, context } = this.#shared;
    const { status, metadata } = this.#object as Cached<KubeObject> & { readonly status?: unknown };
    const { resourceVersion, generation } = metadata;
    const facts = { resourceVersion, generation, now: formatTime(context.clock.now()) };
    const body = planStatusPatch(status, change as Readonly<Record<string, unknown>>, facts);
    if (body === undefined) return;
    const patch = { type: 'merge', body, subresource: 'status', fieldManager: this.#shared.controllerName } as const;
    const answer = await this.#shared.client.patch(primary, this.#key, patch, this.context.signal);
    this.#observer().wrote(primary, answer);
  }

  #checkOwned(kind: Kind): void {
    if (this.#shared.owned.has(resourceName(kind))) return;
    throw new DefinitionError(
      `${this.#shared.controllerName}: add ${kind.kind} to owns, or changes of it go unnoticed`,
    );
  }

  #checkSelected(kind: Kind, configuration: OwnedConfiguration): void {
    const informer = this.#shared.watches.find(kind);
    if (informer === undefined) return;
    const membership = membershipIn(informer.scope, configuration, { isPartial: true });
    if (membership.kind !== 'excluded') return;
    const what = `ensure ${kind.kind} ${JSON.stringify(configuration.metadata.name)}`;
    throw new DefinitionError(
      `${this.#shared.controllerName}: ${what}: ${membership.why}: changes of it would go unnoticed`,
    );
  }

  async #ensure<K extends Kind>(kind: K, desired: Desired): Promise<Cached<ObjectOf<K>>> {
    this.#checkOwned(kind);
    const { watches, applied, primary } = this.#shared;
    const owner = this.#object;
    const configuration = ownedConfiguration({ kind: primary, object: owner }, kind, desired);
    this.#checkSelected(kind, configuration);
    const key = keyOf(configuration);
    const lastApplied = applied.get(this.#key, configuration);
    let existing: Cached<KubeObject> | undefined = watches.find(kind)?.store.get(key);
    let plan = planEnsure({ configuration, existing, owner, lastApplied });
    if (plan === 'create') {
      // The cache may be stale: an apply would adopt an object that another client has just created.
      existing = await this.context.client.find<Kind>(kind, key);
      plan = planEnsure({ configuration, existing, owner, lastApplied });
    }
    if (plan === 'refuse') throw this.#refusal(configuration);
    if (plan === 'leave' && existing !== undefined) return existing as Cached<ObjectOf<K>>;
    const answer = await this.#apply(kind, configuration, existing);
    applied.set(this.#key, configuration, answer);
    return freezeDeep(answer) as Cached<ObjectOf<K>>;
  }

  async #apply(kind: Kind, configuration: OwnedConfiguration, existing: Cached<KubeObject> | undefined) {
    // With the uid, an object that was deleted and created again by another client is a conflict. So is an object that
    // another client creates right now, unless its fields have the same values: the apply is not forced.
    const body =
      existing === undefined
        ? configuration
        : { ...configuration, metadata: { ...configuration.metadata, uid: existing.metadata.uid } };
    try {
      return await this.context.client.apply(kind, body, { force: existing !== undefined });
    } catch (error) {
      if (existing === undefined && isConflict(error)) throw this.#refusal(configuration, error);
      throw error;
    }
  }

  #refusal(configuration: OwnedConfiguration, cause?: unknown): ResourceExistsError {
    const { kind } = this.#shared.primary;
    const message = `Resource ${JSON.stringify(configuration.metadata.name)} already exists and is not managed by ${kind}`;
    this.context.event('Warning', 'ErrResourceExists', message);
    return new ResourceExistsError(message, { cause: apiErrorOf(cause) });
  }
}

type Desired = Readonly<Record<string, unknown>> & { readonly metadata: Cached<ObjectMeta> };
