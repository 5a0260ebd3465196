import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import * as z from 'zod';
import { credentialFiles, issueClientCertificate, readAuthority } from './credentials.ts';
import type { CredentialFiles, Identity } from './credentials.ts';

/** The identity of the cluster administrator. */
export const admin: Identity = { user: 'kubernetes-admin', groups: ['system:masters'] };

/** Access to a running cluster, also from a process that did not start it. */
export interface ClusterAccess {
  readonly directory: string;
  /** The address of the API server. */
  readonly url: string;
  /** The address of etcd: plain HTTP, no credentials. */
  readonly etcdUrl: string;
  readonly files: CredentialFiles;
  /** A kubeconfig file for an identity. Default: the administrator. */
  kubeconfig(identity?: Identity): string;
  /** One request to the API server, without a client library. */
  request(request: PlainRequest): Promise<PlainResponse>;
  /**
   * Compacts etcd at its current revision. A running API server still serves its watch cache: lists and watches from
   * before the compaction get 410 Gone only after its restart.
   */
  compact(): Promise<void>;
}

export interface PlainRequest {
  readonly path: string;
  readonly method?: string;
  readonly body?: unknown;
  readonly as?: Identity;
}

export interface PlainResponse {
  readonly status: number;
  /** Parsed if it is JSON, else text. */
  readonly body: unknown;
}

const addresses = z.object({ url: z.string(), etcdUrl: z.string() });
const addressFile = 'cluster.json';

export function saveAddresses(directory: string, value: z.output<typeof addresses>): void {
  writeFileSync(join(directory, addressFile), JSON.stringify(value));
}

/** Access to the running cluster in this directory. */
export function openCluster(directory: string): ClusterAccess {
  const { url, etcdUrl } = addresses.parse(JSON.parse(readFileSync(join(directory, addressFile), 'utf8')));
  const files = credentialFiles(directory);
  const authority = readAuthority(files);
  const ca = authority.certificate;
  const certificates = new Map<string, ReturnType<typeof issueClientCertificate>>();
  const certificateFor = (identity: Identity): ReturnType<typeof issueClientCertificate> => {
    const id = identityId(identity);
    const certificate = certificates.get(id) ?? issueClientCertificate(authority, identity);
    certificates.set(id, certificate);
    return certificate;
  };
  return {
    directory,
    url,
    etcdUrl,
    files,
    kubeconfig(identity = admin) {
      const path = join(directory, `${identityId(identity)}.kubeconfig`);
      const { certificate, privateKey } = certificateFor(identity);
      writeFileSync(path, formatKubeconfig({ url, ca, user: identity.user, certificate, privateKey }), { mode: 0o600 });
      return path;
    },
    request(plain) {
      const { certificate, privateKey } = certificateFor(plain.as ?? admin);
      return send(url, plain, { ca, cert: certificate, key: privateKey });
    },
    compact: () => compact(etcdUrl),
  };
}

function identityId({ user, groups = [] }: Identity): string {
  return createHash('sha256')
    .update(JSON.stringify([user, groups]))
    .digest('hex')
    .slice(0, 16);
}

interface KubeconfigParts {
  readonly url: string;
  readonly ca: string;
  readonly user: string;
  readonly certificate: string;
  readonly privateKey: string;
}

/** JSON is valid YAML, so every reader of kubeconfigs accepts it. */
function formatKubeconfig({ url, ca, user, certificate, privateKey }: KubeconfigParts): string {
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'test',
    clusters: [{ name: 'test', cluster: { server: url, 'certificate-authority-data': base64(ca) } }],
    contexts: [{ name: 'test', context: { cluster: 'test', user } }],
    users: [
      {
        name: user,
        user: { 'client-certificate-data': base64(certificate), 'client-key-data': base64(privateKey) },
      },
    ],
  };
  return JSON.stringify(config, undefined, 2);
}

interface TlsFiles {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

async function send(url: string, { path, method = 'GET', body }: PlainRequest, tls: TlsFiles): Promise<PlainResponse> {
  const payload = body === undefined ? undefined : JSON.stringify(body);
  const { promise, resolve, reject } = Promise.withResolvers<PlainResponse>();
  // No agent: a kept-alive connection would outlive a server that a test kills.
  const outgoing = request(new URL(path, url), { method, agent: false, ...tls }, (response) => {
    const chunks: Buffer[] = [];
    response.on('data', (chunk: Buffer) => chunks.push(chunk));
    response.on('error', reject);
    response.on('end', () => {
      const text = Buffer.concat(chunks).toString('utf8');
      const isJson = response.headers['content-type']?.startsWith('application/json') === true;
      // The response of a watch has one JSON document per line. Only a single document is parsed here.
      resolve({ status: response.statusCode ?? 0, body: isJson && !text.includes('\n{') ? JSON.parse(text) : text });
    });
  });
  outgoing.on('error', reject);
  if (payload !== undefined) outgoing.setHeader('content-type', 'application/json');
  outgoing.end(payload);
  return promise;
}

const rangeResponse = z.object({ header: z.object({ revision: z.string() }) });

async function compact(etcdUrl: string): Promise<void> {
  const anyKey = Buffer.from('\0').toString('base64');
  const range = rangeResponse.parse(await callEtcd(etcdUrl, 'range', { key: anyKey, limit: '1' }));
  await callEtcd(etcdUrl, 'compaction', { revision: range.header.revision, physical: true });
}

async function callEtcd(etcdUrl: string, method: string, body: unknown): Promise<unknown> {
  const response = await fetch(`${etcdUrl}/v3/kv/${method}`, { method: 'POST', body: JSON.stringify(body) });
  const text = await response.text();
  if (!response.ok) throw new Error(`call ${method} of etcd: status ${String(response.status)}, ${text}`);
  return JSON.parse(text);
}
