import {
  apiVersionOf,
  CertificateSigningRequests,
  keyOf,
  Namespaces,
  Pods,
  resourceName,
  ServiceAccounts,
  splitKey,
  stringifyBody,
} from '../api/index.ts';
import type {
  CertificateSigningRequest,
  Kind,
  KubeObject,
  Namespace,
  ObjectKey,
  Scale,
  TokenRequest,
  Unsaved,
} from '../api/index.ts';
import type {
  Client,
  DeleteCollectionOptions,
  DeleteOptions,
  ListOptions,
  ObjectList,
  Patch,
  RawRequest,
  WatchEvent,
  WatchOptions,
} from './client.ts';
import { messageOf } from '../protobuf/index.ts';
import { InvalidNameError, isExpired, isProtobufError } from './errors.ts';
import { collectionPath, objectPath, query } from './paths.ts';
import { Requester, type RequesterOptions, type RequestSpec } from './requester.ts';
import { protobufType, watchFormatOf, type WatchFormatName } from './watch-format.ts';
import { readWatchEvents } from './watch-stream.ts';

const pageSize = 500;
const acceptJson = 'application/json';
const acceptMetadata = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json';
const acceptMetadataProtobuf = `${protobufType};as=PartialObjectMetadata;g=meta.k8s.io;v=v1`;
const acceptMetadataList = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json';

const patchContentTypes: Readonly<Record<Patch['type'], string>> = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml', // JSON is YAML
};

export interface RestClientOptions extends RequesterOptions {
  /** Default: protobuf. */
  readonly watchFormat?: WatchFormatName | undefined;
}

/** The verbs of the API, as paths, queries and bodies. The types of responses are not validated. */
export class RestClient implements Client {
  readonly name: string;
  readonly #requester: Requester;
  readonly #options: RestClientOptions;
  #decodesProtobuf: boolean;

  constructor(options: RestClientOptions) {
    this.name = options.name;
    this.#options = options;
    this.#requester = new Requester(options);
    this.#decodesProtobuf = options.watchFormat !== 'json' && options.keepManagedFields !== true;
  }

  async get<T extends KubeObject>(kind: Kind<T>, key: ObjectKey, signal: AbortSignal): Promise<T> {
    return (await this.#send('GET', target('get', kind, key), { repetition: 'safe' }, signal)) as T;
  }

  async list<T extends KubeObject>(kind: Kind<T>, options: ListOptions, signal: AbortSignal): Promise<ObjectList<T>> {
    const { namespace, ...parameters } = options;
    const spec: RequestSpec = {
      method: 'GET',
      path: collectionPath(kind, namespace) + query(parameters),
      attempted: attempt('list', kind, namespace),
      repetition: 'safe',
      accept: kind.metadataOnly === true ? acceptMetadataList : undefined,
    };
    const list = (await this.#requester.send(spec, signal)) as ObjectList<T> & { items: T[] | null };
    // Go writes an empty PartialObjectMetadataList with null for its items.
    return list.items === null ? { ...list, items: [] } : list;
  }

  async listAll<T extends KubeObject>(
    kind: Kind<T>,
    options: ListOptions,
    signal: AbortSignal,
  ): Promise<ObjectList<T>> {
    const first = await this.list(kind, { limit: pageSize, ...options }, signal);
    // A continue token includes the resource version of its list. The server rejects it together with another one.
    const next = { limit: pageSize, ...options, resourceVersion: undefined, resourceVersionMatch: undefined };
    const { items } = first;
    let token = first.metadata.continue;
    while (token !== undefined && token !== '') {
      try {
        const page = await this.list(kind, { ...next, continue: token }, signal);
        for (const item of page.items) items.push(item);
        token = page.metadata.continue;
      } catch (error) {
        // The pages took longer than the server keeps history. Continuing would mix two resource versions. A list
        // without pages cannot expire.
        if (isExpired(error)) return this.list(kind, { ...options, limit: undefined, continue: undefined }, signal);
        throw error;
      }
    }
    return { ...first, metadata: { ...first.metadata, continue: undefined, remainingItemCount: undefined }, items };
  }

  async *watch<T extends KubeObject>(
    kind: Kind<T>,
    options: WatchOptions,
    signal: AbortSignal,
  ): AsyncGenerator<WatchEvent<T>, void, undefined> {
    for await (const events of this.watchBatches(kind, options, signal)) yield* events;
  }

  async *watchBatches<T extends KubeObject>(
    kind: Kind<T>,
    options: WatchOptions,
    signal: AbortSignal,
  ): AsyncGenerator<readonly WatchEvent<T>[], void, undefined> {
    const { namespace, idleTimeoutMs, sharesParts, ...parameters } = options;
    const attempted = attempt('watch', kind, namespace);
    const spec: RequestSpec = {
      method: 'GET',
      path: collectionPath(kind, namespace) + query({ watch: true, ...parameters }),
      attempted,
      repetition: 'safe',
      accept: this.#watchFormats(kind),
    };
    const { headers, stream } = await this.#requester.open(spec, signal);
    const { clock, keepManagedFields } = this.#options;
    const format = watchFormatOf(headers['content-type'], { keepManagedFields, sharesParts });
    try {
      yield* readWatchEvents<T>(stream, { attempted, clock, idleTimeoutMs, format }, signal);
    } catch (error) {
      if (isProtobufError(error)) this.#decodesProtobuf = false; // the next watch would fail at the same event
      throw error;
    }
  }

  /** What a watch asks for: protobuf where it can be decoded. */
  #watchFormats(kind: Kind): string | undefined {
    const json = kind.metadataOnly === true ? acceptMetadata : acceptJson;
    const isDescribed = kind.metadataOnly === true || messageOf(apiVersionOf(kind), kind.kind) !== undefined;
    if (!isDescribed || !this.#decodesProtobuf) return json;
    return kind.metadataOnly === true ? `${acceptMetadataProtobuf},${json}` : `${protobufType},${json}`;
  }

  async create<T extends KubeObject>(kind: Kind<T>, object: Unsaved<T>, signal: AbortSignal): Promise<T> {
    const { namespace, name, generateName } = object.metadata;
    if (kind.namespaced && (namespace === undefined || namespace === '')) {
      throw new InvalidNameError(`create ${resourceName(kind)} ${name ?? generateName}: a namespace is needed`);
    }
    const path = collectionPath(kind, namespace);
    const attempted = `${attempt('create', kind, namespace)}/${name ?? `${generateName}*`}`;
    const options: SendOptions = { repetition: 'once', body: typed(kind, object) };
    return (await this.#send('POST', { kind, path, attempted }, options, signal)) as T;
  }

  async update<T extends KubeObject>(kind: Kind<T>, object: Unsaved<T>, signal: AbortSignal): Promise<T> {
    return (await this.#put(target('update', kind, keyOf(object)), object, signal)) as T;
  }

  async updateStatus<T extends KubeObject>(kind: Kind<T>, object: Unsaved<T>, signal: AbortSignal): Promise<T> {
    return (await this.#put(target('update status of', kind, keyOf(object), 'status'), object, signal)) as T;
  }

  async patch<T extends KubeObject>(kind: Kind<T>, key: ObjectKey, patch: Patch, signal: AbortSignal): Promise<T> {
    const { type, body, subresource, fieldManager, force } = patch;
    const place = target('patch', kind, key, subresource);
    const options: SendOptions = {
      // Applying the same state twice has no further effect. Other patches may append.
      repetition: type === 'apply' ? 'repeatable' : 'once',
      contentType: patchContentTypes[type],
      body,
    };
    const path = place.path + query({ fieldManager, force });
    return (await this.#send('PATCH', { ...place, path }, options, signal)) as T;
  }

  async delete(kind: Kind, key: ObjectKey, options: DeleteOptions, signal: AbortSignal): Promise<void> {
    await this.#send('DELETE', target('delete', kind, key), deletion(options, acceptMetadata), signal);
  }

  async deleteCollection(kind: Kind, options: DeleteCollectionOptions, signal: AbortSignal): Promise<void> {
    const { namespace, labelSelector, fieldSelector, ...deleteOptions } = options;
    const path = collectionPath(kind, namespace) + query({ labelSelector, fieldSelector });
    const place = { kind, path, attempted: attempt('delete all', kind, namespace) };
    await this.#send('DELETE', place, deletion(deleteOptions, acceptMetadataList), signal);
  }

  async getScale(kind: Kind, key: ObjectKey, signal: AbortSignal): Promise<Scale> {
    const place = target('get scale of', kind, key, 'scale');
    return (await this.#send('GET', place, { repetition: 'safe', accept: acceptJson }, signal)) as Scale;
  }

  async updateScale(kind: Kind, key: ObjectKey, scale: Scale, signal: AbortSignal): Promise<Scale> {
    const place = target('update scale of', kind, key, 'scale');
    const body = { apiVersion: 'autoscaling/v1', kind: 'Scale', ...scale };
    const repetition = scale.metadata?.resourceVersion === undefined ? 'once' : 'repeatable';
    return (await this.#send('PUT', place, { repetition, accept: acceptJson, body }, signal)) as Scale;
  }

  async bindPod(pod: ObjectKey, nodeName: string, signal: AbortSignal): Promise<void> {
    const body = {
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: splitKey(pod),
      target: { apiVersion: 'v1', kind: 'Node', name: nodeName },
    };
    await this.#send('POST', target('bind', Pods, pod, 'binding'), { repetition: 'once', body }, signal);
  }

  async evictPod(pod: ObjectKey, options: DeleteOptions, signal: AbortSignal): Promise<void> {
    const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: splitKey(pod), deleteOptions: options };
    await this.#send('POST', target('evict', Pods, pod, 'eviction'), { repetition: 'once', body }, signal);
  }

  async createToken(serviceAccount: ObjectKey, request: TokenRequest, signal: AbortSignal): Promise<TokenRequest> {
    const place = target('create token for', ServiceAccounts, serviceAccount, 'token');
    const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', ...request };
    // The server does not store tokens, so a lost response does no harm.
    return (await this.#send('POST', place, { repetition: 'repeatable', body }, signal)) as TokenRequest;
  }

  async finalizeNamespace(namespace: Unsaved<Namespace>, signal: AbortSignal): Promise<Namespace> {
    const place = target('finalize', Namespaces, keyOf(namespace), 'finalize');
    return (await this.#put(place, namespace, signal)) as Namespace;
  }

  async updateApproval(
    request: Unsaved<CertificateSigningRequest>,
    signal: AbortSignal,
  ): Promise<CertificateSigningRequest> {
    const place = target('update approval of', CertificateSigningRequests, keyOf(request), 'approval');
    return (await this.#put(place, request, signal)) as CertificateSigningRequest;
  }

  request({ method, path, body, headers }: RawRequest, signal: AbortSignal): Promise<unknown> {
    const { Accept: accept, 'Content-Type': contentType, ...others } = headers ?? {};
    const spec: RequestSpec = {
      method,
      path,
      attempted: `${method} ${path}`,
      repetition: method === 'GET' ? 'safe' : 'once',
      accept,
      contentType,
      body: body === undefined ? undefined : JSON.stringify(body),
      headers: Object.entries(others).flatMap(([name, value]) => [name.toLowerCase(), value]),
    };
    return this.#requester.send(spec, signal);
  }

  #put(place: Target, object: Unsaved<KubeObject>, signal: AbortSignal): Promise<unknown> {
    // With a resourceVersion, a second update can only be rejected.
    const repetition = object.metadata.resourceVersion === undefined ? 'once' : 'repeatable';
    return this.#send('PUT', place, { repetition, body: typed(place.kind, object) }, signal);
  }

  #send(method: RequestSpec['method'], place: Target, options: SendOptions, signal: AbortSignal): Promise<unknown> {
    const { path, attempted, kind } = place;
    const { body, accept = kind.metadataOnly === true ? acceptMetadata : undefined, ...others } = options;
    const json = body === undefined ? undefined : stringifyBody(body);
    return this.#requester.send({ ...others, method, path, attempted, accept, body: json }, signal);
  }
}

interface Target {
  readonly kind: Kind;
  readonly path: string;
  readonly attempted: string;
}

type SendOptions = Pick<RequestSpec, 'repetition' | 'accept' | 'contentType' | 'ignoreAnswer'> & {
  readonly body?: unknown;
};

function target(verb: string, kind: Kind, key: ObjectKey, subresource?: string): Target {
  return { kind, path: objectPath(kind, key, subresource), attempted: attempt(verb, kind, key) };
}

function attempt(verb: string, kind: Kind, where: string | undefined): string {
  return where === undefined || where === ''
    ? `${verb} ${resourceName(kind)}`
    : `${verb} ${resourceName(kind)} ${where}`;
}

/** Items of a list have no apiVersion and kind, and the server requires both for custom resources. */
function typed(kind: Kind, object: Unsaved<KubeObject>): unknown {
  return object.kind === kind.kind && object.apiVersion !== undefined
    ? object
    : { ...object, apiVersion: apiVersionOf(kind), kind: kind.kind };
}

/** The response to a delete is the object or a Status. It is not read, so ask for metadata only. */
function deletion(options: DeleteOptions, accept: string): SendOptions {
  const { gracePeriodSeconds, propagationPolicy, preconditions } = options;
  const asked = gracePeriodSeconds ?? propagationPolicy ?? preconditions;
  return {
    // Without a uid, a second delete could delete another object of the same name.
    repetition: preconditions?.uid === undefined ? 'once' : 'repeatable',
    accept,
    ignoreAnswer: true,
    body: asked === undefined ? undefined : { apiVersion: 'v1', kind: 'DeleteOptions', ...options },
  };
}
