import type { Kind, KubeObject, ListMeta, ObjectKey, Unsaved } from '../api/index.ts';
import type * as api from '../api/index.ts';

/**
 * A client of one API server, with one identity, user agent and rate limit.
 *
 * Every call rejects with an `ApiError` if the server returns an error, with the signal's reason if it aborts, and with a
 * `ConnectionError` if the server cannot be reached. Responses 429 and 503 with Retry-After are retried after that time.
 * A request whose connection was lost is retried only if it cannot take effect twice: a create is never sent again once
 * its first byte may have been sent.
 *
 * With `metadataOf(kind)`, responses hold metadata only. `managedFields` are removed from every response by default.
 */
export interface Client {
  readonly name: string;

  get<T extends KubeObject>(kind: Kind<T>, key: ObjectKey, signal: AbortSignal): Promise<T>;
  /** Returns one page. `metadata.continue` is the token of the next page. */
  list<T extends KubeObject>(kind: Kind<T>, options: ListOptions, signal: AbortSignal): Promise<ObjectList<T>>;
  /** Returns all pages as one list, with the resourceVersion of the first page. */
  listAll<T extends KubeObject>(kind: Kind<T>, options: ListOptions, signal: AbortSignal): Promise<ObjectList<T>>;
  /**
   * Ends when the server ends the stream. Throws `ApiError` for an ERROR event, and `ConnectionError` when the connection
   * is lost or idle for longer than `idleTimeoutMs`. An abort or the end of the loop closes the stream at once.
   */
  watch<T extends KubeObject>(kind: Kind<T>, options: WatchOptions, signal: AbortSignal): AsyncIterable<WatchEvent<T>>;
  /** The same events, in one array per received chunk: one promise for many events. */
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
  /** Writes the conditions that approve or deny a request. */
  updateApproval(
    request: Unsaved<api.CertificateSigningRequest>,
    signal: AbortSignal,
  ): Promise<api.CertificateSigningRequest>;

  /** Any other request (discovery, reviews, probes). */
  request(request: RawRequest, signal: AbortSignal): Promise<unknown>;
}

export interface ListOptions {
  /** Default: all namespaces. */
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
  /** Stream the current state first, then a bookmark with the annotation `k8s.io/initial-events-end`, then changes. */
  readonly sendInitialEvents?: boolean | undefined;
  readonly timeoutSeconds?: number | undefined;
  /** The stream throws when no byte has arrived for this long. Default: never. */
  readonly idleTimeoutMs?: number | undefined;
  /** Objects may share their equal parts, so nobody may change them. This saves time and memory. Default: false. */
  readonly sharesParts?: boolean | undefined;
}

/** The server omits `apiVersion` and `kind` in the items of a list. They are not added: the caller knows the kind. */
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
  /** The path below the server's address, with the query. */
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}
