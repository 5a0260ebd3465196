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
  /** The Service was added, updated or deleted. */
  onServiceChange(service: ObjectKey): void;
  /** The Service selects another set of pods, or the endpoint of a pod has changed. */
  onPodChange(service: ObjectKey): void;
}

/**
 * The pods that each Service selects. A change of a pod costs one lookup per label, and a sync of a Service reads only
 * its own pods, however many others exist.
 *
 * This state is updated by events, so it may lag behind the caches: the next event then calls back for the Service
 * again. The callbacks come after the state is updated.
 */
export class ServicePods implements Syncable {
  readonly #options: ServicePodsOptions;
  readonly #members = new Map<ObjectKey, Set<ObjectKey>>();
  readonly #serviceEvents: HandlerRegistration;
  #podEvents: HandlerRegistration | undefined;

  constructor(options: ServicePodsOptions) {
    this.#options = options;
    options.services.addIndex(servicesBySelector.index);
    options.pods.store.list(''); // builds the index by namespace now, while the cache is empty
    this.#serviceEvents = options.services.addHandler(this.#serviceHandler());
  }

  /**
   * Adds the pod handler after all Services are known: each pod then finds its Services by index, and no Service of the
   * initial list has to search the pods of its namespace.
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
        if (this.#podEvents !== undefined) this.#findPods(service);
        changed(service);
      },
      updated: (before, after) => {
        const isSame = isEqualJson(before.spec.selector, after.spec.selector);
        if (!isSame && this.#podEvents !== undefined) this.#findPods(after);
        changed(after);
      },
      deleted: (last) => {
        this.#members.delete(keyOf(last));
        changed(last);
      },
    };
  }

  #findPods(service: Cached<Service>): void {
    const { namespace, name } = service.metadata;
    this.#members.delete(keyOf(service));
    if (service.spec.selector === undefined || namespace === undefined || name === '') return;
    const isSelected = selectorFromSet(service.spec.selector);
    for (const pod of this.#options.pods.store.list(namespace)) {
      if (isSelected(pod.metadata.labels)) this.#add(keyOf(service), keyOf(pod));
    }
  }

  #podHandler(): Handler<Pod> {
    const changed = (service: ObjectKey): void => this.#options.onPodChange(service);
    return {
      added: (pod) => {
        for (const service of this.#servicesOf(pod)) {
          this.#add(service, keyOf(pod));
          changed(service);
        }
      },
      updated: (before, after) => {
        if (before.metadata.resourceVersion === after.metadata.resourceVersion) return;
        const isChanged = isEndpointChange(before, after);
        if (!isEqualJson(before.metadata.labels, after.metadata.labels)) this.#move(before, after, isChanged);
        else if (isChanged) this.#servicesOf(after).forEach(changed);
      },
      deleted: (last) => {
        for (const service of this.#servicesOf(last)) {
          this.#members.get(service)?.delete(keyOf(last));
          changed(service);
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
