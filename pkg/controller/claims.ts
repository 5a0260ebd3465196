import { keyOf, type Cached, type KubeObject, type Labels, type ObjectKey, type Selector } from '../api/index.ts';
import type { Client } from '../client/index.ts';
import type { Handler, Informer } from '../../informers/index.ts';
import { enqueueOwnerOrAdopters, type KeySink } from './handlers.ts';
import { byController } from './indexes.ts';
import { orphansByLabel, orphansWith } from './orphans.ts';
import { selectorOrNone, usableSelector } from './owner-selector.ts';
import { applyClaims, planClaims, type ClaimPlan } from './ownership.ts';
import type { PendingWrites } from './pending-writes.ts';
import { defineSelectorIndex } from './selector-index.ts';

export interface ClaimOptions<Owner extends KubeObject, T extends KubeObject> {
  readonly client: Client;
  readonly owners: Informer<Owner>;
  readonly dependents: Informer<T>;
  /** The owner's selector. Throws `InvalidSelectorError` if it breaks the rules of the API. */
  selectorOf(owner: Cached<Owner>): Selector;
  /** Labels that every selected object has. Owners and orphans are indexed by them. */
  requiredLabelsOf(owner: Cached<Owner>): Labels;
  /** What makes a dependent the owner's besides its labels. Default: nothing. */
  isMember?(owner: Cached<Owner>, dependent: Cached<T>): boolean;
  /** Adoptions and releases are recorded here. */
  readonly written: PendingWrites<T>;
  /** Added on adoption, removed on release. */
  readonly finalizer?: string | undefined;
}

/** The dependents that an owner has, adopts and releases. */
export interface Claims<Owner extends KubeObject, T extends KubeObject> {
  /** Enqueues the controller of a changed dependent. For an orphan, enqueues every owner that may adopt it. */
  handler(queue: KeySink): Handler<T>;
  /** The dependents that name the owner as their controller, selected or not. */
  ownedBy(owner: Cached<KubeObject>): readonly Cached<T>[];
  /** How many `ownedBy` would return. */
  countOwnedBy(owner: Cached<KubeObject>): number;
  /** The owner's selector. An unusable one is a `TerminalError`: only its author can fix it. */
  selectorOf(owner: Cached<Owner>): Selector;
  /** Plans adoptions and releases among the owner's dependents and the orphans with its labels that `isCandidate` accepts. */
  plan(owner: Cached<Owner>, isCandidate?: (dependent: Cached<T>) => boolean): ClaimPlan<T>;
  /** Adopts and releases as planned. Returns the owner's dependents afterwards. */
  apply(plan: ClaimPlan<T>, owner: Cached<Owner>, signal: AbortSignal): Promise<readonly Cached<T>[]>;
}

/** Adds the indexes that find the owners of a dependent and the dependents of an owner. Call it before the informers start. */
export function createClaims<Owner extends KubeObject, T extends KubeObject>(
  options: ClaimOptions<Owner, T>,
): Claims<Owner, T> {
  const { client, owners, dependents, written, finalizer } = options;
  const { kind: ownerKind } = owners;
  const ownersBySelector = defineSelectorIndex<Owner>('selector', (owner) => options.requiredLabelsOf(owner));
  owners.addIndex(ownersBySelector.index);
  dependents.addIndex(byController);
  dependents.addIndex(orphansByLabel);

  function possibleOwnersOf(orphan: Cached<T>): ObjectKey[] {
    const { labels } = (orphan as Cached<KubeObject>).metadata;
    return ownersBySelector
      .candidates(owners.store, orphan as Cached<KubeObject>)
      .filter((owner) => selectorOrNone(() => options.selectorOf(owner))(labels))
      .map(keyOf);
  }

  const ownedBy = (owner: Cached<KubeObject>): readonly Cached<T>[] =>
    dependents.store.byIndex(byController, owner.metadata.uid);
  const selectorOf = (owner: Cached<Owner>): Selector =>
    usableSelector(ownerKind, owner, () => options.selectorOf(owner));

  return {
    handler: (queue) => enqueueOwnerOrAdopters<T>(queue, ownerKind, possibleOwnersOf),
    ownedBy,
    countOwnedBy: (owner) => dependents.store.countByIndex(byController, owner.metadata.uid),
    selectorOf,
    plan(owner, isCandidate = () => true) {
      const { namespace } = (owner as Cached<KubeObject>).metadata;
      const orphans = orphansWith<T>(dependents.store, namespace, options.requiredLabelsOf(owner));
      const candidates = [...ownedBy(owner as Cached<KubeObject>), ...orphans].filter(isCandidate);
      return planClaims<T>(
        owner,
        selectorOf(owner),
        candidates,
        (candidate) => options.isMember?.(owner, candidate) ?? true,
      );
    },
    apply(plan, owner, signal) {
      const onWritten = ({ metadata }: KubeObject): void => written.wrote(keyOf(owner), metadata.resourceVersion);
      const claim = {
        client,
        ownerKind,
        owner: owner as Cached<KubeObject>,
        kind: dependents.kind,
        finalizer,
        onWritten,
      };
      return applyClaims<T>(plan, claim, signal);
    },
  };
}
