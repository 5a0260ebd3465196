import { ownValue } from '../../api/index.ts';
import { badRequest, methodNotAllowed, unknownPath } from '../failure.ts';
import type { User } from '../auth/index.ts';
import type { Resource } from '../registry/index.ts';
import { asVersion, keyIn } from '../rest/api.ts';
import { applyObject } from '../rest/apply.ts';
import { createObject } from '../rest/create.ts';
import { decode, type FieldValidation } from '../rest/decode.ts';
import { applyPatchOf, patchObject, patchTypes, type PatchType } from '../rest/patch.ts';
import { evictPod } from '../rest/evictions.ts';
import { bindPod } from '../rest/pods.ts';
import { answerReview, createToken } from '../rest/reviews.ts';
import { scaleOf, updateScale } from '../rest/scale.ts';
import { replaceObject, type UpdateTarget } from '../rest/update.ts';
import { isFields, type Fields } from '../schema/index.ts';
import type { Entry } from '../storage/index.ts';
import { ok, type Answer } from './answer.ts';
import { mediaTypeOf, parseBody, readBody, unsupportedMediaType } from './body.ts';
import { isTrue, requireVerb, success, viewOf, type Call, type ResourceDeps } from './call.ts';
import { collectionAnswer, deleteAnswer, watchAnswer } from './collections.ts';
import { showObject } from './represent.ts';
import type { WatchDeps } from './watch.ts';

/** Handles a request for a resource; returns undefined if the response is a stream that has started. */
export async function answerCall(deps: ResourceDeps, call: Call): Promise<Answer | undefined> {
  const { name, subresource } = call.path;
  if (name === undefined) return answerCollection(deps, call);
  if (subresource !== undefined) return answerSubresource(deps, call, name, subresource);
  const { api } = deps;
  const { request, resource, path, dryRun } = call;
  const key = keyIn(resource, path.namespace, name);
  switch (request.method) {
    case 'GET':
      requireVerb(resource, 'get');
      if (isTrue(call.query.get('watch'))) return watchAnswer(deps, call, `metadata.name=${name}`);
      return shown(deps, call, { entry: api.get(resource, key) });
    case 'PUT': {
      requireVerb(resource, 'update');
      const { object, warnings } = decode(await readObject(deps, call), resource, validationOf(call));
      const options = { dryRun, manager: call.manager, target: 'object' } as const;
      return shown(deps, call, { entry: replaceObject(api, { resource, key }, object, options), warnings });
    }
    case 'PATCH':
      requireVerb(resource, 'patch');
      return patchAnswer(deps, call, name, 'object');
    case 'DELETE':
      requireVerb(resource, 'delete');
      return deleteAnswer(deps, call, key, await readOptional(deps, call));
    default:
      throw methodNotAllowed();
  }
}

async function answerCollection(deps: ResourceDeps, call: Call): Promise<Answer | undefined> {
  const { request, resource, path, query } = call;
  switch (request.method) {
    case 'GET':
      requireVerb(resource, 'list');
      return isTrue(query.get('watch')) ? watchAnswer(deps, call) : collectionAnswer(deps, call);
    case 'POST':
      return createAnswer(deps, call);
    case 'DELETE':
      requireVerb(resource, 'deletecollection');
      return deleteAnswer(deps, call, undefined, await readOptional(deps, call));
    default:
      throw path.namespace === undefined && resource.namespaced ? unknownPath() : methodNotAllowed();
  }
}

async function createAnswer(deps: ResourceDeps, call: Call): Promise<Answer> {
  const { resource, path, user, dryRun } = call;
  requireVerb(resource, 'create');
  if (resource.namespaced && path.namespace === undefined) throw methodNotAllowed();
  const { object, warnings } = decode(await readObject(deps, call), resource, validationOf(call));
  const review = await answerReview(resource, object, user, deps.authenticator);
  if (review !== undefined) return { status: 201, body: review };
  if (resource.group === '' && resource.resource === 'bindings') {
    const metadata = isFields(object['metadata']) ? object['metadata'] : {};
    return bindAnswer(deps, call, typeof metadata['name'] === 'string' ? metadata['name'] : '', object);
  }
  const { namespace } = path;
  const entry = createObject(deps.api, { resource, namespace }, withAuthor(object, resource, user), { dryRun });
  return shown(deps, call, { entry, status: 201, warnings });
}

/** The server sets the user of a certificate request, whatever the client sends. */
function withAuthor(object: Fields, { group, resource }: Resource, { username, uid, groups, extra }: User): Fields {
  if (group !== 'certificates.k8s.io' || resource !== 'certificatesigningrequests') return object;
  const spec = isFields(object['spec']) ? object['spec'] : {};
  return { ...object, spec: { ...spec, username, uid, groups: [...groups], extra } };
}

const updateTargets: Readonly<Record<string, UpdateTarget>> = {
  status: 'status',
  finalize: 'finalize',
  approval: 'approval',
};

async function answerSubresource(deps: ResourceDeps, call: Call, name: string, subresource: string): Promise<Answer> {
  const { request, resource, path, dryRun } = call;
  const { api } = deps;
  const verbs = resource.subresources.get(subresource);
  if (verbs === undefined) throw unknownPath();
  const verb = ownValue(subresourceVerbs, request.method ?? '');
  if (verb === undefined || !verbs.includes(verb)) throw methodNotAllowed();
  const key = keyIn(resource, path.namespace, name);
  if (subresource === 'scale') return scaleAnswer(deps, call, name);
  const target = ownValue(updateTargets, subresource);
  if (target !== undefined) {
    if (verb === 'get') return shown(deps, call, { entry: api.get(resource, key) });
    if (verb === 'patch') return patchAnswer(deps, call, name, target);
    const { object, warnings } = decode(await readObject(deps, call), resource, validationOf(call));
    const options = { dryRun, manager: call.manager, target };
    return shown(deps, call, { entry: replaceObject(api, { resource, key }, object, options), warnings });
  }
  const body = await readObject(deps, call);
  switch (subresource) {
    case 'binding':
      return bindAnswer(deps, call, name, body);
    case 'eviction':
      evictPod(api, key, body, { dryRun });
      return { status: 201, body: success() };
    case 'token': {
      const place = { namespace: path.namespace ?? '', name };
      return { status: 201, body: await createToken(api, deps.tokens, place, body) };
    }
    default:
      throw unknownPath();
  }
}

const subresourceVerbs: Readonly<Record<string, string>> = {
  GET: 'get',
  PUT: 'update',
  PATCH: 'patch',
  POST: 'create',
};

async function scaleAnswer(deps: ResourceDeps, call: Call, name: string): Promise<Answer> {
  const { api } = deps;
  const { request, resource, path } = call;
  const key = keyIn(resource, path.namespace, name);
  const present = scaleOf(resource, asVersion(api.get(resource, key), resource));
  if (request.method === 'GET') return ok(present);
  if (request.method === 'PUT') return ok(updateScale(api, { resource, key }, await readObject(deps, call), call));
  const type = patchTypeOf(call);
  const patch = parseBody(await readBody(request), mediaTypeOf(request), deps.api.registry);
  // A scale has no lists, so a strategic merge patch is a merge patch.
  const patched = applyPatchOf(type === 'strategic' ? 'merge' : type, { ...present }, patch, resource);
  return ok(updateScale(api, { resource, key }, patched, call));
}

function bindAnswer({ api }: ResourceDeps, call: Call, name: string, binding: Fields): Answer {
  const pods = api.registry.get('', 'v1', 'pods');
  bindPod(api, keyIn(pods, call.path.namespace, name), binding, call);
  return { status: 201, body: success() };
}

async function patchAnswer(deps: ResourceDeps, call: Call, name: string, target: UpdateTarget): Promise<Answer> {
  const { request, resource, path, dryRun, manager } = call;
  const key = keyIn(resource, path.namespace, name);
  const common = { dryRun, target, manager, validation: validationOf(call) };
  if (mediaTypeOf(request) === applyType) {
    const body = parseBody(await readBody(request), applyType, deps.api.registry);
    const options = {
      ...common,
      manager: call.query.get('fieldManager') ?? '',
      force: isTrue(call.query.get('force')),
    };
    const place = { resource, key, namespace: path.namespace, name };
    const { entry, created, warnings } = applyObject(deps.api, place, body, options);
    return shown(deps, call, { entry, status: created ? 201 : 200, warnings });
  }
  const options = { ...common, type: patchTypeOf(call) };
  const patch = parseBody(await readBody(request), mediaTypeOf(request), deps.api.registry);
  return shown(deps, call, patchObject(deps.api, { resource, key }, patch, options));
}

const applyType = 'application/apply-patch+yaml';

function patchTypeOf({ request, resource }: Call): PatchType {
  const mediaType = mediaTypeOf(request);
  const types: Readonly<Record<string, PatchType>> = patchTypes;
  const type = types[mediaType];
  const isCustom = resource.type.kind === 'custom';
  const isOffered = type !== undefined && !(type === 'strategic' && isCustom);
  if (isOffered) return type;
  const offered = Object.entries(patchTypes).filter(([, each]) => !(each === 'strategic' && isCustom));
  throw unsupportedMediaType([...offered.map(([name]) => name), applyType].join(', '));
}

interface Outcome {
  readonly entry: Entry;
  /** Default: 200. */
  readonly status?: number | undefined;
  readonly warnings?: readonly string[] | undefined;
}

function shown(deps: WatchDeps, call: Call, { entry, status = 200, warnings }: Outcome): Answer {
  const { resource } = call;
  return { status, body: showObject(asVersion(entry, resource), resource, viewOf(deps, call)), warnings };
}

async function readObject(deps: ResourceDeps, { request }: Call): Promise<Fields> {
  const value = parseBody(await readBody(request), mediaTypeOf(request), deps.api.registry);
  if (!isFields(value)) throw badRequest('the body of the request is not an object');
  return value;
}

/** The body of a delete is optional. */
async function readOptional(deps: ResourceDeps, { request }: Call): Promise<Fields> {
  const body = await readBody(request);
  if (body.length === 0) return {};
  const value = parseBody(body, mediaTypeOf(request), deps.api.registry);
  if (value === null) return {};
  if (!isFields(value)) throw badRequest('the body of the request is not an object');
  return value;
}

function validationOf({ query }: Call): FieldValidation {
  const value = query.get('fieldValidation') ?? '';
  if (value === 'Strict' || value === 'Ignore' || value === 'Warn') return value;
  if (value === '') return 'Warn';
  throw badRequest(`fieldValidation: Unsupported value: ${JSON.stringify(value)}`);
}
