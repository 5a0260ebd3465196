import { compareResourceVersions, keyOf } from '../../pkg/api/index.ts';
import type { Cached, KubeObject, ObjectKey } from '../../pkg/api/index.ts';
import type { Handler } from '../../informers/index.ts';

/**
 * Rebuilds a cache from the events of a handler only, and throws on an event that cannot follow the earlier ones. So it
 * detects lost, invented, repeated and reordered events of an informer.
 */
export class Mirror<T extends KubeObject> {
  readonly objects = new Map<ObjectKey, Cached<T>>();
  events = 0;
  missedDeletes = 0;
  readonly errors: string[] = [];

  readonly handler: Handler<T> = {
    added: (object) => {
      this.events++;
      if (this.objects.has(keyOf(object))) this.#refuse('added twice', object);
      this.objects.set(keyOf(object), object);
    },
    updated: (before, after) => {
      this.events++;
      if (this.objects.get(keyOf(after)) !== before)
        this.#refuse('updated from a state that was never delivered', after);
      if (before !== after && !isNewer(after, before)) this.#refuse('updated to an older state', after);
      if (before.metadata.uid !== after.metadata.uid) this.#refuse('updated to another object', after);
      this.objects.set(keyOf(after), after);
    },
    deleted: (last, missed) => {
      this.events++;
      if (missed) this.missedDeletes++;
      const known = this.objects.get(keyOf(last));
      if (known === undefined) this.#refuse('deleted unknown', last);
      else if (missed ? known !== last : !isNewer(last, known)) this.#refuse('deleted in an older state', last);
      this.objects.delete(keyOf(last));
    },
  };

  expectHolds(expected: ReadonlyMap<ObjectKey, T>): void {
    if (this.errors.length > 0) throw new Error(`impossible events: ${this.errors.slice(0, 5).join('; ')}`);
    const versions = (objects: ReadonlyMap<ObjectKey, T | Cached<T>>): string[] =>
      [...objects].map(([key, { metadata }]) => `${key} ${metadata.uid} ${metadata.resourceVersion}`).sort();
    const [told, real] = [versions(this.objects), versions(expected)];
    const wrong = told.filter((line) => !real.includes(line));
    const missing = real.filter((line) => !told.includes(line));
    if (wrong.length + missing.length === 0) return;
    throw new Error(`the events have ${wrong.join(', ')} but lack ${missing.join(', ')}`);
  }

  #refuse(what: string, { metadata }: Cached<KubeObject>): void {
    this.errors.push(`${what}: ${metadata.name} at ${metadata.resourceVersion}`);
  }
}

function isNewer(after: Cached<KubeObject>, before: Cached<KubeObject>): boolean {
  return compareResourceVersions(after.metadata.resourceVersion, before.metadata.resourceVersion) > 0;
}
