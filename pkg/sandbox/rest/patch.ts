import type { ObjectKey } from '../../api/index.ts';
import { badRequest, conflict, Failure } from '../failure.ts';
import { applyJsonPatch, applyMerge, applyStrategicMerge } from '../patch/index.ts';
import type { Resource } from '../registry/index.ts';
import { isFields, type Fields } from '../schema/index.ts';
import type { Entry } from '../storage/index.ts';
import { asVersion, type Api } from './api.ts';
import type { WriteOptions } from './create.ts';
import { decode, type FieldValidation } from './decode.ts';
import { storeUpdate, type UpdateTarget } from './update.ts';

export const patchTypes = {
  'application/json-patch+json': 'json',
  'application/merge-patch+json': 'merge',
  'application/strategic-merge-patch+json': 'strategic',
} as const;

export type PatchType = (typeof patchTypes)[keyof typeof patchTypes];

export interface PatchOptions extends WriteOptions {
  readonly target: UpdateTarget;
  readonly type: PatchType;
  readonly validation: FieldValidation;
}

export interface Patched {
  readonly entry: Entry;
  readonly warnings: readonly string[];
}

/** Changes a stored object by a patch. */
export function patchObject(
  api: Api,
  resource: Resource,
  key: ObjectKey,
  patch: unknown,
  options: PatchOptions,
): Patched {
  const old = asVersion(api.get(resource, key), resource);
  const patched = applyPatchOf(options.type, old.object, patch, resource);
  const { object, warnings } = decode(patched, resource, options.validation);
  const metadata = isFields(object['metadata']) ? object['metadata'] : {};
  const { name, resourceVersion, uid } = metadata;
  const present = old.object.metadata;
  if (name !== present.name) throw badRequest(`the name of the object (${String(name)}) cannot be changed`);
  if (uid !== present.uid) {
    const why = `Precondition failed: UID in precondition: ${String(uid)}, UID in object meta: ${present.uid}`;
    throw conflict(resource, present.name, why);
  }
  // A patch that says which version it is for is held to it.
  if (resourceVersion !== undefined && resourceVersion !== present.resourceVersion) {
    throw conflict(resource, present.name);
  }
  return { entry: storeUpdate(api, resource, { key, old, next: object }, options), warnings };
}

export function applyPatchOf(type: PatchType, object: Fields, patch: unknown, resource: Resource): Fields {
  if (type === 'json') return requireObject(applyJsonPatch(object, patch));
  if (!isFields(patch)) throw badRequest('error decoding patch: it is not an object');
  if (type === 'merge') return applyMerge(object, patch);
  if (resource.type.kind === 'custom') {
    const accepted = 'application/json-patch+json, application/merge-patch+json';
    const message = `the body of the request was in an unknown format - accepted media types include: ${accepted}`;
    throw new Failure(415, 'UnsupportedMediaType', message);
  }
  return applyStrategicMerge(object, patch, resource.type.object);
}

function requireObject(value: unknown): Fields {
  if (!isFields(value)) throw new Failure(422, 'Invalid', 'the patched value is not an object');
  return value;
}
