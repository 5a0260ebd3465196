import { readFileSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';

import { CORE_SCHEMA, load } from 'js-yaml';
import * as z from 'zod';

import { ConfigError } from './errors.ts';

const optionalText = z.string().optional();

const clusterSchema = z.looseObject({
  server: z.string().min(1),
  'certificate-authority': optionalText,
  'certificate-authority-data': optionalText,
  'insecure-skip-tls-verify': z.boolean().optional(),
  'tls-server-name': optionalText,
  'proxy-url': optionalText,
});

const execSchema = z.looseObject({
  command: z.string().min(1),
  apiVersion: optionalText,
  env: z.array(z.object({ name: z.string(), value: z.string() })).nullish(),
  provideClusterInfo: z.boolean().optional(),
});

const userSchema = z.looseObject({
  token: optionalText,
  tokenFile: optionalText,
  'client-certificate': optionalText,
  'client-key': optionalText,
  'as-uid': optionalText,
  'as-groups': z.array(z.string()).optional(),
  'as-user-extra': z.record(z.string(), z.array(z.string())).nullish(),
  exec: execSchema.optional(),
});

const contextSchema = z.looseObject({ cluster: z.string().min(1), user: optionalText });

// Entries that the current context does not use may be invalid, so each entry is validated when it is used.
const fileSchema = z.looseObject({
  'current-context': optionalText,
  contexts: z.array(z.looseObject({ name: z.string() })).nullish(),
  clusters: z.array(z.looseObject({ name: z.string() })).nullish(),
  users: z.array(z.looseObject({ name: z.string() })).nullish(),
});

export type KubeconfigCluster = z.output<typeof clusterSchema>;
export type KubeconfigUser = z.output<typeof userSchema>;

/** The current context of a kubeconfig, with absolute paths. */
export interface CurrentContext {
  readonly cluster: KubeconfigCluster;
  readonly user: KubeconfigUser;
}

/** Throws `ConfigError` if the file is not valid. The message is one line that names the file and the field. */
export function readKubeconfigFile(path: string): CurrentContext {
  const place = `kubeconfig ${path}`;
  const file = check(place, fileSchema, parseYaml(place, readNamedFile(place, path)));
  const contextName = file['current-context'];
  if (contextName === undefined || contextName === '') throw new ConfigError(`${place}: current-context is not set`);
  const context = entry({ place, kind: 'context', name: contextName }, contextSchema, file.contexts);
  const cluster = entry({ place, kind: 'cluster', name: context.cluster }, clusterSchema, file.clusters);
  const user =
    context.user === undefined || context.user === ''
      ? {}
      : entry({ place, kind: 'user', name: context.user }, userSchema, file.users);

  const directory = dirname(path);
  const absolute = (field: string, name: string | undefined): string | undefined => {
    if (name === undefined || name === '') return undefined;
    const absolutePath = isAbsolute(name) ? name : join(directory, name);
    readNamedFile(`${place}: ${field}`, absolutePath); // fails at the start instead of at the first request
    return absolutePath;
  };
  return {
    cluster: {
      ...cluster,
      server: httpUrl(`${place}: server`, cluster.server, { hasTls: hasTls(cluster, user) }),
      'certificate-authority': absolute('certificate-authority', cluster['certificate-authority']),
      'proxy-url': proxyUrl(`${place}: proxy-url`, cluster['proxy-url']),
    },
    user: {
      ...user,
      tokenFile: absolute('tokenFile', user.tokenFile),
      'client-certificate': absolute('client-certificate', user['client-certificate']),
      'client-key': absolute('client-key', user['client-key']),
      exec: user.exec && { ...user.exec, command: commandPath(directory, user.exec.command) },
    },
  };
}

export function hasTls(cluster: KubeconfigCluster, user: KubeconfigUser): boolean {
  const authority = cluster['certificate-authority'] ?? cluster['certificate-authority-data'];
  const certificate = user['client-certificate'] ?? user['client-certificate-data'];
  return isSet(authority) || isSet(certificate) || cluster['insecure-skip-tls-verify'] === true;
}

function isSet(text: unknown): boolean {
  return text !== undefined && text !== '';
}

export function readNamedFile(field: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    const why = code === 'ENOENT' ? 'no such file' : code === 'EACCES' ? 'permission denied' : 'unreadable';
    throw new ConfigError(field.endsWith(path) ? `${field}: ${why}` : `${field}: ${path}: ${why}`, { cause: error });
  }
}

/** An address without a scheme is http, or https if TLS is configured, like in Go. It must not have a path. */
export function httpUrl(field: string, text: string, { hasTls = false }: { readonly hasTls?: boolean } = {}): string {
  const isBare = !/^[a-z]+:\/\//i.test(text);
  const url = isBare ? `${hasTls ? 'https' : 'http'}://${text}` : text;
  const parsed = URL.parse(url);
  const hasPath = parsed !== null && parsed.pathname !== '/';
  if (parsed === null || !['http:', 'https:'].includes(parsed.protocol) || (isBare && hasPath)) {
    throw new ConfigError(`${field}: ${JSON.stringify(text)} is not an http or https address`);
  }
  return url;
}

function proxyUrl(field: string, text: string | undefined): string | undefined {
  if (text === undefined || text === '') return undefined;
  const parsed = URL.parse(text);
  if (parsed === null || !['http:', 'https:'].includes(parsed.protocol)) {
    throw new ConfigError(`${field}: ${JSON.stringify(text)} is not an http or https address`);
  }
  return text;
}

/** A bare name is looked for in PATH; a relative path starts at the kubeconfig. */
function commandPath(directory: string, command: string): string {
  return command.includes('/') && !isAbsolute(command) ? join(directory, command) : command;
}

function parseYaml(place: string, text: string): unknown {
  try {
    return load(text, { schema: CORE_SCHEMA });
  } catch (error) {
    const why = error instanceof Error ? (error.message.split('\n')[0] ?? '') : '';
    throw new ConfigError(`${place}: not valid YAML: ${why.replace(/:$/, '')}`, { cause: error });
  }
}

interface EntryName {
  readonly place: string;
  readonly kind: 'context' | 'cluster' | 'user';
  readonly name: string;
}

function entry<S extends z.ZodType>(
  { place, kind, name }: EntryName,
  schema: S,
  entries: readonly Readonly<Record<string, unknown>>[] | null | undefined,
): z.output<S> {
  const found = entries?.find((candidate) => candidate['name'] === name);
  if (found === undefined) throw new ConfigError(`${place}: ${kind} ${JSON.stringify(name)} does not exist`);
  return check(`${place}: ${kind} ${JSON.stringify(name)}`, schema, found[kind] ?? {});
}

function check<S extends z.ZodType>(place: string, schema: S, value: unknown): z.output<S> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const field = issue?.path.join('.') ?? '';
  throw new ConfigError(`${place}: ${field === '' ? '' : `${field}: `}${issue?.message ?? 'invalid'}`);
}
