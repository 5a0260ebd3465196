import { createPrivateKey, X509Certificate } from 'node:crypto';
import { existsSync } from 'node:fs';

import type { Clock } from '../time/index.ts';
import { RenewedCredentials, type Credentials, type Identity, type Renewal } from './credentials.ts';
import { ConfigError } from './errors.ts';
import { runExecPlugin, type PluginCredential } from './exec-plugin.ts';
import { hasTls, httpUrl, isSet, readKubeconfigFiles, readNamedFile, type CurrentContext } from './kubeconfig-files.ts';
import type { PluginCertificate } from './observer.ts';
import { isSameTls, type TlsIdentity } from './tls-options.ts';
import type { ServerAddress } from './transport.ts';

/** Token and certificate files are read again this often, like in client-go. Rotated files overlap for longer. */
const rereadMs = 60_000;
const mountedServiceAccount = '/var/run/secrets/kubernetes.io/serviceaccount';

type Environment = Readonly<Record<string, string | undefined>>;

export interface KubeconfigOptions {
  /** Default, without `paths`: the service account that is mounted into the pod. */
  readonly path?: string | undefined;
  /** Several kubeconfigs, of which the first that has a name wins. See `findKubeconfig`. */
  readonly paths?: readonly string[] | undefined;
  /** Overrides the address in the kubeconfig. */
  readonly server?: string | undefined;
  /**
   * HTTPS_PROXY, NO_PROXY and similar variables, which `proxy-url` in the kubeconfig overrides, and those that tell a pod
   * where the API server is. Default: no proxy, and what the process was told.
   */
  readonly proxyEnv?: Environment | undefined;
  /** Where the service account is mounted into the pod. Default: where Kubernetes mounts it. */
  readonly serviceAccountDirectory?: string | undefined;
  /** Called with each client certificate from a credential plugin, for metrics. */
  readonly onPluginCertificate?: ((certificate: PluginCertificate) => void) | undefined;
}

/** A server and the credentials for it. */
export interface Connection {
  readonly address: ServerAddress;
  readonly credentials: Credentials;
  /** TLS settings without a client certificate, for clients with their own token. */
  readonly anonymousTls: () => TlsIdentity;
  /** The namespace of the context or of the pod. */
  readonly namespace?: string | undefined;
}

/** Reads a kubeconfig, its files and its plugins. Throws `ConfigError` if they are not valid. */
export async function loadKubeconfig(options: KubeconfigOptions, clock: Clock): Promise<Connection> {
  const access = readAccess(options, clock);
  let { tls } = await access.identity();
  let anonymousTls = withoutCertificate(tls);
  const reportCertificate = (): void => {
    if (access.usesPlugin && tls.cert !== undefined) options.onPluginCertificate?.(validityOf(tls.cert));
  };
  reportCertificate();
  let current = access;
  const renew = async (rejected: boolean): Promise<Renewal> => {
    if (rejected) current = readAccess(options, clock); // the file may name other credentials, and plugins run again
    const { renewAfterMs, ...identity } = await current.identity();
    if (!isSameTls(tls, identity.tls)) {
      tls = identity.tls;
      anonymousTls = withoutCertificate(tls);
      reportCertificate();
    }
    return { identity: { ...identity, tls }, renewAfterMs, expiresAfterMs: Number.POSITIVE_INFINITY };
  };
  return {
    address: access.address,
    credentials: new RenewedCredentials(renew, clock),
    anonymousTls: () => anonymousTls,
    namespace: access.namespace,
  };
}

interface ReadIdentity extends Identity {
  readonly renewAfterMs: number;
}

interface Access {
  readonly address: ServerAddress;
  readonly usesPlugin: boolean;
  readonly namespace: string | undefined;
  /** Reads the files, and runs a plugin whose credentials have expired. */
  identity(): Promise<ReadIdentity>;
}

function readAccess(options: KubeconfigOptions, clock: Clock): Access {
  const { path, paths = path === undefined ? [] : [path], server, proxyEnv } = options;
  if (paths.length === 0) return readInCluster(options);
  const context = readKubeconfigFiles(paths);
  const { cluster, user, namespace } = context;
  const url = server === undefined ? cluster.server : httpUrl('server', server, { hasTls: hasTls(cluster, user) });
  const plugin = createPlugin(context, clock);
  const place = `kubeconfig ${paths.join(':')}`;
  return {
    address: { url, proxyUrl: cluster['proxy-url'], proxyEnv },
    usesPlugin: plugin !== undefined,
    namespace,
    async identity() {
      const given = await plugin?.(place);
      const headers = [...impersonatedUser(user), ...authorization(place, user, given), ...impersonation(user)];
      const tls = readTls({ ...context, cluster: { ...cluster, server: url } }, given);
      checkTls(place, tls);
      const leftMs = (given?.expiresAtMs ?? Number.POSITIVE_INFINITY) - clock.now();
      return { tls, headers, renewAfterMs: Math.max(0, Math.min(rereadMs, leftMs)) };
    },
  };
}

function readInCluster({ server, proxyEnv, serviceAccountDirectory }: KubeconfigOptions): Access {
  const serviceAccount = serviceAccountDirectory ?? mountedServiceAccount;
  const place = 'in-cluster configuration';
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = proxyEnv ?? process.env;
  if (!isSet(host) || !isSet(port)) {
    throw new ConfigError(`${place}: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT must be set`);
  }
  const url = `https://${host.includes(':') ? `[${host}]` : host}:${port}`;
  const read = (name: string): string => readNamedFile(`${place}: ${name}`, `${serviceAccount}/${name}`);
  return {
    address: { url: server === undefined ? url : httpUrl('server', server), proxyEnv },
    usesPlugin: false,
    namespace: existsSync(`${serviceAccount}/namespace`) ? read('namespace').trim() : undefined,
    async identity() {
      const headers = ['authorization', `Bearer ${read('token').trim()}`];
      const tls = { ca: read('ca.crt') };
      checkTls(place, tls);
      return { tls, headers, renewAfterMs: rereadMs };
    },
  };
}

type User = CurrentContext['user'];

/** Undefined without a plugin, and if the user has credentials of its own, which come first. */
function createPlugin(
  { user, cluster }: CurrentContext,
  clock: Clock,
): ((place: string) => Promise<PluginCredential>) | undefined {
  const { exec } = user;
  const own = [user.token, user.tokenFile, user.username, user['client-certificate'], user['client-certificate-data']];
  if (exec === undefined || own.some(isSet)) return undefined;
  let held: PluginCredential | undefined;
  return async (place) => {
    if (held !== undefined && held.expiresAtMs > clock.now()) return held;
    try {
      return (held = await runExecPlugin(exec, cluster));
    } catch (error) {
      const why = error instanceof Error ? (error.message.trim().split('\n')[0] ?? '') : '';
      throw new ConfigError(`${place}: credentials: ${why}`, { cause: error });
    }
  };
}

function authorization(place: string, user: User, given: PluginCredential | undefined): readonly string[] {
  const { token, tokenFile, username = '', password = '' } = user;
  const bearer = (text: string): readonly string[] => ['authorization', `Bearer ${text.trim()}`];
  if (isSet(tokenFile)) return bearer(readNamedFile(`${place}: tokenFile`, tokenFile));
  if (isSet(token)) return bearer(token);
  if (isSet(given?.token)) return bearer(given.token);
  if (username === '') return [];
  return ['authorization', `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`];
}

function impersonatedUser({ as: name }: User): readonly string[] {
  return isSet(name) ? ['impersonate-user', name] : [];
}

function impersonation(user: User): readonly string[] {
  const { 'as-groups': groups = [], 'as-uid': uid, 'as-user-extra': extra } = user;
  const headers = groups.flatMap((group) => ['impersonate-group', group]);
  if (uid !== undefined) headers.push('impersonate-uid', uid);
  for (const [key, values] of Object.entries(extra ?? {})) {
    for (const value of values) headers.push(`impersonate-extra-${headerNameOf(key)}`, value);
  }
  return headers;
}

/** Percent-encodes the bytes that a header name must not have. */
function headerNameOf(key: string): string {
  const escaped = (byte: number): string => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  return [...Buffer.from(key)]
    .map((byte) => {
      const character = String.fromCharCode(byte);
      return /[!#$&'*+.^_`|~\w-]/.test(character) ? character : escaped(byte);
    })
    .join('');
}

function readTls({ cluster, user }: CurrentContext, given: PluginCredential | undefined): TlsIdentity {
  return {
    ca: pemOf('certificate-authority', cluster['certificate-authority-data'], cluster['certificate-authority']),
    cert: pemOf('client-certificate', user['client-certificate-data'], user['client-certificate']) ?? given?.cert,
    key: pemOf('client-key', user['client-key-data'], user['client-key']) ?? given?.key,
    serverName: cluster['tls-server-name'],
    insecureSkipVerify: cluster['insecure-skip-tls-verify'] === true || cluster.server.startsWith('http:'),
  };
}

/** Data comes before the file, as in client-go. */
function pemOf(field: string, data: string | undefined, file: string | undefined): string | undefined {
  if (isSet(data)) return Buffer.from(data, 'base64').toString('utf8');
  return file === undefined ? undefined : readNamedFile(field, file);
}

/** OpenSSL accepts any text as a CA and then fails every handshake. This reports the error at the start. */
function checkTls(place: string, { ca, cert, key }: TlsIdentity): void {
  const checkPart = <T>(field: string, part: string | undefined, read: (pem: string) => T): T | undefined => {
    try {
      return part === undefined ? undefined : read(part);
    } catch (error) {
      throw new ConfigError(`${place}: ${field}: ${error instanceof Error ? error.message : 'unusable'}`, {
        cause: error,
      });
    }
  };
  checkPart('certificate-authority', ca, (pem) => new X509Certificate(pem));
  const certificate = checkPart('client-certificate', cert, (pem) => new X509Certificate(pem));
  const privateKey = checkPart('client-key', key, (pem) => createPrivateKey(pem));
  if ((certificate === undefined) !== (privateKey === undefined)) {
    throw new ConfigError(`${place}: client-certificate and client-key must be set together`);
  }
  if (certificate !== undefined && privateKey !== undefined && !certificate.checkPrivateKey(privateKey)) {
    throw new ConfigError(`${place}: client-key does not belong to client-certificate`);
  }
}

function validityOf(certificate: string): PluginCertificate {
  const { validFromDate, validToDate } = new X509Certificate(certificate);
  return { issuedAtMs: validFromDate.getTime(), expiresAtMs: validToDate.getTime() };
}

function withoutCertificate(tls: TlsIdentity): TlsIdentity {
  return { ...tls, cert: undefined, key: undefined };
}
