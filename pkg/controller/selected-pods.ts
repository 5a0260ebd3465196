import {
  isEqualJson,
  keyOf,
  type Cached,
  type KubeObject,
  type ObjectKey,
  type Pod,
  type Selector,
} from '../api/index.ts';
import type { Handler, HandlerRegistration, Informer } from '../../informers/index.ts';
import type { SelectorIndex } from './selector-index.ts';
import type { Syncable } from './workers.ts';

export interface SelectedPodsOptions<T extends KubeObject> {
  readonly owners: Informer<T>;
  readonly pods: Informer<Pod>;
  readonly index: SelectorIndex<T>;
  /** Undefined: the owner selects no pod. */
  readonly selectorOf: (owner: Cached<T>) => Selector | undefined;
  readonly hasSameSelector: (before: Cached<T>, after: Cached<T>) => boolean;
  /** Whether owners care about this change of a pod. Labels do not count: they decide which owners select it. */
  readonly isRelevant: (before: Cached<Pod>, after: Cached<Pod>) => boolean;
  /** The owner was added, updated or deleted. */
  onOwnerChange(owner: ObjectKey): void;
  /** The owner selects another set of pods, or one of its pods has changed. */
  onPodChange(owner: ObjectKey): void;
}

/**
 * The pods that each owner selects. A change of a pod costs one lookup per label, and a sync of an owner reads only its
 * own pods, however many others exist.
 *
 * This state is updated by events, so it may lag behind the caches: the next event then calls back for the owner again.
 * The callbacks come after the state is updated.
 */
export class SelectedPods<T extends KubeObject> implements Syncable {
  readonly #options: SelectedPodsOptions<T>;
  readonly #members = new Map<ObjectKey, Set<ObjectKey>>();
  readonly #ownerEvents: HandlerRegistration;
  #podEvents: HandlerRegistration | undefined;

  constructor(options: SelectedPodsOptions<T>) {
    this.#options = options;
    options.owners.addIndex(options.index.index);
    options.pods.store.list(''); // builds the index by namespace now, while the cache is empty
    this.#ownerEvents = options.owners.addHandler(this.#ownerHandler());
  }

  /**
   * Adds the pod handler after all owners are known: each pod then finds its owners by index, and no owner of the
   * initial list has to search the pods of its namespace.
   */
  async waitForSync(signal: AbortSignal): Promise<void> {
    await this.#ownerEvents.waitForSync(signal);
    this.#podEvents ??= this.#options.pods.addHandler(this.#podHandler());
    await this.#podEvents.waitForSync(signal);
  }

  podsOf(owner: Cached<T>): Cached<Pod>[] {
    const isSelected = this.#options.selectorOf(owner);
    const { store } = this.#options.pods;
    const found: Cached<Pod>[] = [];
    if (isSelected === undefined) return found;
    for (const key of this.#members.get(keyOf(owner)) ?? []) {
      const pod = store.get(key);
      if (pod !== undefined && isSelected(pod.metadata.labels)) found.push(pod);
    }
    return found;
  }

  /** The owners that select the pod. */
  ownersOf(pod: Cached<Pod>): ObjectKey[] {
    const { index, owners, selectorOf } = this.#options;
    return index
      .candidates(owners.store, pod)
      .filter((owner) => selectorOf(owner)?.(pod.metadata.labels) === true)
      .map((owner) => keyOf(owner));
  }

  #ownerHandler(): Handler<T> {
    const changed = (owner: Cached<T>): void => this.#options.onOwnerChange(keyOf(owner));
    return {
      added: (owner) => {
        if (this.#podEvents !== undefined) this.#findPods(owner);
        changed(owner);
      },
      updated: (before, after) => {
        const isSame = this.#options.hasSameSelector(before, after);
        if (!isSame && this.#podEvents !== undefined) this.#findPods(after);
        changed(after);
      },
      deleted: (last) => {
        this.#members.delete(keyOf(last));
        changed(last);
      },
    };
  }

  #findPods(owner: Cached<T>): void {
    const { namespace, name } = (owner as Cached<KubeObject>).metadata;
    this.#members.delete(keyOf(owner));
    const isSelected = this.#options.selectorOf(owner);
    if (isSelected === undefined || namespace === undefined || name === '') return;
    for (const pod of this.#options.pods.store.list(namespace)) {
      if (isSelected(pod.metadata.labels)) this.#add(keyOf(owner), keyOf(pod));
    }
  }

  #podHandler(): Handler<Pod> {
    const changed = (owner: ObjectKey): void => this.#options.onPodChange(owner);
    return {
      added: (pod) => {
        for (const owner of this.ownersOf(pod)) {
          this.#add(owner, keyOf(pod));
          changed(owner);
        }
      },
      updated: (before, after) => {
        if (before.metadata.resourceVersion === after.metadata.resourceVersion) return;
        const isChanged = this.#options.isRelevant(before, after);
        if (!isEqualJson(before.metadata.labels, after.metadata.labels)) this.#move(before, after, isChanged);
        else if (isChanged) this.ownersOf(after).forEach(changed);
      },
      deleted: (last) => {
        for (const owner of this.ownersOf(last)) {
          this.#members.get(owner)?.delete(keyOf(last));
          changed(owner);
        }
      },
    };
  }

  #move(before: Cached<Pod>, after: Cached<Pod>, isChanged: boolean): void {
    const key = keyOf(after);
    const left = new Set(this.ownersOf(before));
    for (const owner of this.ownersOf(after)) {
      const stays = left.delete(owner);
      this.#add(owner, key);
      if (!stays || isChanged) this.#options.onPodChange(owner);
    }
    for (const owner of left) {
      this.#members.get(owner)?.delete(key);
      this.#options.onPodChange(owner);
    }
  }

  #add(owner: ObjectKey, pod: ObjectKey): void {
    const members = this.#members.get(owner);
    if (members === undefined) this.#members.set(owner, new Set([pod]));
    else members.add(pod);
  }
}
