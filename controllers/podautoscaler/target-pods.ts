import {
  keyOf,
  parseSelectorText,
  splitKey,
  type Cached,
  type ObjectKey,
  type ParsedSelector,
  type Pod,
} from '../../pkg/api/index.ts';
import type { Handler, Store } from '../../informers/index.ts';

/**
 * The pods that each autoscaler controls, by the selectors in the scales of their targets. A sync reads its own pods
 * only, and an event of a pod costs one lookup per label: the autoscalers of a namespace never search all of its pods,
 * except once for each new selector.
 */
export class TargetPods {
  readonly #pods: Store<Pod>;
  /** Undefined: the autoscaler is known, but not yet what it selects. */
  readonly #selectors = new Map<ObjectKey, KnownSelector | undefined>();
  /** By one label that the selector requires, or by namespace if it requires none. */
  readonly #byLabel = new Map<string, Set<ObjectKey>>();
  readonly #members = new Map<ObjectKey, Set<ObjectKey>>();

  constructor(pods: Store<Pod>) {
    this.#pods = pods;
    pods.list(''); // builds the index by namespace now, while the cache is empty
  }

  /** The number of autoscalers. */
  get size(): number {
    return this.#selectors.size;
  }

  add(autoscaler: ObjectKey): void {
    if (!this.#selectors.has(autoscaler)) this.#selectors.set(autoscaler, undefined);
  }

  remove(autoscaler: ObjectKey): void {
    this.#clear(autoscaler);
    this.#selectors.delete(autoscaler);
  }

  /** Sets what an autoscaler selects. Throws `InvalidSelectorError`. An autoscaler that was removed stays unknown. */
  select(autoscaler: ObjectKey, text: string): void {
    if (this.#selectors.get(autoscaler)?.text === text) return;
    const selector = { ...parseSelectorText(text), text };
    if (!this.#selectors.has(autoscaler)) return;
    this.#clear(autoscaler);
    this.#selectors.set(autoscaler, selector);
    const place = placeOf(autoscaler, selector);
    this.#byLabel.set(place, (this.#byLabel.get(place) ?? new Set()).add(autoscaler));
    const { namespace = '' } = splitKey(autoscaler);
    const selected = this.#pods.list(namespace).filter(({ metadata }) => selector.matches(metadata.labels));
    this.#members.set(autoscaler, new Set(selected.map(keyOf)));
  }

  podsOf(autoscaler: ObjectKey): Cached<Pod>[] {
    const selector = this.#selectors.get(autoscaler);
    const found: Cached<Pod>[] = [];
    for (const key of this.#members.get(autoscaler) ?? []) {
      const pod = this.#pods.get(key);
      if (pod !== undefined && selector?.matches(pod.metadata.labels) === true) found.push(pod);
    }
    return found;
  }

  /** All autoscalers that select one of these pods. */
  selecting(pods: readonly Cached<Pod>[]): ObjectKey[] {
    return [...new Set(pods.flatMap((pod) => this.#selectingOne(pod)))];
  }

  /** Keeps the pods of each autoscaler up to date. */
  handler(): Handler<Pod> {
    const join = (pod: Cached<Pod>): void => {
      for (const autoscaler of this.#selectingOne(pod)) this.#members.get(autoscaler)?.add(keyOf(pod));
    };
    const leave = (pod: Cached<Pod>): void => {
      for (const autoscaler of this.#selectingOne(pod)) this.#members.get(autoscaler)?.delete(keyOf(pod));
    };
    return {
      added: join,
      updated(before, after) {
        if (before.metadata.labels === after.metadata.labels) return;
        leave(before);
        join(after);
      },
      deleted: leave,
    };
  }

  #selectingOne({ metadata: { namespace = '', labels = {} } }: Cached<Pod>): ObjectKey[] {
    if (this.#byLabel.size === 0) return [];
    const places = [`${namespace}/`, ...Object.entries(labels).map(([name, value]) => `${namespace}/${name}=${value}`)];
    const candidates = places.flatMap((place) => [...(this.#byLabel.get(place) ?? [])]);
    return candidates.filter((autoscaler) => this.#selectors.get(autoscaler)?.matches(labels) === true);
  }

  #clear(autoscaler: ObjectKey): void {
    const selector = this.#selectors.get(autoscaler);
    this.#members.delete(autoscaler);
    if (selector === undefined) return;
    const place = placeOf(autoscaler, selector);
    const others = this.#byLabel.get(place);
    others?.delete(autoscaler);
    if (others?.size === 0) this.#byLabel.delete(place);
  }
}

interface KnownSelector extends ParsedSelector {
  readonly text: string;
}

function placeOf(autoscaler: ObjectKey, { required }: ParsedSelector): string {
  const { namespace = '' } = splitKey(autoscaler);
  const [first] = Object.entries(required);
  return first === undefined ? `${namespace}/` : `${namespace}/${first.join('=')}`;
}
