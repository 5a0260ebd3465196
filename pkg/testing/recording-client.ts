import {
  compileSelector,
  copyOf,
  formatTime,
  isBeingDeleted,
  keyOf,
  Namespaces,
  Pods,
  resourceName,
  ServiceAccounts,
  CertificateSigningRequests,
  type CertificateSigningRequest,
  splitKey,
  type Kind,
  type KubeObject,
  type LabelSelector,
  type Namespace,
  type ObjectKey,
  type Scale,
  type TokenRequest,
  type Unsaved,
} from '../api/index.ts';
import {
  objectPath,
  type Client,
  type DeleteCollectionOptions,
  type DeleteOptions,
  type ListOptions,
  type ObjectList,
  type Patch,
  type RawRequest,
  type WatchEvent,
  type WatchOptions,
} from '../client/index.ts';
import { isFields } from './apply-patch.ts';
import { apiError, ObjectStore, type Change, type Stored } from './object-store.ts';

export { apiError } from './object-store.ts';

/** One call, as the controller made it. */
export interface Action {
  readonly verb: 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deleteCollection' | 'request';
  /** `deployments.apps`, `pods`; the path of a raw request. */
  readonly resource: string;
  readonly key?: ObjectKey;
  readonly subresource?: string;
  /** The body: an object, a patch, or options. */
  readonly body?: unknown;
}

/** Called for a call of the client. The caller gets its error, and its wait delays the response. */
export type Reaction = (action: Action, signal: AbortSignal) => void | Promise<void>;

export interface RecordingClientOptions {
  readonly name?: string;
  /** For `creationTimestamp` and `deletionTimestamp`; default 1970. */
  readonly now?: () => number;
  /** Use the same server as this client, with separate records and reactions. */
  readonly sharing?: RecordingClient;
}

const readVerbs: ReadonlySet<Action['verb']> = new Set(['get', 'list', 'watch']);

/**
 * A client with an API server of plain objects behind it, which records every call. Enough of a server for one
 * controller's writes and reads: see `ObjectStore`. Like the real client, it refuses keys that name no object.
 *
 *     const client = new RecordingClient();
 *     const pod = client.seed(Pods, { metadata: { namespace: 'a', name: 'b' }, spec: { containers: [] } });
 *     client.before('update', () => { throw apiError(409, 'Conflict'); });
 *     …
 *     expect(client.writes).toEqual([{ verb: 'delete', resource: 'pods', key: 'a/b', body: {} }]);
 */
export class RecordingClient implements Client {
  readonly name: string;
  readonly actions: Action[] = [];
  readonly #store: ObjectStore;
  readonly #reactions: { readonly when: 'before' | 'after'; readonly verb: Action['verb'] | '*'; react: Reaction }[] =
    [];

  constructor({ name = 'test', now = () => 0, sharing }: RecordingClientOptions = {}) {
    this.name = name;
    this.#store = sharing === undefined ? new ObjectStore(() => formatTime(now())) : sharing.#store;
  }

  /** The writes, in order. */
  get writes(): readonly Action[] {
    return this.actions.filter(({ verb }) => !readVerbs.has(verb));
  }

  /** Learns the defaults and subresources of a custom resource before its first object. */
  define(kind: Kind): void {
    this.#store.define(kind);
  }

  /** Stores an object as it is, with its status, without recording a call. */
  seed<T extends KubeObject>(kind: Kind<T>, object: Unsaved<T>): T {
    return this.#answer(kind, this.#store.seed(kind, asStored(object)));
  }

  /** The stored object, without recording a call. */
  stored<T extends KubeObject>(kind: Kind<T>): T[] {
    return this.#store.all(kind).map((object) => this.#answer(kind, object));
  }

  /** Calls the reaction before a call takes effect. Returns a function that removes it. */
  before(verb: Action['verb'] | '*', react: Reaction): () => void {
    return this.#addReaction('before', verb, react);
  }

  /** Calls the reaction after the effect: an error here is a lost response. */
  after(verb: Action['verb'] | '*', react: Reaction): () => void {
    return this.#addReaction('after', verb, react);
  }

  async get<T extends KubeObject>(kind: Kind<T>, key: ObjectKey, signal: AbortSignal): Promise<T> {
    objectPath(kind, key);
    const action: Action = { verb: 'get', resource: resourceName(kind), key };
    return this.#do(action, () => this.#answer(kind, this.#store.get(kind, key)), signal);
  }

  list<T extends KubeObject>(kind: Kind<T>, options: ListOptions, signal: AbortSignal): Promise<ObjectList<T>> {
    const list = (): ObjectList<T> => ({
      metadata: { resourceVersion: this.#store.resourceVersion },
      items: this.#select(kind, options).map((object) => this.#answer(kind, object)),
    });
    return this.#do({ verb: 'list', resource: resourceName(kind), body: options }, list, signal);
  }

  listAll<T extends KubeObject>(kind: Kind<T>, options: ListOptions, signal: AbortSignal): Promise<ObjectList<T>> {
    return this.list(kind, options, signal);
  }

  async *watch<T extends KubeObject>(
    kind: Kind<T>,
    options: WatchOptions,
    signal: AbortSignal,
  ): AsyncIterable<WatchEvent<T>> {
    for await (const batch of this.watchBatches(kind, options, signal)) yield* batch;
  }

  async *watchBatches<T extends KubeObject>(
    kind: Kind<T>,
    options: WatchOptions,
    signal: AbortSignal,
  ): AsyncIterable<readonly WatchEvent<T>[]> {
    await this.#do({ verb: 'watch', resource: resourceName(kind), body: options }, () => undefined, signal);
    const matches = matcherOf(options);
    const pending: Pick<Change, 'type' | 'object'>[] = [];
    let wake = Promise.withResolvers<void>();
    const from = options.sendInitialEvents === true ? this.#store.resourceVersion : (options.resourceVersion ?? '');
    const initial = options.sendInitialEvents === true ? this.#select(kind, options) : [];
    const stop = this.#store.follow(
      kind,
      from === '' || from === '0' ? this.#store.resourceVersion : from,
      (change) => {
        pending.push(...selected(change, matches));
        wake.resolve();
      },
    );
    const onAbort = (): void => wake.resolve();
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      if (initial.length > 0) {
        yield initial.map((object) => ({ type: 'ADDED' as const, object: this.#answer(kind, object) }));
      }
      if (options.sendInitialEvents === true) {
        yield [{ type: 'BOOKMARK', resourceVersion: from, initialEventsEnd: true }];
      }
      for (;;) {
        signal.throwIfAborted();
        const batch = pending.splice(0);
        if (batch.length > 0) {
          yield batch.map(({ type, object }) => ({ type, object: this.#answer(kind, copyOf<Stored>(object)) }));
          continue;
        }
        await wake.promise;
        wake = Promise.withResolvers<void>();
      }
    } finally {
      stop();
      signal.removeEventListener('abort', onAbort);
    }
  }

  async create<T extends KubeObject>(kind: Kind<T>, object: Unsaved<T>, signal: AbortSignal): Promise<T> {
    const { name = 'generated' } = object.metadata;
    objectPath(kind, keyOf({ metadata: { ...object.metadata, name } }));
    const action: Action = { verb: 'create', resource: resourceName(kind), key: keyOf(object), body: object };
    return this.#do(action, () => this.#answer(kind, this.#store.create(kind, asStored(object))), signal);
  }

  update<T extends KubeObject>(kind: Kind<T>, object: Unsaved<T>, signal: AbortSignal): Promise<T> {
    return this.#update(kind, object, undefined, signal);
  }

  updateStatus<T extends KubeObject>(kind: Kind<T>, object: Unsaved<T>, signal: AbortSignal): Promise<T> {
    return this.#update(kind, object, 'status', signal);
  }

  async patch<T extends KubeObject>(kind: Kind<T>, key: ObjectKey, patch: Patch, signal: AbortSignal): Promise<T> {
    objectPath(kind, key);
    const { subresource, ...body } = patch;
    const action: Action = { verb: 'patch', resource: resourceName(kind), key, body };
    return this.#do(
      subresource === undefined ? action : { ...action, subresource },
      () => this.#answer(kind, this.#store.patch(kind, key, patch)),
      signal,
    );
  }

  async delete(kind: Kind, key: ObjectKey, options: DeleteOptions, signal: AbortSignal): Promise<void> {
    objectPath(kind, key);
    const action: Action = { verb: 'delete', resource: resourceName(kind), key, body: options };
    return this.#do(action, () => this.#store.delete(kind, key, options), signal);
  }

  deleteCollection(kind: Kind, options: DeleteCollectionOptions, signal: AbortSignal): Promise<void> {
    const deleteAll = (): void => {
      for (const object of this.#select(kind, options)) this.#store.delete(kind, keyOf(object), options);
    };
    return this.#do({ verb: 'deleteCollection', resource: resourceName(kind), body: options }, deleteAll, signal);
  }

  getScale(kind: Kind, key: ObjectKey, signal: AbortSignal): Promise<Scale> {
    const action: Action = { verb: 'get', resource: resourceName(kind), key, subresource: 'scale' };
    return this.#do(action, () => scaleOf(this.#store.get(kind, key)), signal);
  }

  updateScale(kind: Kind, key: ObjectKey, scale: Scale, signal: AbortSignal): Promise<Scale> {
    const action: Action = { verb: 'update', resource: resourceName(kind), key, subresource: 'scale', body: scale };
    const body = { spec: { replicas: scale.spec?.replicas ?? 0 } };
    return this.#do(action, () => scaleOf(this.#store.patch(kind, key, { type: 'merge', body })), signal);
  }

  bindPod(pod: ObjectKey, nodeName: string, signal: AbortSignal): Promise<void> {
    const action: Action = { verb: 'create', resource: 'pods', key: pod, subresource: 'binding', body: nodeName };
    const bind = (): void => void this.#store.patch(Pods, pod, { type: 'merge', body: { spec: { nodeName } } });
    return this.#do(action, bind, signal);
  }

  evictPod(pod: ObjectKey, options: DeleteOptions, signal: AbortSignal): Promise<void> {
    const action: Action = { verb: 'create', resource: 'pods', key: pod, subresource: 'eviction', body: options };
    return this.#do(action, () => this.#store.delete(Pods, pod, options), signal);
  }

  createToken(serviceAccount: ObjectKey, request: TokenRequest, signal: AbortSignal): Promise<TokenRequest> {
    const resource = resourceName(ServiceAccounts);
    const action: Action = { verb: 'create', resource, key: serviceAccount, subresource: 'token', body: request };
    const answer = (): TokenRequest => {
      const { uid } = this.#store.get(ServiceAccounts, serviceAccount).metadata;
      return { ...request, status: { token: `token-of-${uid}`, expirationTimestamp: formatTime(0) } };
    };
    return this.#do(action, answer, signal);
  }

  finalizeNamespace(namespace: Unsaved<Namespace>, signal: AbortSignal): Promise<Namespace> {
    const key = keyOf(namespace);
    const action: Action = { verb: 'update', resource: 'namespaces', key, subresource: 'finalize', body: namespace };
    const finalize = (): Namespace => {
      const answer = this.#answer(Namespaces, this.#store.update(Namespaces, asStored(namespace)));
      const isDone = isBeingDeleted(answer.metadata) && (answer.spec?.finalizers ?? []).length === 0;
      if (isDone) this.#store.delete(Namespaces, key, {});
      return answer;
    };
    return this.#do(action, finalize, signal);
  }

  updateApproval(request: Unsaved<CertificateSigningRequest>, signal: AbortSignal): Promise<CertificateSigningRequest> {
    const resource = resourceName(CertificateSigningRequests);
    const action: Action = { verb: 'update', resource, key: keyOf(request), subresource: 'approval', body: request };
    const approve = (): CertificateSigningRequest =>
      this.#answer(CertificateSigningRequests, this.#store.update(CertificateSigningRequests, asStored(request)));
    return this.#do(action, approve, signal);
  }

  /** Raw paths are not served: a reaction to `request` may throw, but there is no response. */
  request(request: RawRequest, signal: AbortSignal): Promise<unknown> {
    const refuse = (): never => {
      throw apiError(404, 'NotFound', `${request.method} ${request.path} is not served here`);
    };
    return this.#do({ verb: 'request', resource: request.path, body: request }, refuse, signal);
  }

  async #update<T extends KubeObject>(
    kind: Kind<T>,
    object: Unsaved<T>,
    subresource: 'status' | undefined,
    signal: AbortSignal,
  ): Promise<T> {
    objectPath(kind, keyOf(object));
    const action: Action = { verb: 'update', resource: resourceName(kind), key: keyOf(object), body: object };
    return this.#do(
      subresource === undefined ? action : { ...action, subresource },
      () => this.#answer(kind, this.#store.update(kind, asStored(object), subresource)),
      signal,
    );
  }

  async #do<R>(action: Action, effect: () => R, signal: AbortSignal): Promise<R> {
    signal.throwIfAborted();
    this.actions.push(action);
    await this.#react('before', action, signal);
    const result = effect();
    await this.#react('after', action, signal);
    return result;
  }

  async #react(when: 'before' | 'after', action: Action, signal: AbortSignal): Promise<void> {
    for (const reaction of this.#reactions.filter((known) => known.when === when)) {
      if (reaction.verb === '*' || reaction.verb === action.verb) await reaction.react(action, signal);
    }
  }

  #addReaction(when: 'before' | 'after', verb: Action['verb'] | '*', react: Reaction): () => void {
    const reaction = { when, verb, react };
    this.#reactions.push(reaction);
    return () => {
      this.#reactions.splice(this.#reactions.indexOf(reaction), 1);
    };
  }

  #select(kind: Kind, options: Pick<ListOptions, 'namespace' | 'labelSelector' | 'fieldSelector'>): Stored[] {
    return this.#store.all(kind).filter(matcherOf(options));
  }

  /** Objects in a list or response have only the requested parts. */
  #answer<T extends KubeObject>(kind: Kind<T>, object: Stored): T {
    const answer: KubeObject = kind.metadataOnly === true ? { metadata: object.metadata } : object;
    return answer as T;
  }
}

function asStored(object: object): Stored {
  return object as Stored;
}

function scaleOf({ metadata, spec, status }: Stored): Scale {
  const replicas = (fields: unknown): number => (isFields(fields) ? Number(fields['replicas'] ?? 0) : 0);
  const { name, uid, resourceVersion } = metadata;
  const namespace = splitKey(keyOf({ metadata })).namespace;
  return {
    metadata: { name, namespace, uid, resourceVersion },
    spec: { replicas: replicas(spec) },
    status: { replicas: replicas(status) },
  };
}

type Matcher = (object: Stored) => boolean;

function matcherOf({ namespace, labelSelector, fieldSelector }: Parameters<RecordingClient['list']>[1]): Matcher {
  const labels = compileSelector(parseLabelSelector(labelSelector ?? ''));
  const fields = (fieldSelector ?? '').split(',').filter((term) => term !== '');
  return (object) =>
    (namespace === undefined || object.metadata.namespace === namespace) &&
    labels(object.metadata.labels) &&
    fields.every((term) => matchesField(object, term));
}

/** As in kube-apiserver: an object enters a selection as added, and leaves it as deleted. */
function selected({ type, object, before }: Change, matches: Matcher): readonly Pick<Change, 'type' | 'object'>[] {
  const [was, is] = [before !== undefined && matches(before), matches(object)];
  if (type !== 'MODIFIED') return is ? [{ type, object }] : [];
  if (was) return [{ type: is ? 'MODIFIED' : 'DELETED', object }];
  return is ? [{ type: 'ADDED', object }] : [];
}

function matchesField(object: Stored, term: string): boolean {
  const [, path = '', operator, value = ''] = /^([^!=]+)(!=|==?)(.*)$/.exec(term) ?? [];
  const found = path.split('.').reduce<unknown>((at, step) => (isFields(at) ? at[step] : undefined), object);
  const text =
    typeof found === 'string' || typeof found === 'number' || typeof found === 'boolean' ? String(found) : '';
  return (text === value) === (operator !== '!=');
}

/** The forms that `formatSelector` writes, and `!=`. */
function parseLabelSelector(text: string): LabelSelector {
  const terms = text.match(/[^,(]+(\([^)]*\))?/g) ?? [];
  return { matchExpressions: terms.map((term) => parseTerm(term.trim())) };
}

function parseTerm(term: string): NonNullable<LabelSelector['matchExpressions']>[number] {
  const set = /^(\S+) (in|notin) \(([^)]*)\)$/.exec(term);
  if (set !== null) {
    const [, key = '', operator, values = ''] = set;
    return {
      key,
      operator: operator === 'in' ? 'In' : 'NotIn',
      values: values.split(',').map((value) => value.trim()),
    };
  }
  const equality = /^([^!=]+)(!=|==?)(.*)$/.exec(term);
  if (equality !== null) {
    const [, key = '', operator, value = ''] = equality;
    return { key, operator: operator === '!=' ? 'NotIn' : 'In', values: [value] };
  }
  return term.startsWith('!') ? { key: term.slice(1), operator: 'DoesNotExist' } : { key: term, operator: 'Exists' };
}
