import { readFile } from 'node:fs/promises';

import { CORE_SCHEMA, load } from 'js-yaml';
import * as z from 'zod';

import { FlagError, isRepeatable, readFlag, type Flag, type FlagType, type GivenFlags } from '../../pkg/flags/index.ts';
import { exitCodes, StartupError } from './exit-codes.ts';
import type { AllFlags } from './flags/index.ts';

export const configApiVersion = 'kubecontrollermanager.config.k8s.io/v1alpha1';
export const configKind = 'KubeControllerManagerConfiguration';

/** The flags that a file sets, in the form of a command line. Throws a `StartupError` if a field is unknown or wrong. */
export async function readConfigFile(path: string, flags: AllFlags): Promise<GivenFlags> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    const why = error instanceof Error ? error.message : String(error);
    throw new StartupError(exitCodes.environment, `--config: cannot read the file: ${why}`, { cause: error });
  });
  try {
    return parseConfig(load(text, { schema: CORE_SCHEMA }), flags);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new StartupError(exitCodes.usage, `--config ${path}: ${why.split('\n', 1)[0] ?? ''}`, { cause: error });
  }
}

/** Throws a `ConfigError` whose message starts with the path of the field. */
export function parseConfig(content: unknown, flags: AllFlags): GivenFlags {
  const result = configSchema(flags).safeParse(content ?? {});
  if (!result.success) {
    const [issue] = result.error.issues;
    const path = issue?.path.join('.') ?? '';
    throw new ConfigError(path === '' ? (issue?.message ?? '') : `${path}: ${issue?.message ?? ''}`);
  }
  const given = new Map<string, readonly string[]>();
  for (const [name, { config }] of flags) {
    if (config === undefined) continue;
    const value = valueAt(result.data, config.split('.'));
    if (value !== undefined) given.set(name, occurrencesOf(value));
  }
  return given;
}

/** A field of the configuration file is unknown or wrong. */
class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly reason = 'BadConfig';
}

interface SchemaTree {
  [field: string]: SchemaTree | z.ZodType;
}

function configSchema(flags: AllFlags): z.ZodType {
  const root: SchemaTree = {
    apiVersion: z.literal(configApiVersion).optional(),
    kind: z.literal(configKind).optional(),
  };
  for (const [name, flag] of flags) {
    if (flag.config !== undefined) setAt(root, flag.config.split('.'), fieldSchema(name, flag));
  }
  return objectSchema(root);
}

function objectSchema(tree: SchemaTree): z.ZodType {
  const fields = Object.entries(tree).map(([name, value]): [string, z.ZodType] => [
    name,
    value instanceof z.ZodType ? value : objectSchema(value),
  ]);
  return z.strictObject(Object.fromEntries(fields)).optional();
}

function setAt(tree: SchemaTree, path: readonly string[], schema: z.ZodType): void {
  const [field = '', ...rest] = path;
  if (rest.length === 0) {
    tree[field] = schema;
    return;
  }
  const child = tree[field];
  const branch = child === undefined || child instanceof z.ZodType ? {} : child;
  tree[field] = branch;
  setAt(branch, rest, schema);
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  const [field, ...rest] = path;
  if (field === undefined) return value;
  return typeof value === 'object' && value !== null && field in value
    ? valueAt(Object.entries(value).find(([name]) => name === field)?.[1], rest)
    : undefined;
}

/** YAML has its own types. A number in place of a duration is an error: its unit would be a guess. */
function fieldSchema(name: string, flag: Flag): z.ZodType {
  const yaml = yamlSchema(flag.type);
  const checked = yaml.superRefine((value, context) => {
    try {
      readFlag(name, flag, occurrencesOf(value));
    } catch (error) {
      if (!(error instanceof FlagError)) throw error;
      context.addIssue(error.message);
    }
  });
  return checked.optional();
}

function yamlSchema(type: FlagType): z.ZodType {
  switch (type) {
    case 'bool':
      return z.boolean();
    case 'int':
    case 'int32':
    case 'float':
    case 'float32':
    case 'Level':
      return z.number();
    case 'quantity':
      return z.union([z.string(), z.number()]);
    case 'int32Slice':
      return z.array(z.number());
    case 'stringToString':
      return z.record(z.string(), z.string());
    case 'colonSeparatedMultimapStringString':
      return z.union([z.record(z.string(), z.boolean()), z.array(z.string())]);
    default:
      return isRepeatable(type) ? z.array(z.string()) : z.string();
  }
}

function occurrencesOf(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.map(String);
  if (typeof value !== 'object' || value === null) return [String(value)];
  return Object.entries(value).map(([key, each]) => `${key}=${String(each)}`);
}
