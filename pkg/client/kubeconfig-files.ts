import { readFileSync } from 'node:fs';
import { delimiter, dirname, isAbsolute, join } from 'node:path';

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
  args: z.array(z.string()).nullish(),
  apiVersion: optionalText,
  env: z.array(z.object({ name: z.string(), value: z.string() })).nullish(),
  provideClusterInfo: z.boolean().optional(),
});

const userSchema = z.looseObject({
  token: optionalText,
  tokenFile: optionalText,
  username: optionalText,
  password: optionalText,
  'client-certificate': optionalText,
  'client-certificate-data': optionalText,
  'client-key': optionalText,
  'client-key-data': optionalText,
  as: optionalText,
  'as-uid': optionalText,
  'as-groups': z.array(z.string()).optional(),
  'as-user-extra': z.record(z.string(), z.array(z.string())).nullish(),
  exec: execSchema.optional(),
  'auth-provider': z.looseObject({ name: z.string() }).optional(),
});

const contextSchema = z.looseObject({ cluster: z.string().min(1), user: optionalText, namespace: optionalText });

// Entries that the current context does not use may be invalid, so each entry is validated when it is used.
const fileSchema = z.looseObject({
  'current-context': optionalText,
  contexts: z.array(z.looseObject({ name: z.string() })).nullish(),
  clusters: z.array(z.looseObject({ name: z.string() })).nullish(),
  users: z.array(z.looseObject({ name: z.string() })).nullish(),
});

export type KubeconfigCluster = z.output<typeof clusterSchema>;
export type KubeconfigUser = z.output<typeof userSchema>;

export type ExecPlugin = z.output<typeof execSchema>;

/** The current context of a kubeconfig, with absolute paths. */
export interface CurrentContext {
  readonly cluster: KubeconfigCluster;
  readonly user: KubeconfigUser;
  readonly namespace: string | undefined;
}

/**
 * Reads one kubeconfig or several, as kubectl merges them: the first file that has a name, or sets the current context,
 * wins. Throws `ConfigError` if they are not valid. The message is one line that names the file and the field.
 */
export function readKubeconfigFiles(paths: readonly string[]): CurrentContext {
  const files = paths.map(readFile);
  const place = `kubeconfig ${paths.join(delimiter)}`;
  const contextName = files.map((file) => file.content['current-context']).find(isSet);
  if (contextName === undefined) throw new ConfigError(`${place}: current-context is not set`);
  const find = <S extends z.ZodType>(kind: EntryKind, name: string, schema: S): Entry<z.output<S>> =>
    findEntry({ place, kind, name }, schema, files);
  const { value: context } = find('context', contextName, contextSchema);
  const { user: userName = '' } = context;
  const cluster = find('cluster', context.cluster, clusterSchema);
  const user: Entry<KubeconfigUser> =
    userName === '' ? { value: {}, file: cluster.file } : find('user', userName, userSchema);
  if (user.value['auth-provider'] !== undefined) {
    const { name } = user.value['auth-provider'];
    throw new ConfigError(`${user.file.place}: auth-provider ${JSON.stringify(name)} is not supported, use exec`);
  }
  return {
    cluster: resolveCluster(cluster, hasTls(cluster.value, user.value)),
    user: resolveUser(user),
    namespace: isSet(context.namespace) ? context.namespace : undefined,
  };
}

interface File {
  readonly path: string;
  readonly place: string;
  readonly content: z.output<typeof fileSchema>;
}

/** An entry, and the file that its paths are relative to. */
interface Entry<T> {
  readonly value: T;
  readonly file: File;
}

function readFile(path: string): File {
  const place = `kubeconfig ${path}`;
  // An empty file is no mistake: kubectl makes one.
  return { path, place, content: check(place, fileSchema, parseYaml(place, readNamedFile(place, path)) ?? {}) };
}

function resolveCluster({ value, file }: Entry<KubeconfigCluster>, tls: boolean): KubeconfigCluster {
  const { place } = file;
  return {
    ...value,
    server: httpUrl(`${place}: server`, value.server, { hasTls: tls }),
    'certificate-authority': absolute(file, 'certificate-authority', value['certificate-authority']),
    'proxy-url': proxyUrl(`${place}: proxy-url`, value['proxy-url']),
  };
}

function resolveUser({ value, file }: Entry<KubeconfigUser>): KubeconfigUser {
  return {
    ...value,
    tokenFile: absolute(file, 'tokenFile', value.tokenFile),
    'client-certificate': absolute(file, 'client-certificate', value['client-certificate']),
    'client-key': absolute(file, 'client-key', value['client-key']),
    exec: value.exec && { ...value.exec, command: commandPath(dirname(file.path), value.exec.command) },
  };
}

function absolute({ path, place }: File, field: string, name: string | undefined): string | undefined {
  if (!isSet(name)) return undefined;
  const absolutePath = isAbsolute(name) ? name : join(dirname(path), name);
  readNamedFile(`${place}: ${field}`, absolutePath); // fails at the start instead of at the first request
  return absolutePath;
}

export function hasTls(cluster: KubeconfigCluster, user: KubeconfigUser): boolean {
  const authority = cluster['certificate-authority'] ?? cluster['certificate-authority-data'];
  const certificate = user['client-certificate'] ?? user['client-certificate-data'];
  return isSet(authority) || isSet(certificate) || cluster['insecure-skip-tls-verify'] === true;
}

export function isSet(text: string | undefined): text is string {
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

type EntryKind = 'context' | 'cluster' | 'user';

interface EntryName {
  readonly place: string;
  readonly kind: EntryKind;
  readonly name: string;
}

function findEntry<S extends z.ZodType>(
  { place, kind, name }: EntryName,
  schema: S,
  files: readonly File[],
): Entry<z.output<S>> {
  for (const file of files) {
    const found = file.content[`${kind}s`]?.find((candidate) => candidate['name'] === name);
    if (found === undefined) continue;
    return { value: check(`${file.place}: ${kind} ${JSON.stringify(name)}`, schema, found[kind] ?? {}), file };
  }
  throw new ConfigError(`${place}: ${kind} ${JSON.stringify(name)} does not exist`);
}

function check<S extends z.ZodType>(place: string, schema: S, value: unknown): z.output<S> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const field = issue?.path.join('.') ?? '';
  throw new ConfigError(`${place}: ${field === '' ? '' : `${field}: `}${issue?.message ?? 'invalid'}`);
}
