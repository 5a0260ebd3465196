import { formatTime, isEqualJson, copyOf, type ObjectKey, type UntypedObject } from '../../api/index.ts';
import { shapeOf, trackUpdate } from '../apply/index.ts';
import { badRequest, conflict, invalid } from '../failure.ts';
import { apiVersionOf, storageId, type Resource } from '../registry/index.ts';
import { rulesOf, validateMetadata, validateMetadataUpdate, type Rules } from '../rules/index.ts';
import { isFields, type Fields } from '../schema/index.ts';
import { Entry } from '../storage/index.ts';
import type { Api, ObjectTarget } from './api.ts';
import { asDraft, validateCustom, type WriteOptions } from './create.ts';
import { normalize } from './decode.ts';
import { chargeForWrite } from './quota.ts';
import { isFinished } from './remove.ts';

export type UpdateTarget = 'object' | 'status' | 'finalize' | 'approval';

export interface UpdateOptions extends WriteOptions {
  readonly target: UpdateTarget;
}

/** Kinds that refuse an update without a resource version. */
const conditionalOnly = new Set([
  'leases.coordination.k8s.io',
  'poddisruptionbudgets.policy',
  'customresourcedefinitions.apiextensions.k8s.io',
]);

/** Replaces the stored object with one that `decode` returned. */
export function replaceObject(
  api: Api,
  { resource, key }: ObjectTarget,
  decoded: Fields,
  options: UpdateOptions,
): Entry {
  const old = api.get(resource, key);
  const metadata = isFields(decoded['metadata']) ? decoded['metadata'] : {};
  const { name, namespace, resourceVersion = '', uid = '' } = metadata;
  if (name !== undefined && name !== old.object.metadata.name) {
    throw badRequest(
      `the name of the object (${JSON.stringify(name)}) does not match the name on the URL (${old.object.metadata.name})`,
    );
  }
  if (namespace !== undefined && namespace !== old.object.metadata.namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
  const isCustom = resource.type.kind === 'custom';
  if (resourceVersion === '' && (isCustom || conditionalOnly.has(storageId(resource)))) {
    const detail = 'must be specified for an update';
    const field = 'metadata.resourceVersion';
    throw invalid(resource, old.object.metadata.name, [{ type: 'Invalid', field, value: 0, detail }]);
  }
  if (uid !== '' && uid !== old.object.metadata.uid) {
    const why = `Precondition failed: UID in precondition: ${String(uid)}, UID in object meta: ${old.object.metadata.uid}`;
    throw conflict(resource, old.object.metadata.name, why);
  }
  if (resourceVersion !== '' && resourceVersion !== old.object.metadata.resourceVersion) {
    throw conflict(resource, old.object.metadata.name);
  }
  return storeUpdate(api, resource, { key, old, next: decoded }, options);
}

interface Transition {
  readonly key: ObjectKey;
  readonly old: Entry;
  /** The desired object. Changes to read-only fields are ignored. */
  readonly next: Fields;
}

/** Applies the changes that the target allows, and stores the result, unless nothing has changed. */
export function storeUpdate(
  api: Api,
  resource: Resource,
  { key, old, next }: Transition,
  options: UpdateOptions,
): Entry {
  const storage = storageId(resource);
  const rules = rulesOf(storage, resource.type.kind === 'custom');
  const draft = asDraft(normalize(merge(old.object, next, resource, options.target), resource));
  const previous = old.object;
  if (options.target === 'object') {
    rules.defaults?.(draft);
    rules.beforeUpdate?.(draft, previous, api.writeContext());
    countGeneration(draft, previous, rules);
  } else if (options.target === 'status') rules.beforeStatusUpdate?.(draft, previous, api.writeContext());
  else if (options.target === 'approval') rules.beforeApproval?.(draft, previous, api.writeContext());
  const errors = [
    ...validateMetadata(draft.metadata, () => undefined),
    ...validateMetadataUpdate(draft.metadata, previous.metadata),
    ...(options.target === 'object' ? (rules.validate?.(draft, previous) ?? []) : []),
    ...(options.target === 'object' ? (rules.validateUpdate?.(draft, previous) ?? []) : []),
    ...(options.target === 'status' ? (rules.validateStatus?.(draft, previous) ?? []) : []),
    ...validateCustom(draft, resource),
  ];
  if (errors.length > 0) throw invalid(resource, previous.metadata.name, errors);
  if (options.target === 'object') rules.admitUpdate?.(draft, previous, api.writeContext());
  const object = asDraft(normalize(draft, resource));
  object.metadata.resourceVersion = previous.metadata.resourceVersion;
  manageFields(api, resource, { object, previous }, options);
  if (isEqualJson(object, asStored(previous, resource))) return old;
  const { dryRun, target } = options;
  if (target === 'object' || target === 'status') {
    chargeForWrite(api, resource, { key, object, old: previous, isStatus: target === 'status', dryRun });
  }
  if (options.dryRun) return new Entry(object, old.version);
  if (isFinished(object, previous)) return api.store.remove(storage, key, object);
  return api.store.put(storage, key, object);
}

/**
 * Tracks the owners of fields for objects that were applied. Other objects are stored without managed fields, to save
 * memory.
 */
function manageFields(
  api: Api,
  resource: Resource,
  { object, previous }: { readonly object: UntypedObject; readonly previous: UntypedObject },
  { target, manager = 'unknown', managedFields }: UpdateOptions,
): void {
  const before = previous.metadata.managedFields ?? [];
  delete object.metadata.managedFields;
  if (managedFields !== undefined) object.metadata.managedFields = managedFields;
  else if (before.length > 0) {
    const writer = {
      manager,
      operation: 'Update',
      apiVersion: apiVersionOf(resource),
      subresource: target === 'object' ? undefined : target,
      time: formatTime(api.nowMs),
    } as const;
    const change = { before: previous, after: object, managedFields: before, shape: shapeOf(resource), writer };
    object.metadata.managedFields = trackUpdate(change);
  }
}

function asStored(object: UntypedObject, resource: Resource): UntypedObject {
  return resource.type.kind === 'built-in' ? object : { ...object, apiVersion: apiVersionOf(resource) };
}

const kept = ['name', 'namespace', 'uid', 'creationTimestamp', 'generation', 'generateName'] as const;
const keptWhenDeleted = ['deletionTimestamp', 'deletionGracePeriodSeconds'] as const;

function merge(old: UntypedObject, next: Fields, resource: Resource, target: UpdateTarget): Fields {
  const given = isFields(next['metadata']) ? next['metadata'] : {};
  const metadata: Fields = { ...given };
  for (const field of [...kept, ...keptWhenDeleted]) {
    if (old.metadata[field] === undefined) delete metadata[field];
    else metadata[field] = old.metadata[field];
  }
  const copy = copyOf(old);
  switch (target) {
    case 'object': {
      const hasStatus = resource.subresources.has('status');
      return { ...next, metadata, ...(hasStatus && { status: copy['status'] }) };
    }
    case 'status': {
      // In a custom resource, only the status can change here.
      const isCustom = resource.type.kind === 'custom';
      return { ...copy, ...(isCustom ? {} : { metadata }), status: next['status'] };
    }
    case 'approval': {
      const status = isFields(next['status']) ? next['status'] : {};
      const before = isFields(copy['status']) ? copy['status'] : {};
      return { ...copy, status: { ...before, conditions: status['conditions'] } };
    }
    case 'finalize': {
      const spec = isFields(next['spec']) ? next['spec'] : {};
      const before = isFields(copy['spec']) ? copy['spec'] : {};
      return { ...copy, spec: { ...before, finalizers: spec['finalizers'] } };
    }
  }
}

/** Everything but metadata and status counts as specification. */
function countGeneration(draft: UntypedObject, previous: UntypedObject, rules: Rules): void {
  if (rules.tracksGeneration !== true) return;
  const specOf = (object: UntypedObject): Fields => ({
    ...object,
    metadata: rules.countsAnnotations === true ? object.metadata.annotations : undefined,
    apiVersion: undefined,
    status: undefined,
  });
  if (isEqualJson(specOf(draft), specOf(previous), { emptyIsAbsent: true })) return;
  draft.metadata.generation = (previous.metadata.generation ?? 0) + 1;
}
