import { formatTime, ownValue } from '../../api/index.ts';
import { applyFields, shapeOf, type Conflict, type Writer } from '../apply/index.ts';
import { badRequest, Failure, invalid } from '../failure.ts';
import { apiVersionOf, type Resource } from '../registry/index.ts';
import { isFields, type Fields } from '../schema/index.ts';
import { asVersion, type Api, type ObjectTarget } from './api.ts';
import { createObject } from './create.ts';
import { decode } from './decode.ts';
import type { Patched, PatchOptions } from './patch.ts';
import { storeUpdate } from './update.ts';

export interface ApplyOptions extends Omit<PatchOptions, 'type'> {
  readonly force: boolean;
}

/** Server-side apply: merges the applied configuration into the object, or creates the object if it does not exist. */
export function applyObject(
  api: Api,
  target: ObjectTarget & { readonly namespace: string | undefined; readonly name: string },
  body: unknown,
  options: ApplyOptions,
): Patched & { readonly created: boolean } {
  if (!isFields(body)) throw badRequest('error decoding YAML: it is not an object');
  const { resource, namespace, name, key } = target;
  const { manager = '', force } = options;
  const subresource = options.target === 'object' ? undefined : options.target;
  if (manager === '') {
    const detail = 'is required for apply patch';
    const subject = { group: 'meta.k8s.io', resource: '', kind: 'PatchOptions' };
    throw invalid(subject, '', [{ type: 'Required', field: 'fieldManager', detail }]);
  }
  checkApplied(body, name, resource);
  const { object: read, warnings } = decode(body, resource, options.validation);
  const applied = restrict(read, body) as Fields; // of two objects
  const found = api.find(resource, key);
  const old = found && asVersion(found, resource);
  if (old === undefined && subresource !== undefined)
    throw badRequest('apply to a subresource cannot create an object');
  const writer: Writer = {
    manager,
    operation: 'Apply',
    apiVersion: apiVersionOf(resource),
    subresource,
    time: formatTime(api.nowMs),
  };
  const managedFields = old?.object.metadata.managedFields ?? [];
  const outcome = applyFields({
    live: old?.object,
    managedFields,
    applied,
    shape: shapeOf(resource),
    writer,
    force,
  });
  if (outcome.kind === 'conflict') throw refuse(outcome.conflicts);
  const write = { ...options, managedFields: outcome.managedFields };
  const { object } = decode(outcome.object, resource, 'Ignore');
  if (manager === 'kubectl') noteLastApplied(object, body);
  if (old === undefined) {
    return { entry: createObject(api, { resource, namespace }, object, write), warnings, created: true };
  }
  return { entry: storeUpdate(api, resource, { key, old, next: object }, write), warnings, created: false };
}

const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';

/** A client that goes back to client-side apply must find the last applied configuration in its annotation. */
function noteLastApplied(object: Fields, applied: Fields): void {
  const metadata = isFields(object['metadata']) ? object['metadata'] : {};
  const annotations = isFields(metadata['annotations']) ? metadata['annotations'] : {};
  if (annotations[lastApplied] === undefined) return;
  const given = isFields(applied['metadata']) ? applied['metadata'] : {};
  const { [lastApplied]: _own, ...others } = isFields(given['annotations']) ? given['annotations'] : {};
  const { annotations: _all, ...rest } = given;
  const kept = Object.keys(others).length === 0 ? {} : { annotations: others };
  annotations[lastApplied] = `${JSON.stringify(inOrder({ ...applied, metadata: { ...rest, ...kept } }))}\n`;
}

/** In the key order of Go's maps. */
function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder);
  if (!isFields(value)) return value;
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([name, each]) => [name, inOrder(each)]));
}

/** The given value in the form in which it would be stored: `0.1` is the same quantity as `100m`. */
function restrict(read: unknown, given: unknown): unknown {
  if (isFields(given) && isFields(read)) {
    const entries = Object.entries(given).filter(([, value]) => value !== null);
    return Object.fromEntries(entries.map(([name, value]) => [name, restrict(ownValue(read, name), value)]));
  }
  if (Array.isArray(given) && Array.isArray(read)) return given.map((item, index) => restrict(read[index], item));
  return read ?? given;
}

function checkApplied(body: Fields, name: string, resource: Resource): void {
  const { apiVersion, kind } = body;
  if (apiVersion === undefined || kind === undefined) throw badRequest('apiVersion and kind must be set');
  const metadata = isFields(body['metadata']) ? body['metadata'] : {};
  if (metadata['managedFields'] !== undefined && metadata['managedFields'] !== null) {
    throw badRequest('metadata.managedFields must be nil');
  }
  if (metadata['name'] !== undefined && metadata['name'] !== name) {
    throw badRequest(`name in URL does not match name in ${resource.kind} object`);
  }
}

function refuse(conflicts: readonly Conflict[]): Failure {
  const causes = conflicts.map(({ manager, operation, apiVersion, field }) => ({
    reason: 'FieldManagerConflict',
    message: `conflict with ${JSON.stringify(manager)}${operation === 'Update' ? ` using ${apiVersion}` : ''}`,
    field,
  }));
  const count = causes.length === 1 ? '1 conflict' : `${causes.length} conflicts`;
  const message = `Apply failed with ${count}: ${describeConflicts(causes)}`;
  return new Failure(409, 'Conflict', message, { details: { causes } });
}

/** A single conflict is on one line. Several are grouped by manager. */
function describeConflicts(causes: readonly { readonly message: string; readonly field: string }[]): string {
  const [first] = causes;
  if (first !== undefined && causes.length === 1) return `${first.message}: ${first.field}`;
  const byManager = Map.groupBy(causes, ({ message }) => message.replace(/^conflict /, 'conflicts '));
  return [...byManager]
    .map(([message, each]) => `${message}:\n${each.map(({ field }) => `- ${field}`).join('\n')}`)
    .join('\n');
}
