import { createPrivateKey, X509Certificate } from 'node:crypto';
import type * as https from 'node:https';

import type { KubeConfig } from '@kubernetes/client-node';
import * as z from 'zod';

import type { Clock } from '../time/index.ts';
import { RenewedCredentials, type Credentials, type Identity, type Renewal } from './credentials.ts';
import { ConfigError } from './errors.ts';
import { hasTls, httpUrl, readKubeconfigFile, readNamedFile, type CurrentContext } from './kubeconfig-file.ts';
import type { PluginCertificate } from './observer.ts';
import { isSameTls, type TlsIdentity } from './tls-options.ts';
import type { ServerAddress } from './transport.ts';

/** Token and certificate files are read again this often, like in client-go. Rotated files overlap for longer. */
const rereadMs = 60_000;

export interface KubeconfigOptions {
  /** Default: the service account that is mounted into the pod. */
  readonly path?: string | undefined;
  /** Overrides the address in the kubeconfig. */
  readonly server?: string | undefined;
  /** HTTPS_PROXY, NO_PROXY and similar variables. `proxy-url` in the kubeconfig overrides them. */
  readonly proxyEnv?: Readonly<Record<string, string | undefined>> | undefined;
  /** Called with each client certificate from a credential plugin, for metrics. */
  readonly onPluginCertificate?: ((certificate: PluginCertificate) => void) | undefined;
}

/** A server and the credentials for it. */
export interface Connection {
  readonly address: ServerAddress;
  readonly credentials: Credentials;
  /** TLS settings without a client certificate, for clients with their own token. */
  readonly anonymousTls: () => TlsIdentity;
}

/** Reads a kubeconfig, its files and its plugins. Throws `ConfigError` if they are not valid. */
export async function loadKubeconfig(options: KubeconfigOptions, clock: Clock): Promise<Connection> {
  let access = await readAccess(options);
  let { tls } = await access.identity();
  let anonymousTls = withoutCertificate(tls);
  const reportCertificate = (): void => {
    if (access.usesPlugin && tls.cert !== undefined) options.onPluginCertificate?.(validityOf(tls.cert));
  };
  reportCertificate();
  const renew = async (rejected: boolean): Promise<Renewal> => {
    // client-node caches credentials of plugins until they expire. Only a new KubeConfig runs the plugin again.
    if (rejected) access = await readAccess(options);
    const identity = await access.identity();
    if (!isSameTls(tls, identity.tls)) {
      tls = identity.tls;
      anonymousTls = withoutCertificate(tls);
      reportCertificate();
    }
    return { identity: { ...identity, tls }, renewAfterMs: rereadMs, expiresAfterMs: Number.POSITIVE_INFINITY };
  };
  return {
    address: access.address,
    credentials: new RenewedCredentials(renew, clock),
    anonymousTls: () => anonymousTls,
  };
}

interface Access {
  readonly address: ServerAddress;
  readonly usesPlugin: boolean;
  /** Reads the files, and runs a plugin whose credentials have expired. */
  identity(): Promise<Identity>;
}

async function readAccess({ path, server, proxyEnv }: KubeconfigOptions): Promise<Access> {
  // Loaded here, because it takes longer than all the rest of the program and many who import this never need it.
  const { KubeConfig } = await import('@kubernetes/client-node');
  const config = new KubeConfig();
  if (path === undefined) {
    const { url, tokenFile } = loadInCluster(config);
    const address = { url: server === undefined ? url : httpUrl('server', server), proxyEnv };
    const identity = (): Promise<Identity> => readIdentity(config, { place: 'in-cluster configuration', tokenFile });
    return { address, usesPlugin: false, identity };
  }
  const current = readKubeconfigFile(path);
  const { cluster, user } = current;
  const url = server === undefined ? cluster.server : httpUrl('server', server, { hasTls: hasTls(cluster, user) });
  loadContext(config, current, url);
  const { tokenFile, exec } = user;
  return {
    address: { url, proxyUrl: cluster['proxy-url'], proxyEnv },
    usesPlugin: exec !== undefined,
    identity: () => readIdentity(config, { place: `kubeconfig ${path}`, tokenFile, headers: impersonation(user) }),
  };
}

/** The impersonation headers that client-node does not set. */
function impersonation(user: CurrentContext['user']): readonly string[] {
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

function loadInCluster(config: KubeConfig): { readonly url: string; readonly tokenFile: string } {
  const place = 'in-cluster configuration';
  config.loadFromCluster();
  const [cluster] = config.clusters;
  const [user] = config.users;
  if (cluster === undefined || user === undefined || cluster.server.includes('undefined')) {
    throw new ConfigError(`${place}: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT must be set`);
  }
  const provider = z.object({ config: z.object({ tokenFile: z.string() }) }).parse(user.authProvider);
  readNamedFile(`${place}: token`, provider.config.tokenFile);
  readNamedFile(`${place}: ca.crt`, cluster.caFile ?? '');
  config.users = [{ name: user.name }]; // the token file is read here, not by client-node, which keeps it for a minute more
  return { url: cluster.server, tokenFile: provider.config.tokenFile };
}

function loadContext(config: KubeConfig, { cluster, user }: CurrentContext, url: string): void {
  const { exec, ...plainUser } = user;
  const skipVerify = cluster['insecure-skip-tls-verify'] === true || url.startsWith('http:');
  config.loadFromString(
    JSON.stringify({
      'current-context': 'current',
      contexts: [{ name: 'current', context: { cluster: 'current', user: 'current' } }],
      clusters: [
        {
          name: 'current',
          // The transport uses the proxy, not client-node.
          cluster: { ...cluster, server: url, 'insecure-skip-tls-verify': skipVerify, 'proxy-url': undefined },
        },
      ],
      users: [{ name: 'current', user: { ...plainUser, exec: exec && withExecInfo(exec, cluster) } }],
    }),
  );
}

type Exec = NonNullable<CurrentContext['user']['exec']>;

/** Plugins built with client-go require this variable. client-node does not set it. */
function withExecInfo(exec: Exec, cluster: CurrentContext['cluster']): Exec {
  const info = {
    apiVersion: exec.apiVersion ?? 'client.authentication.k8s.io/v1',
    kind: 'ExecCredential',
    spec: {
      interactive: false,
      cluster:
        exec.provideClusterInfo === true
          ? {
              server: cluster.server,
              'tls-server-name': cluster['tls-server-name'],
              'insecure-skip-tls-verify': cluster['insecure-skip-tls-verify'],
              'certificate-authority-data':
                cluster['certificate-authority-data'] ?? base64OfFile(cluster['certificate-authority']),
              'proxy-url': cluster['proxy-url'],
            }
          : undefined,
    },
  };
  return { ...exec, env: [...(exec.env ?? []), { name: 'KUBERNETES_EXEC_INFO', value: JSON.stringify(info) }] };
}

function base64OfFile(path: string | undefined): string | undefined {
  return path === undefined ? undefined : Buffer.from(readNamedFile('certificate-authority', path)).toString('base64');
}

interface IdentityParts {
  readonly place: string;
  readonly tokenFile?: string | undefined;
  readonly headers?: readonly string[];
}

async function readIdentity(config: KubeConfig, { place, tokenFile, headers = [] }: IdentityParts): Promise<Identity> {
  const options: https.RequestOptions = {};
  try {
    await config.applyToHTTPSOptions(options);
  } catch (error) {
    const why = error instanceof Error ? (error.message.trim().split('\n')[0] ?? '') : '';
    throw new ConfigError(`${place}: credentials: ${why}`, { cause: error });
  }
  const all = { ...(options.headers as Readonly<Record<string, string>> | undefined) };
  if (typeof options.auth === 'string') all['Authorization'] = `Basic ${Buffer.from(options.auth).toString('base64')}`;
  if (tokenFile !== undefined) all['Authorization'] = `Bearer ${readNamedFile(`${place}: tokenFile`, tokenFile)}`;
  const tls: TlsIdentity = {
    ca: pem(options.ca),
    cert: pem(options.cert),
    key: pem(options.key),
    serverName: options.servername,
    insecureSkipVerify: options.rejectUnauthorized === false,
  };
  checkTls(place, tls);
  return {
    tls,
    headers: [...Object.entries(all).flatMap(([name, value]) => [name.toLowerCase(), value.trim()]), ...headers],
  };
}

function pem(value: unknown): string | undefined {
  if (Buffer.isBuffer(value)) return value.toString('utf8');
  return typeof value === 'string' ? value : undefined;
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
