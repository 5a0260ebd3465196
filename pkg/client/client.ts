import type { Kind, KubeObject, ListMeta, ObjectKey, Unsaved } from '../api/index.ts';
import type * as api from '../api/index.ts';

/**
 * Speaks to one API server under one identity, user agent and rate limit.
 *
 * Every call rejects with an `ApiError` when the server refuses, with the signal's reason when it aborts, and with a
 * `ConnectionError` when the server cannot be reached. Answers of 429 and 503 with Retry-After are waited out. Lost
 * connections are retried only where the request cannot have taken effect twice: a create is never sent again once its
 * first byte may have left.
 *
 * With `metadataOf(kind)`, answers hold metadata alone. `managedFields` are cut from every answer unless asked for.
 */
export interface Client {
  readonly name: string;

  get<T extends KubeObject>(kind: Kind<T>, key: ObjectKey, signal: AbortSignal): Promise<T>;
  /** One page; `metadata.continue` of the answer leads to the next. */
  list<T extends KubeObject>(kind: Kind<T>, options: ListOptions, signal: AbortSignal): Promise<ObjectList<T>>;
  /** Every page, as one list of the first page's resourceVersion. */
  listAll<T extends KubeObject>(kind: Kind<T>, options: ListOptions, signal: AbortSignal): Promise<ObjectList<T>>;
  /**
   * Ends when the server ends the stream; throws `ApiError` for an ERROR event, `ConnectionError` when the connection is
   * lost or silent for longer than `idleTimeoutMs`. An abort, and leaving the loop, close the connection at once.
   */
  watch<T extends KubeObject>(kind: Kind<T>, options: WatchOptions, signal: AbortSignal): AsyncIterable<WatchEvent<T>>;
  /** The same events, those that arrived together in one array: far cheaper when there are thousands a second. */
  watchBatches<T extends KubeObject>(
    kind: Kind<T>,
    options: WatchOptions,
    signal: AbortSignal,
  ): AsyncIterable<readonly WatchEvent<T>[]>;

  create<T extends KubeObject>(kind: Kind<T>, object: Unsaved<T>, signal: AbortSignal): Promise<T>;
  update<T extends KubeObject>(kind: Kind<T>, object: Unsaved<T>, signal: AbortSignal): Promise<T>;
  updateStatus<T extends KubeObject>(kind: Kind<T>, object: Unsaved<T>, signal: AbortSignal): Promise<T>;
  patch<T extends KubeObject>(kind: Kind<T>, key: ObjectKey, patch: Patch, signal: AbortSignal): Promise<T>;
  delete(kind: Kind, key: ObjectKey, options: DeleteOptions, signal: AbortSignal): Promise<void>;
  deleteCollection(kind: Kind, options: DeleteCollectionOptions, signal: AbortSignal): Promise<void>;

  getScale(kind: Kind, key: ObjectKey, signal: AbortSignal): Promise<api.Scale>;
  updateScale(kind: Kind, key: ObjectKey, scale: api.Scale, signal: AbortSignal): Promise<api.Scale>;
  bindPod(pod: ObjectKey, nodeName: string, signal: AbortSignal): Promise<void>;
  evictPod(pod: ObjectKey, options: DeleteOptions, signal: AbortSignal): Promise<void>;
  createToken(serviceAccount: ObjectKey, request: api.TokenRequest, signal: AbortSignal): Promise<api.TokenRequest>;
  finalizeNamespace(namespace: Unsaved<api.Namespace>, signal: AbortSignal): Promise<api.Namespace>;

  /** Anything else the server offers (discovery, reviews, probes). */
  request(request: RawRequest, signal: AbortSignal): Promise<unknown>;
}

export interface ListOptions {
  /** Absent: all namespaces. */
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  readonly limit?: number | undefined;
  readonly continue?: string | undefined;
  readonly resourceVersion?: string | undefined;
  readonly resourceVersionMatch?: 'Exact' | 'NotOlderThan' | undefined;
}

export interface WatchOptions extends Pick<
  ListOptions,
  'namespace' | 'labelSelector' | 'fieldSelector' | 'resourceVersion' | 'resourceVersionMatch'
> {
  readonly allowWatchBookmarks?: boolean | undefined;
  /** Stream the present state first, then a bookmark annotated `k8s.io/initial-events-end`, then changes. */
  readonly sendInitialEvents?: boolean | undefined;
  readonly timeoutSeconds?: number | undefined;
  /** The stream counts as dead, and throws, when no byte has come for this long. Absent: never. */
  readonly idleTimeoutMs?: number | undefined;
  /** Objects may share with earlier ones what is equal: much cheaper, for those who only read them. Default false. */
  readonly shareEqual?: boolean | undefined;
}

/** The server leaves `apiVersion` and `kind` out of the items of a list, and so do we: the caller knows what it asked for. */
export interface ObjectList<T> {
  readonly metadata: ListMeta;
  readonly items: T[];
}

export type WatchEvent<T extends KubeObject> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: T }
  | { readonly type: 'BOOKMARK'; readonly resourceVersion: string; readonly initialEventsEnd: boolean };

export interface Patch {
  readonly type: 'json' | 'merge' | 'strategic' | 'apply';
  readonly body: unknown;
  readonly subresource?: string | undefined;
  /** Required for `apply`. */
  readonly fieldManager?: string | undefined;
  readonly force?: boolean | undefined;
}

export interface DeleteOptions {
  readonly gracePeriodSeconds?: number | undefined;
  readonly propagationPolicy?: 'Orphan' | 'Background' | 'Foreground' | undefined;
  readonly preconditions?:
    | { readonly uid?: string | undefined; readonly resourceVersion?: string | undefined }
    | undefined;
}

export interface DeleteCollectionOptions
  extends DeleteOptions, Pick<ListOptions, 'namespace' | 'labelSelector' | 'fieldSelector'> {}

export interface RawRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below the server's address, query included. */
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}
