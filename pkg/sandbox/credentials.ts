import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { createAuthority, issueCertificate, type KeyedCertificate } from '../certificates/index.ts';

export interface SandboxCredentials {
  readonly authority: KeyedCertificate;
  readonly server: KeyedCertificate;
  /** Signs the tokens of service accounts, PEM. */
  readonly tokenKey: string;
}

const dayMs = 86_400_000;
const hosts = ['localhost', '127.0.0.1', '10.96.0.1', 'kubernetes', 'kubernetes.default', 'kubernetes.default.svc'];

/** New credentials, or those that `directory` has from an earlier run, so that kubeconfigs and tokens stay valid. */
export function openCredentials(nowMs: number, directory?: string): SandboxCredentials {
  const validity = { fromMs: nowMs - dayMs, untilMs: nowMs + 365 * dayMs };
  const saved = directory === undefined ? undefined : readSaved(directory);
  const authority = saved?.authority ?? createAuthority({ commonName: 'sandbox', validity });
  const tokenKey =
    saved?.tokenKey ??
    generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey.export({ type: 'pkcs8', format: 'pem' });
  if (saved === undefined && directory !== undefined) save(directory, authority, tokenKey);
  const server = issueCertificate(authority, { commonName: 'kube-apiserver', usages: ['server'], hosts, validity });
  return { authority, server, tokenKey };
}

const files = { certificate: 'ca.crt', privateKey: 'ca.key', tokenKey: 'sa.key' };

function readSaved(directory: string): Pick<SandboxCredentials, 'authority' | 'tokenKey'> | undefined {
  const read = (name: keyof typeof files): string => readFileSync(join(directory, files[name]), 'utf8');
  try {
    createPrivateKey(read('tokenKey'));
    return {
      authority: { certificate: read('certificate'), privateKey: read('privateKey') },
      tokenKey: read('tokenKey'),
    };
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

/** The key for tokens is written last: if it exists, the other files exist too. */
function save(directory: string, authority: KeyedCertificate, tokenKey: string): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const write = (name: keyof typeof files, text: string): void =>
    writeFileSync(join(directory, files[name]), text, { mode: 0o600 });
  write('certificate', authority.certificate);
  write('privateKey', authority.privateKey);
  write('tokenKey', tokenKey);
}

export interface Identity {
  readonly user: string;
  readonly groups?: readonly string[] | undefined;
}

export const admin: Identity = { user: 'sandbox-admin', groups: ['system:masters'] };

/** A kubeconfig for any user. JSON is valid YAML, so every reader of kubeconfigs accepts it. */
export function formatKubeconfig(
  { authority }: Pick<SandboxCredentials, 'authority'>,
  { url, identity, nowMs }: { readonly url: string; readonly identity: Identity; readonly nowMs: number },
): string {
  const validity = { fromMs: nowMs - dayMs, untilMs: nowMs + 365 * dayMs };
  const { user, groups = [] } = identity;
  const client = issueCertificate(authority, { commonName: user, organizations: groups, usages: ['client'], validity });
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'sandbox',
    clusters: [
      { name: 'sandbox', cluster: { server: url, 'certificate-authority-data': base64(authority.certificate) } },
    ],
    contexts: [{ name: 'sandbox', context: { cluster: 'sandbox', user } }],
    users: [
      {
        name: user,
        user: {
          'client-certificate-data': base64(client.certificate),
          'client-key-data': base64(client.privateKey),
        },
      },
    ],
  };
  return `${JSON.stringify(config, undefined, 2)}\n`;
}
