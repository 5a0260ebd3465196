import { badRequest, conflict, Failure, invalid, DefectError } from '../failure.ts';
import { applyJsonPatch, applyMerge, applyStrategicMerge } from '../patch/index.ts';
import type { Resource } from '../registry/index.ts';
import { isFields, type Fields } from '../schema/index.ts';
import type { Entry } from '../storage/index.ts';
import { asVersion, type Api, type ObjectTarget } from './api.ts';
import type { WriteOptions } from './create.ts';
import { decode, type Decoded, type FieldValidation } from './decode.ts';
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
export function patchObject(api: Api, { resource, key }: ObjectTarget, patch: unknown, options: PatchOptions): Patched {
  const old = asVersion(api.get(resource, key), resource);
  const patched = applyPatchOf(options.type, old.object, patch, resource);
  const { object, warnings } = decodePatched(patched, patch, resource, options);
  const metadata = isFields(object['metadata']) ? object['metadata'] : {};
  const { name, resourceVersion, uid } = metadata;
  const present = old.object.metadata;
  if (name !== present.name) throw badRequest(`the name of the object (${String(name)}) cannot be changed`);
  if (uid !== present.uid) {
    const why = `Precondition failed: UID in precondition: ${String(uid)}, UID in object meta: ${present.uid}`;
    throw conflict(resource, present.name, why);
  }
  // A patch with a resource version applies to that version only.
  if (resourceVersion !== undefined && resourceVersion !== present.resourceVersion) {
    throw conflict(resource, present.name);
  }
  return { entry: storeUpdate(api, resource, { key, old, next: object }, options), warnings };
}

/** An object that cannot be decoded after a patch is an error in the patch. */
function decodePatched(patched: Fields, patch: unknown, resource: Resource, options: PatchOptions): Decoded {
  try {
    return decode(patched, resource, options.validation);
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== 400) throw error;
    const detail = error.message.replace(/^.* cannot be handled as a \w+: /, '');
    const value = options.type === 'strategic' ? goText(patch) : JSON.stringify(patched);
    throw invalid({ group: '', resource: '', kind: '' }, '', [{ type: 'Invalid', field: 'patch', value, detail }]);
  }
}

/** A patch as Go prints it, by which time merged lists have been removed from it. */
function goText(value: unknown): string {
  if (value === null || value === undefined) return '<nil>';
  if (Array.isArray(value)) return `[${value.map(goText).join(' ')}]`;
  if (!isFields(value)) return typeof value === 'string' ? value : JSON.stringify(value);
  const isMerged = (each: unknown): boolean => Array.isArray(each) && each.some(isFields);
  const entries = Object.entries(value)
    .filter(([name, each]) => !name.startsWith('$') && !isMerged(each))
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `map[${entries.map(([name, each]) => `${name}:${goText(each)}`).join(' ')}]`;
}

export function applyPatchOf(type: PatchType, object: Fields, patch: unknown, resource: Resource): Fields {
  if (type === 'json') return requireObject(applyJsonPatch(object, patch));
  if (!isFields(patch)) throw badRequest('error decoding patch: it is not an object');
  if (type === 'merge') return applyMerge(object, patch);
  if (resource.type.kind === 'custom') {
    throw new DefectError('a custom resource cannot be patched strategically'); // refused by its media type
  }
  return applyStrategicMerge(object, patch, resource.type.object);
}

function requireObject(value: unknown): Fields {
  if (!isFields(value)) throw new Failure(422, 'Invalid', 'the patched value is not an object');
  return value;
}
