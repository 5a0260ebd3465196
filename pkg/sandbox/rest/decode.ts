import { fillDefaults } from '../../api/index.ts';
import { prune } from '../custom/structural.ts';
import { badRequest } from '../failure.ts';
import { apiVersionOf, type Resource } from '../registry/index.ts';
import { conform, isFields, objectType, TypeMismatch, type Fields } from '../schema/index.ts';

/** What happens to unknown fields: dropped, dropped with a warning, or refused. */
export type FieldValidation = 'Ignore' | 'Warn' | 'Strict';

export interface Decoded {
  readonly object: Fields;
  readonly warnings: readonly string[];
}

const metaType = objectType('io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta');

/** Decodes the body of a request as an object of this resource. Throws 400 if it is not one. */
export function decode(body: unknown, resource: Resource, validation: FieldValidation): Decoded {
  if (!isFields(body)) throw badRequest(`${resource.kind} in version "${resource.version}" is not an object`);
  checkKind(body, resource);
  const unknown: string[] = [];
  const object = read({ ...body, apiVersion: apiVersionOf(resource), kind: resource.kind }, resource, unknown);
  const warnings = unknown.map((path) => `unknown field "${path}"`);
  if (validation === 'Strict' && warnings.length > 0) {
    throw badRequest(
      `${resource.kind} in version "${resource.version}" cannot be handled as a ${resource.kind}: strict decoding error: ${warnings.join(', ')}`,
    );
  }
  return { object, warnings: validation === 'Warn' ? warnings : [] };
}

/** Converts an object that rules have changed into the form in which it is stored. */
export function normalize(object: Fields, resource: Resource): Fields {
  return read(object, resource, []);
}

function read(object: Fields, resource: Resource, unknown: string[]): Fields {
  try {
    if (resource.type.kind === 'built-in') return conform(object, resource.type.object, { unknown });
    const { schema } = resource.type.custom;
    const pruned = prune(object, schema);
    unknown.push(...pruned.unknown);
    const metadata = isFields(object['metadata']) ? object['metadata'] : {};
    const custom: Fields = { ...pruned.object, metadata: conform(metadata, metaType, { unknown }) };
    if (schema !== undefined) fillDefaults(custom, schema);
    return custom;
  } catch (error) {
    if (!(error instanceof TypeMismatch)) throw error;
    const text = `${resource.kind} in version "${resource.version}" cannot be handled as a ${resource.kind}: ${error.message}`;
    throw badRequest(text);
  }
}

function checkKind(body: Fields, resource: Resource): void {
  const { apiVersion = '', kind = '' } = body;
  const expected = apiVersionOf(resource);
  const isCustom = resource.type.kind === 'custom';
  if ((apiVersion === '' || apiVersion === null) && (kind === '' || kind === null) && !isCustom) return;
  if (apiVersion !== '' && apiVersion !== expected) {
    throw badRequest(
      `the API version in the data (${String(apiVersion)}) does not match the expected API version (${expected})`,
    );
  }
  if (kind !== resource.kind && !(kind === '' && !isCustom)) {
    throw badRequest(
      `${String(kind)} in version "${resource.version}" cannot be handled as a ${resource.kind}: ` +
        `the kind in the data does not match the expected kind`,
    );
  }
}
