import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createAuthority, issueCertificate } from '../certificates/index.ts';
import type { CertificateRequest, KeyedCertificate } from '../certificates/index.ts';

/** The files with the credentials of a cluster, below its directory, with the names that kubeadm uses. */
export interface CredentialFiles {
  readonly directory: string;
  readonly ca: string;
  readonly caKey: string;
  readonly apiServer: string;
  readonly apiServerKey: string;
  readonly frontProxyCa: string;
  readonly frontProxyClient: string;
  readonly frontProxyClientKey: string;
  readonly serviceAccountKey: string;
  readonly serviceAccountPublicKey: string;
}

export function credentialFiles(clusterDirectory: string): CredentialFiles {
  const directory = join(clusterDirectory, 'pki');
  return {
    directory,
    ca: join(directory, 'ca.crt'),
    caKey: join(directory, 'ca.key'),
    apiServer: join(directory, 'apiserver.crt'),
    apiServerKey: join(directory, 'apiserver.key'),
    frontProxyCa: join(directory, 'front-proxy-ca.crt'),
    frontProxyClient: join(directory, 'front-proxy-client.crt'),
    frontProxyClientKey: join(directory, 'front-proxy-client.key'),
    serviceAccountKey: join(directory, 'sa.key'),
    serviceAccountPublicKey: join(directory, 'sa.pub'),
  };
}

const apiServerHosts = [
  'localhost',
  '127.0.0.1',
  '10.96.0.1',
  'kubernetes',
  'kubernetes.default',
  'kubernetes.default.svc',
  'kubernetes.default.svc.cluster.local',
];

export function writeCredentials(files: CredentialFiles): void {
  mkdirSync(files.directory, { recursive: true });
  const write = (path: string, content: string): void => writeFileSync(path, content, { mode: 0o600 });
  const ca = createAuthority({ commonName: 'kubernetes', validity: shortValidity() });
  write(files.ca, ca.certificate);
  write(files.caKey, ca.privateKey);
  const apiServer = issue(ca, { commonName: 'kube-apiserver', usages: ['server'], hosts: apiServerHosts });
  write(files.apiServer, apiServer.certificate);
  write(files.apiServerKey, apiServer.privateKey);
  const frontProxyCa = createAuthority({ commonName: 'front-proxy-ca', validity: shortValidity() });
  write(files.frontProxyCa, frontProxyCa.certificate);
  const frontProxyClient = issue(frontProxyCa, { commonName: 'front-proxy-client', usages: ['client'] });
  write(files.frontProxyClient, frontProxyClient.certificate);
  write(files.frontProxyClientKey, frontProxyClient.privateKey);
  const tokens = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  write(files.serviceAccountKey, tokens.privateKey.export({ type: 'pkcs8', format: 'pem' }));
  write(files.serviceAccountPublicKey, tokens.publicKey.export({ type: 'spki', format: 'pem' }));
}

/** The user and groups of a client certificate. */
export interface Identity {
  readonly user: string;
  readonly groups?: readonly string[];
}

export function readAuthority(files: CredentialFiles): KeyedCertificate {
  return { certificate: readFileSync(files.ca, 'utf8'), privateKey: readFileSync(files.caKey, 'utf8') };
}

export function issueClientCertificate(ca: KeyedCertificate, { user, groups = [] }: Identity): KeyedCertificate {
  return issue(ca, { commonName: user, organizations: groups, usages: ['client'] });
}

function issue(ca: KeyedCertificate, request: Omit<CertificateRequest, 'validity'>): KeyedCertificate {
  return issueCertificate(ca, { ...request, validity: shortValidity() });
}

/** Long enough for any test, and valid since an hour ago, so that a clock that is slightly behind does no harm. */
function shortValidity(): CertificateRequest['validity'] {
  const hourMs = 3_600_000;
  return { fromMs: Date.now() - hourMs, untilMs: Date.now() + 30 * 24 * hourMs };
}
