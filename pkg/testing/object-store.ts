import {
  compareResourceVersions,
  copyOf,
  isBeingDeleted,
  isEqualJson,
  keyOf,
  resourceName,
  splitKey,
  type Kind,
  type KubeObject,
  type ObjectKey,
  type ObjectMeta,
} from '../api/index.ts';
import { ApiError, type DeleteOptions } from '../client/index.ts';
import { applyPatch, isFields } from './apply-patch.ts';
import { ResourceSchemas } from './resource-schemas.ts';

export type Stored = KubeObject & Record<string, unknown>;
type Unstored = { metadata: ObjectMeta } & Record<string, unknown>;
type ChangeType = 'ADDED' | 'MODIFIED' | 'DELETED';
export interface Change {
  readonly type: ChangeType;
  readonly resource: string;
  readonly object: Stored;
  /** The state before an update. */
  readonly before: Stored | undefined;
}

/** An error response of the API server. `namespace`: that of the request. */
export function apiError(
  code: number,
  reason: string,
  message = reason,
  { causes = [], namespace }: { readonly causes?: readonly string[]; readonly namespace?: string } = {},
): ApiError {
  const details = causes.length === 0 ? undefined : { causes: causes.map((cause) => ({ reason: cause })) };
  return new ApiError('test', { code, reason, message, status: 'Failure', details }, { namespace });
}

/**
 * The part of an API server that controllers rely on: resource versions, conflicts, generations, a separate status,
 * finalizers, deletion preconditions, the defaults of custom resources. No validation, no other defaults, no garbage collection.
 */
export class ObjectStore {
  readonly #objects = new Map<string, Map<ObjectKey, Stored>>();
  readonly #history: Change[] = [];
  readonly #nowText: () => string;
  readonly #schemas = new ResourceSchemas();
  #listeners: ((change: Change) => void)[] = [];
  #version = 0;
  #created = 0;

  constructor(nowText: () => string) {
    this.#nowText = nowText;
  }

  get resourceVersion(): string {
    return String(this.#version);
  }

  /** Learns the defaults and subresources of a custom resource. Other kinds tell the store nothing. */
  define(kind: Kind): void {
    this.#schemas.define(kind);
  }

  get(kind: Kind, key: ObjectKey): Stored {
    const object = this.#of(kind).get(key);
    if (object === undefined) throw notFound(kind, key);
    return copyOf(object);
  }

  all(kind: Kind): Stored[] {
    return [...this.#of(kind).values()].map((object) => copyOf<Stored>(object));
  }

  create(kind: Kind, object: Unstored): Stored {
    this.#created += 1;
    const { generateName, name = generateName === undefined ? '' : `${generateName}${suffix(this.#created)}` } =
      object.metadata;
    if (object.metadata.resourceVersion !== undefined && object.metadata.resourceVersion !== '') {
      throw apiError(400, 'BadRequest', 'resourceVersion should not be set on objects to be created');
    }
    const creationTimestamp = this.#nowText();
    const uid = `uid-${this.#created}`;
    const metadata = { generation: 1, ...object.metadata, name, uid, creationTimestamp, resourceVersion: '' };
    const given = this.#schemas.dropsStatus(kind) ? { ...object, status: undefined } : object;
    const stored: Stored = this.#schemas.complete(kind, { ...copyOf<Unstored>(given), metadata: copyOf(metadata) });
    if (this.#of(kind).has(keyOf(stored))) {
      throw apiError(409, 'AlreadyExists', `${resourceName(kind)} "${name}" already exists`);
    }
    return this.#save(kind, 'ADDED', stored);
  }

  /** Stores an object without validation. Fills in missing metadata. */
  seed(kind: Kind, object: Unstored): Stored {
    this.#created += 1;
    const { name = '', uid = `uid-${this.#created}` } = object.metadata;
    const creationTimestamp = object.metadata.creationTimestamp ?? this.#nowText();
    const metadata = { ...object.metadata, name, uid, creationTimestamp, resourceVersion: '' };
    return this.#save(kind, 'ADDED', this.#schemas.complete(kind, copyOf({ ...object, metadata })));
  }

  update(kind: Kind, object: Unstored, subresource?: string): Stored {
    const before = this.get(kind, keyOf(object));
    const { resourceVersion = '', uid = before.metadata.uid } = object.metadata;
    if (
      (resourceVersion !== '' && resourceVersion !== before.metadata.resourceVersion) ||
      uid !== before.metadata.uid
    ) {
      throw apiError(409, 'Conflict', `${resourceName(kind)} "${before.metadata.name}" has been modified`);
    }
    return this.#replace(kind, before, copyOf<Unstored>(object), subresource);
  }

  patch(kind: Kind, key: ObjectKey, patch: Parameters<typeof applyPatch>[1]): Stored {
    const isNew = patch.type === 'apply' && this.#of(kind).get(key) === undefined;
    if (isNew) return this.#createApplied(kind, key, patch.body);
    const before = this.get(kind, key);
    const after = applyPatch(before, patch) as Stored;
    if (
      after.metadata.resourceVersion !== before.metadata.resourceVersion ||
      after.metadata.uid !== before.metadata.uid
    ) {
      throw apiError(409, 'Conflict', `${resourceName(kind)} "${before.metadata.name}": precondition failed`);
    }
    return this.#replace(kind, before, after, patch.subresource);
  }

  /** A configuration with a uid applies only to the object with that uid. */
  #createApplied(kind: Kind, key: ObjectKey, body: unknown): Stored {
    const configuration = body as Unstored; // the caller's client has typed it
    const { uid } = configuration.metadata;
    if (uid !== undefined)
      throw apiError(409, 'Conflict', `${resourceName(kind)} "${key}": no object has the uid ${uid}`);
    return this.create(kind, configuration);
  }

  delete(kind: Kind, key: ObjectKey, { preconditions, propagationPolicy }: DeleteOptions): void {
    const before = this.get(kind, key);
    const { uid, resourceVersion, deletionTimestamp } = before.metadata;
    const finalizers = propagated(before.metadata.finalizers ?? [], propagationPolicy);
    const fails =
      (preconditions?.uid ?? uid) !== uid || (preconditions?.resourceVersion ?? resourceVersion) !== resourceVersion;
    if (fails) throw apiError(409, 'Conflict', `${resourceName(kind)} "${key}": precondition failed`);
    if (finalizers.length === 0) this.#save(kind, 'DELETED', before);
    else if (!isBeingDeleted({ deletionTimestamp })) {
      const metadata = { ...before.metadata, finalizers, deletionTimestamp: this.#nowText() };
      this.#save(kind, 'MODIFIED', { ...before, metadata });
    }
  }

  /** Calls back with the changes of one kind after a resource version. Returns a function that stops it. */
  follow(kind: Kind, after: string, listener: (change: Change) => void): () => void {
    const resource = resourceName(kind);
    const mine = (change: Change): void => {
      if (change.resource === resource) listener(change);
    };
    for (const change of this.#history) {
      if (compareResourceVersions(change.object.metadata.resourceVersion, after) > 0) mine(change);
    }
    this.#listeners = [...this.#listeners, mine];
    return () => {
      this.#listeners = this.#listeners.filter((known) => known !== mine);
    };
  }

  #replace(kind: Kind, before: Stored, given: Unstored, subresource: string | undefined): Stored {
    // As if the object were gone: the path of a subresource that is not served is not found either.
    if (subresource === 'status' && !this.#schemas.hasStatus(kind)) throw notFound(kind, keyOf(before));
    const { uid, name, creationTimestamp, resourceVersion, generation } = before.metadata;
    const metadata = { ...given.metadata, uid, name, creationTimestamp, resourceVersion, generation };
    // As in kube-apiserver: the status changes only through its subresource, and the specification only without it. Built-in
    // kinds take metadata from both.
    const isBuiltIn = !kind.group.includes('.') || kind.group.endsWith('.k8s.io');
    const after: Stored = this.#schemas.complete(
      kind,
      subresource === 'status'
        ? { ...before, ...(isBuiltIn ? { metadata } : {}), status: given['status'] }
        : { ...given, metadata, ...statusOf(before) },
    );
    if (isEqualJson(before, after)) return before;
    if (!isEqualJson(before['spec'], after['spec'])) after.metadata.generation = (generation ?? 0) + 1;
    const { deletionTimestamp, finalizers = [] } = after.metadata;
    const gone =
      isBeingDeleted({ deletionTimestamp }) && finalizers.length === 0 && (before.metadata.finalizers ?? []).length > 0;
    return this.#save(kind, gone ? 'DELETED' : 'MODIFIED', after);
  }

  #save(kind: Kind, type: ChangeType, object: Stored): Stored {
    this.#version += 1;
    const stored = { ...object, metadata: { ...object.metadata, resourceVersion: String(this.#version) } };
    const before = type === 'MODIFIED' ? this.#of(kind).get(keyOf(stored)) : undefined;
    if (type === 'DELETED') this.#of(kind).delete(keyOf(stored));
    else this.#of(kind).set(keyOf(stored), stored);
    const change = { type, resource: resourceName(kind), object: stored, before };
    this.#history.push(change);
    for (const listener of this.#listeners) listener(change);
    return copyOf(stored);
  }

  #of(kind: Kind): Map<ObjectKey, Stored> {
    const objects = this.#objects.get(resourceName(kind)) ?? new Map<ObjectKey, Stored>();
    this.#objects.set(resourceName(kind), objects);
    return objects;
  }
}

/** As kube-apiserver reports it for an object, with its name. For a path that is not served there is no name. */
function notFound(kind: Kind, key: ObjectKey): ApiError {
  const message = `${resourceName(kind)} "${key}" not found`;
  const details = { name: splitKey(key).name, group: kind.group, kind: kind.resource };
  return new ApiError('test', { code: 404, reason: 'NotFound', message, status: 'Failure', details });
}

/** A deletion that orphans or waits for dependents adds a finalizer. */
function propagated(finalizers: readonly string[], policy: DeleteOptions['propagationPolicy']): string[] {
  if (policy === undefined) return [...finalizers];
  const others = finalizers.filter((finalizer) => finalizer !== 'orphan' && finalizer !== 'foregroundDeletion');
  const own = { Orphan: ['orphan'], Foreground: ['foregroundDeletion'], Background: [] };
  return [...others, ...own[policy]];
}

function statusOf(object: Stored): { status?: unknown } {
  return isFields(object['status']) ? { status: object['status'] } : {};
}

/** A suffix of five letters as the server generates it, but the same in every run. */
function suffix(count: number): string {
  return count.toString(36).padStart(5, 'x');
}
