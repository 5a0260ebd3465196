import {
  apiVersionOf,
  copyOf,
  keyOf,
  objectKey,
  type Cached,
  type Kind,
  type KubeObject,
  type ObjectKey,
  type ObjectMeta,
  type ObjectOf,
  type Unsaved,
} from '../api/index.ts';
import { isNotFound, type Client, type DeleteOptions, type ListOptions } from '../client/index.ts';
import type { DraftOf } from './resource.ts';

/** Names an object: the object itself, its key, or its namespace and name. */
export type ObjectRef =
  | ObjectKey
  | { readonly namespace?: string | undefined; readonly name: string }
  | { readonly metadata: { readonly namespace?: string | undefined; readonly name?: string | undefined } };

export function keyOfRef(ref: ObjectRef): ObjectKey {
  if (typeof ref === 'string') return ref;
  return 'metadata' in ref ? keyOf(ref) : objectKey(ref.namespace, ref.name);
}

/** A JSON merge patch: fields that are given change, `null` removes a field, lists are replaced. */
export type MergePatch<T> = T extends readonly unknown[]
  ? Cached<T>
  : T extends object
    ? { readonly [K in keyof T]?: MergePatch<T[K]> | null | undefined }
    : T;

/** Part of an object, for server-side apply: the fields that the applier wants to own. */
export type Applied<T> = T extends readonly (infer Item)[]
  ? readonly Applied<Item>[]
  : T extends object
    ? { readonly [K in keyof T]?: Applied<T[K]> | undefined }
    : T;

export type StatusOf<T> = T extends { status?: infer S } ? Exclude<S, undefined> : never;

/** Called after every write that the server has accepted. */
export interface WriteObserver {
  wrote(kind: Kind, answer: KubeObject): void;
  deleted(kind: Kind, key: ObjectKey): void;
}

export interface ResourceClientOptions {
  readonly signal: AbortSignal;
  /** The owner of applied fields. */
  readonly fieldManager: string;
  readonly observer?: WriteObserver | undefined;
}

/**
 * A client whose calls are typed by the given kind. It sets apiVersion and kind, and every call ends with the signal of
 * the client. Errors are those of `Client`.
 */
export interface ResourceClient {
  /** The underlying client, for everything else. The loop does not wait for writes through it. */
  readonly raw: Client;
  get<K extends Kind>(kind: K, ref: ObjectRef): Promise<ObjectOf<K>>;
  /** Undefined if the object does not exist. */
  find<K extends Kind>(kind: K, ref: ObjectRef): Promise<ObjectOf<K> | undefined>;
  list<K extends Kind>(kind: K, options?: ListOptions): Promise<ObjectOf<K>[]>;
  create<K extends Kind>(kind: K, object: Cached<DraftOf<K>>): Promise<ObjectOf<K>>;
  /** Replaces the object. A conflict if it has changed since it was read. */
  update<K extends Kind>(kind: K, object: Cached<ObjectOf<K>>): Promise<ObjectOf<K>>;
  patch<K extends Kind>(kind: K, ref: ObjectRef, change: MergePatch<ObjectOf<K>>): Promise<ObjectOf<K>>;
  patchStatus<K extends Kind>(kind: K, ref: ObjectRef, status: MergePatch<StatusOf<ObjectOf<K>>>): Promise<ObjectOf<K>>;
  /** Server-side apply. `force` takes ownership of fields from other field managers; default false: a conflict. */
  apply<K extends Kind>(
    kind: K,
    object: Applied<DraftOf<K>> & { readonly metadata: ObjectMeta & { readonly name: string } },
    options?: { readonly force?: boolean },
  ): Promise<ObjectOf<K>>;
  /** An object that was read is deleted only if its uid is the same. An object that does not exist is not an error. */
  delete(kind: Kind, ref: ObjectRef, options?: DeleteOptions): Promise<void>;
}

export function createResourceClient(client: Client, options: ResourceClientOptions): ResourceClient {
  const { signal, fieldManager, observer } = options;
  const observed = async <K extends Kind>(kind: K, write: Promise<KubeObject>): Promise<ObjectOf<K>> => {
    const answer = await write;
    observer?.wrote(kind, answer);
    return answer as ObjectOf<K>; // the server returns the requested kind
  };
  const get = async <K extends Kind>(kind: K, ref: ObjectRef): Promise<ObjectOf<K>> =>
    (await client.get(kind, keyOfRef(ref), signal)) as ObjectOf<K>;
  return {
    raw: client,
    get,
    async find(kind, ref) {
      try {
        return await get(kind, ref);
      } catch (error) {
        if (isNotFound(error)) return undefined;
        throw error;
      }
    },
    list: async (kind, listOptions = {}) =>
      (await client.listAll(kind, listOptions, signal)).items as ObjectOf<typeof kind>[],
    create: (kind, object) => observed(kind, client.create(kind, unsaved(kind, object), signal)),
    update: (kind, object) => observed(kind, client.update(kind, unsaved(kind, object), signal)),
    patch: (kind, ref, body) =>
      observed(kind, client.patch(kind, keyOfRef(ref), { type: 'merge', body, fieldManager }, signal)),
    patchStatus: (kind, ref, status) =>
      observed(
        kind,
        client.patch(
          kind,
          keyOfRef(ref),
          { type: 'merge', body: { status }, subresource: 'status', fieldManager },
          signal,
        ),
      ),
    apply(kind, object, { force } = {}) {
      const body = { ...object, apiVersion: apiVersionOf(kind), kind: kind.kind };
      return observed(kind, client.patch(kind, keyOf(object), { type: 'apply', body, fieldManager, force }, signal));
    },
    async delete(kind, ref, deleteOptions = {}) {
      const key = keyOfRef(ref);
      const uid = uidOf(ref);
      const preconditions = uid === undefined ? {} : { preconditions: { uid } };
      try {
        await client.delete(kind, key, { ...preconditions, ...deleteOptions }, signal);
      } catch (error) {
        if (!isNotFound(error)) throw error;
      }
      observer?.deleted(kind, key);
    },
  };
}

function uidOf(ref: ObjectRef): string | undefined {
  if (typeof ref === 'string' || !('metadata' in ref) || !('uid' in ref.metadata)) return undefined;
  return typeof ref.metadata.uid === 'string' ? ref.metadata.uid : undefined;
}

/** Client methods take mutable objects, although ours never change them. */
function unsaved(kind: Kind, object: Readonly<Record<string, unknown>>): Unsaved<KubeObject> {
  const copy = copyOf(object) as unknown as Unsaved<KubeObject>; // typed by the caller's kind
  return { ...copy, apiVersion: apiVersionOf(kind), kind: kind.kind };
}
