import {
  isEqualJson,
  keyOf,
  selectorFromSet,
  type Cached,
  type ObjectKey,
  type Pod,
  type Service,
} from '../api/index.ts';
import { defineSelectorIndex, type Syncable } from '../controller/index.ts';
import type { Handler, HandlerRegistration, Informer } from '../../informers/index.ts';
import { isEndpointChange } from './pods.ts';

const servicesBySelector = defineSelectorIndex<Service>('spec.selector', ({ spec }) => spec.selector);

export interface ServicePodsOptions {
  readonly services: Informer<Service>;
  readonly pods: Informer<Pod>;
  /** The Service came, went, or was changed. */
  onServiceChange(service: ObjectKey): void;
  /** A pod came under the Service, left it, or has become another endpoint. */
  onPodChange(service: ObjectKey): void;
}

/**
 * Keeps which pods each Service selects. A change of a pod costs one look-up for each of its labels, and a sync of a
 * Service reads its own pods alone, however many others there are.
 *
 * What is kept follows the events, so it may lag behind the caches by as much as those do: the event that is still to
 * come tells of the Service again. A Service is told of only after what is kept has followed.
 */
export class ServicePods implements Syncable {
  readonly #options: ServicePodsOptions;
  readonly #members = new Map<ObjectKey, Set<ObjectKey>>();
  readonly #serviceEvents: HandlerRegistration;
  #podEvents: HandlerRegistration | undefined;

  constructor(options: ServicePodsOptions) {
    this.#options = options;
    options.services.addIndex(servicesBySelector.index);
    options.pods.store.list(''); // has the index by namespace built now, while there is nothing to index yet
    this.#serviceEvents = options.services.addHandler(this.#serviceHandler());
  }

  /**
   * Pods are followed once all Services are known: each then finds its Services at once, and no Service of the initial
   * list has to look through the pods of its namespace.
   */
  async waitForSync(signal: AbortSignal): Promise<void> {
    await this.#serviceEvents.waitForSync(signal);
    this.#podEvents ??= this.#options.pods.addHandler(this.#podHandler());
    await this.#podEvents.waitForSync(signal);
  }

  podsOf(service: Cached<Service>): Cached<Pod>[] {
    const isSelected = selectorFromSet(service.spec.selector ?? {});
    const { store } = this.#options.pods;
    const found: Cached<Pod>[] = [];
    for (const key of this.#members.get(keyOf(service)) ?? []) {
      const pod = store.get(key);
      if (pod !== undefined && isSelected(pod.metadata.labels)) found.push(pod);
    }
    return found;
  }

  #serviceHandler(): Handler<Service> {
    const changed = (service: Cached<Service>): void => this.#options.onServiceChange(keyOf(service));
    return {
      added: (service) => {
        if (this.#podEvents !== undefined) this.#lookForPods(service);
        changed(service);
      },
      updated: (before, after) => {
        const isSame = isEqualJson(before.spec.selector, after.spec.selector);
        if (!isSame && this.#podEvents !== undefined) this.#lookForPods(after);
        changed(after);
      },
      deleted: (last) => {
        this.#members.delete(keyOf(last));
        changed(last);
      },
    };
  }

  #lookForPods(service: Cached<Service>): void {
    const { namespace, name } = service.metadata;
    this.#members.delete(keyOf(service));
    if (service.spec.selector === undefined || namespace === undefined || name === '') return;
    const isSelected = selectorFromSet(service.spec.selector);
    for (const pod of this.#options.pods.store.list(namespace)) {
      if (isSelected(pod.metadata.labels)) this.#add(keyOf(service), keyOf(pod));
    }
  }

  #podHandler(): Handler<Pod> {
    const tell = (service: ObjectKey): void => this.#options.onPodChange(service);
    return {
      added: (pod) => {
        for (const service of this.#servicesOf(pod)) {
          this.#add(service, keyOf(pod));
          tell(service);
        }
      },
      updated: (before, after) => {
        if (before.metadata.resourceVersion === after.metadata.resourceVersion) return;
        const isChanged = isEndpointChange(before, after);
        if (!isEqualJson(before.metadata.labels, after.metadata.labels)) this.#move(before, after, isChanged);
        else if (isChanged) this.#servicesOf(after).forEach(tell);
      },
      deleted: (last) => {
        for (const service of this.#servicesOf(last)) {
          this.#members.get(service)?.delete(keyOf(last));
          tell(service);
        }
      },
    };
  }

  #move(before: Cached<Pod>, after: Cached<Pod>, isChanged: boolean): void {
    const key = keyOf(after);
    const left = new Set(this.#servicesOf(before));
    for (const service of this.#servicesOf(after)) {
      const stays = left.delete(service);
      this.#add(service, key);
      if (!stays || isChanged) this.#options.onPodChange(service);
    }
    for (const service of left) {
      this.#members.get(service)?.delete(key);
      this.#options.onPodChange(service);
    }
  }

  #add(service: ObjectKey, pod: ObjectKey): void {
    const members = this.#members.get(service);
    if (members === undefined) this.#members.set(service, new Set([pod]));
    else members.add(pod);
  }

  #servicesOf(pod: Cached<Pod>): ObjectKey[] {
    return servicesBySelector
      .candidates(this.#options.services.store, pod)
      .filter(({ spec }) => selectorFromSet(spec.selector ?? {})(pod.metadata.labels))
      .map(keyOf);
  }
}
