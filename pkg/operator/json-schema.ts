import * as z from 'zod';

import { isEqualJson } from '../api/index.ts';
import { DefinitionError } from './definition-error.ts';
import { re2Pattern, stringChecks } from './string-format.ts';

/** The registry of zod without ids: a schema with an id would become a reference, which no structural schema may have. */
class WithoutIds extends z.core.$ZodRegistry<z.core.GlobalMeta> {
  override get<S extends z.core.$ZodType>(schema: S): z.core.$replace<z.core.GlobalMeta, S> | undefined {
    const meta = z.globalRegistry.get(schema);
    return meta === undefined ? undefined : { ...meta, id: undefined };
  }
}

const refusedTypes: Readonly<Record<string, string>> = {
  pipe: 'a transform changes objects, but caches have them as the API server sends them',
  transform: 'a transform changes objects, but caches have them as the API server sends them',
  tuple: 'the items of a list must have the same type: use z.array or z.object',
  file: 'an object cannot have a file',
  promise: 'an object cannot have a promise',
  success: 'the API server cannot run a schema',
};

const refusedChecks: Readonly<Record<string, string>> = {
  overwrite: 'the API server cannot change values',
  custom: 'the API server cannot run a refinement: use x-kubernetes-validations in meta()',
  property: 'the API server cannot check a property alone: use x-kubernetes-validations in meta()',
};

/**
 * The JSON schema of a zod schema. It has references only where the schema is recursive. Throws a `DefinitionError` that names the field for what JSON
 * schema would lose: code of the author, keys of maps, flags of patterns, defaults that are not valid.
 */
export function jsonSchemaOf(schema: z.ZodType, path: string): unknown {
  try {
    // Input: a field with a default is not required, because the API server fills it in.
    const { definitions: _, ...json } = z.toJSONSchema(schema, {
      target: 'openapi-3.0',
      io: 'input',
      cycles: 'ref', // an error of zod's would not name the field
      metadata: new WithoutIds(),
      unrepresentable: ({ path: within, message }) => {
        throw new DefinitionError(`${fieldPath(path, within)}: ${message}`);
      },
      override: ({ zodSchema, jsonSchema, path: within }) => complete(zodSchema, jsonSchema, fieldPath(path, within)),
    });
    return json;
  } catch (error) {
    if (error instanceof DefinitionError) throw error;
    throw new DefinitionError(`${path}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

function complete(schema: z.core.$ZodTypes, json: z.core.JSONSchema.BaseSchema, path: string): void {
  refuseCode(schema, path);
  switch (schema._zod.def.type) {
    case 'string':
      return completeString(schema as z.core.$ZodString, json, path);
    case 'template_literal':
      return completeTemplate(schema as z.core.$ZodTemplateLiteral, json, path);
    case 'record':
      return checkKeys(schema as z.core.$ZodRecord, path);
    case 'default':
    case 'prefault':
    case 'catch':
      return checkDefault((schema as z.core.$ZodDefault)._zod.def.innerType, json['default'], path);
    default:
  }
}

/** Refuses functions of the author: the API server cannot run them, and a cached object has not been through them. */
function refuseCode({ _zod: { def } }: z.core.$ZodTypes, path: string): void {
  const why = refusedTypes[def.type];
  if (why !== undefined) throw new DefinitionError(`${path}: ${why}`);
  for (const { _zod } of def.checks ?? []) {
    const refusal = refusedChecks[_zod.def.check];
    if (refusal !== undefined) throw new DefinitionError(`${path}: ${refusal}`);
  }
}

/** zod leaves out the flags of patterns, and names formats that the API server does not know. */
function completeString(schema: z.core.$ZodString, json: z.core.JSONSchema.BaseSchema, path: string): void {
  for (const keyword of ['format', 'pattern', 'allOf', 'contentEncoding']) delete json[keyword];
  const { format, pattern } = z.globalRegistry.get(schema) ?? {};
  Object.assign(
    json,
    stringChecks(schema, path),
    format !== undefined && { format },
    pattern !== undefined && { pattern },
  );
}

function completeTemplate(schema: z.core.$ZodTemplateLiteral, json: z.core.JSONSchema.BaseSchema, path: string): void {
  json.pattern = re2Pattern(schema._zod.pattern, path);
}

function checkKeys({ _zod: { def } }: z.core.$ZodRecord, path: string): void {
  const key = def.keyType._zod.def;
  if (key.type === 'string' && (key.checks ?? []).length === 0 && !('check' in key)) return;
  const advice = 'use z.string() and x-kubernetes-validations in meta(), or z.object()';
  throw new DefinitionError(`${path}: the API server cannot check the keys of a map: ${advice}`);
}

function checkDefault(schema: z.core.$ZodType, value: unknown, path: string): void {
  const refuse = (why: string): never => {
    throw new DefinitionError(`${path}: the default ${JSON.stringify(value)} ${why}`);
  };
  if (value === null) refuse('is ignored by the API server: use optional()');
  const parsed = z.safeParse(schema, value);
  if (!parsed.success) return refuse(`is not valid: ${parsed.error.issues.map(({ message }) => message).join(', ')}`);
  if (!isEqualJson(withFieldsOf(parsed.data, value), value)) refuse('has fields that the schema does not have');
}

/** What is left of a value: parsing removes unknown fields, and adds defaults. */
function withFieldsOf(parsed: unknown, given: unknown): unknown {
  if (Array.isArray(parsed) && Array.isArray(given))
    return parsed.map((item, index) => withFieldsOf(item, given[index]));
  if (!isFields(parsed) || !isFields(given)) return parsed;
  return Object.fromEntries(
    Object.entries(parsed).flatMap(([name, value]) =>
      Object.hasOwn(given, name) ? [[name, withFieldsOf(value, given[name])]] : [],
    ),
  );
}

/** zod's path goes through the JSON schema, such as `properties`, `replicas`. */
function fieldPath(root: string, within: readonly (string | number)[]): string {
  const [step, next, ...rest] = within;
  if (step === undefined) return root;
  if (step === 'properties' && next !== undefined) return fieldPath(`${root}.${next}`, rest);
  const place = step === 'items' ? '[]' : step === 'additionalProperties' ? '.*' : '';
  return fieldPath(`${root}${place}`, within.slice(1));
}

function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
