import { controllerOf, ExactInteger } from '../pkg/api/index.ts';
import type { KubeObject } from '../pkg/api/index.ts';

/** The number of owners that are remembered. The sharing of an older owner starts again. */
const mostModels = 4096;

/**
 * Lets each object share its equal parts with an earlier object of the same controller, in place. Objects of one owner
 * are made from one template: they differ only in names, addresses and times. Nobody writes to cached objects, so only
 * memory changes.
 *
 * The gain: a pod of 5 kB takes 1.2 to 1.7 kB of heap instead of 8 kB, for 5 µs beside the 50 µs of parsing it, and
 * a pod's metadata takes 250 bytes instead of 540. Without this file, 100,000 pods would take 600 MB more. A parser that
 * compares bytes with earlier texts, and parses only what differs, shared less and saved 3 % of the CPU of a list.
 */
export function createSharing<T extends KubeObject>(): (object: T) => T {
  // Weak: a model must not keep an object in memory that has left the cache.
  const models = new Map<string, WeakRef<T>>();
  return (object) => {
    const owner = controllerOf(object)?.uid ?? '';
    const model = models.get(owner)?.deref();
    if (model !== undefined) {
      shareFields(object, model);
      return object;
    }
    const oldest = models.size < mostModels ? undefined : models.keys().next().value;
    if (oldest !== undefined) models.delete(oldest);
    models.set(owner, new WeakRef(object));
    return object;
  };
}

/** Whether the two are equal. If not, they share their equal parts afterwards. */
function shareFields(own: object, model: object): boolean {
  if (Array.isArray(own)) return Array.isArray(model) && shareItems(own, model);
  return !Array.isArray(model) && shareNamed(own as Fields, model as Fields);
}

type Fields = Record<string, unknown>;

function shareItems(own: unknown[], model: unknown[]): boolean {
  let isEqual = own.length === model.length;
  const shared = Math.min(own.length, model.length);
  for (let i = 0; i < shared; i++) {
    const value = own[i];
    const modelValue = model[i];
    if (value === modelValue) continue;
    if (isObject(value) && isObject(modelValue) && shareFields(value, modelValue)) own[i] = modelValue;
    else isEqual = false;
  }
  return isEqual;
}

/** Loops over names without allocating lists: this runs for every nested object that is received. */
function shareNamed(own: Fields, model: Fields): boolean {
  let isEqual = true;
  let surplus = 0;
  for (const name in own) {
    surplus += 1;
    const value = own[name];
    const modelValue = model[name];
    if (value === modelValue) continue;
    if (isObject(value) && Object.hasOwn(model, name) && isObject(modelValue) && shareFields(value, modelValue)) {
      own[name] = modelValue;
    } else isEqual = false;
  }
  if (isEqual) {
    for (const _ in model) surplus -= 1;
    if (surplus === 0) return true; // the caller replaces the whole object
  }
  for (const name in own) {
    // Equal strings that were allocated twice until now.
    const value = own[name];
    if (typeof value === 'string' && value === model[name]) own[name] = model[name];
  }
  return false;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !(value instanceof ExactInteger);
}
