import {
  formatTime,
  Namespaces,
  objectKey,
  isBeingDeleted,
  type ObjectMeta,
  type UntypedObject,
} from '../../api/index.ts';
import type { ManagedFields } from '../apply/index.ts';
import { validateReplicas } from '../custom/replicas.ts';
import { validateValue } from '../custom/structural.ts';
import { alreadyExists, badRequest, forbidden, invalid, notFound, type FieldError } from '../failure.ts';
import { storageId, type Resource } from '../registry/index.ts';
import { randomSuffix, rulesOf, validateMetadata } from '../rules/index.ts';
import { isFields, type Fields } from '../schema/index.ts';
import { Entry } from '../storage/index.ts';
import { keyIn, type Api } from './api.ts';
import { normalize } from './decode.ts';
import { chargeForWrite } from './quota.ts';

export interface WriteOptions {
  readonly dryRun: boolean;
  /** The writer, for the owners of fields. */
  readonly manager?: string | undefined;
  /** The owners of the fields, if an apply has decided them. */
  readonly managedFields?: ManagedFields | undefined;
}

/** The place of a new object. Its name is in its metadata. */
export interface CreateTarget {
  readonly resource: Resource;
  readonly namespace: string | undefined;
}

/** Stores a new object that `decode` returned. */
export function createObject(
  api: Api,
  { resource, namespace }: CreateTarget,
  decoded: Fields,
  options: WriteOptions,
): Entry {
  const storage = storageId(resource);
  const rules = rulesOf(storage, resource.type.kind === 'custom');
  const metadata = newMetadata(api, resource, namespace, decoded['metadata']);
  if ((metadata.name ?? '') === '') {
    const detail = 'name or generateName is required';
    throw invalid(resource, '', [{ type: 'Required', field: 'metadata.name', detail }]);
  }
  if (resource.namespaced) requireNamespace(api, resource, metadata.namespace ?? '', metadata.name ?? '');
  const { status, ...rest } = decoded;
  const keepsStatus = rules.keepsStatusOnCreate === true || !resource.subresources.has('status');
  if (rules.tracksGeneration === true) metadata.generation = 1;
  const draft = asDraft(normalize({ ...rest, ...(keepsStatus && { status }), metadata }, resource));
  rules.defaults?.(draft);
  const key = keyIn(resource, draft.metadata.namespace, draft.metadata.name);
  if (api.find(resource, key) !== undefined) throw alreadyExists(resource, draft.metadata.name);
  rules.beforeCreate?.(draft, api.writeContext());
  const errors = [
    ...validateMetadata(draft.metadata, rules.nameProblem),
    ...(rules.validate?.(draft) ?? []),
    ...validateCustom(draft, resource),
  ];
  if (errors.length > 0) throw invalid(resource, draft.metadata.name, errors);
  const object = asDraft(normalize(draft, resource));
  if (options.managedFields !== undefined) object.metadata.managedFields = options.managedFields;
  chargeForWrite(api, resource, { key, object, dryRun: options.dryRun });
  if (options.dryRun) return new Entry(object, api.store.version);
  return api.store.put(storage, key, object);
}

/** The result of `normalize`: an object with metadata that no other code holds. */
export function asDraft(object: Fields): UntypedObject {
  return object as UntypedObject;
}

export function validateCustom(object: Fields, { type }: Resource): FieldError[] {
  if (type.kind === 'built-in') return [];
  const { schema, scale } = type.custom;
  return [
    ...(schema === undefined ? [] : validateValue(object, schema, '')),
    ...(scale === undefined ? [] : validateReplicas(object, scale.specReplicasPath)),
  ];
}

function newMetadata(api: Api, resource: Resource, namespace: string | undefined, given: unknown): ObjectMeta {
  const metadata: ObjectMeta = isFields(given) ? { ...given } : {};
  if ((metadata.resourceVersion ?? '') !== '') {
    throw badRequest('resourceVersion should not be set on objects to be created');
  }
  if (resource.namespaced) {
    if ((metadata.namespace ?? namespace) !== namespace) {
      throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
    }
    metadata.namespace = namespace;
  } else if ((metadata.namespace ?? '') !== '') {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
  if ((metadata.name ?? '') === '' && (metadata.generateName ?? '') !== '') {
    metadata.name = `${(metadata.generateName ?? '').slice(0, 58)}${randomSuffix(api.random)}`;
  }
  for (const field of ['deletionTimestamp', 'deletionGracePeriodSeconds', 'selfLink', 'managedFields'] as const) {
    delete metadata[field];
  }
  metadata.uid = api.newUid();
  metadata.creationTimestamp = formatTime(api.nowMs);
  delete metadata.generation;
  return metadata;
}

/** Refuses new objects in a namespace that does not exist or is terminating. */
function requireNamespace(api: Api, resource: Resource, namespace: string, name: string): void {
  const found = api.store.get('namespaces', objectKey(undefined, namespace));
  if (found === undefined) throw notFound(Namespaces, namespace);
  if (!isBeingDeleted(found.object.metadata)) return;
  const why = `unable to create new content in namespace ${namespace} because it is being terminated`;
  const message = `namespace ${namespace} is being terminated`;
  throw forbidden(resource, name, why, [{ reason: 'NamespaceTerminating', message, field: 'metadata.namespace' }]);
}
