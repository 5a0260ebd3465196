import { generateKeyPairSync, type KeyObject } from 'node:crypto';

import type { JsonNameParams } from '@peculiar/x509';

import { CertificateSigningRequests, objectKey, type CertificateSigningRequest } from '../../pkg/api/index.ts';
import type { Client } from '../../pkg/client/index.ts';
import { eventually } from './eventually.ts';

const algorithms = {
  rsa: { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' },
  'P-256': { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' },
  'P-521': { name: 'ECDSA', namedCurve: 'P-521', hash: 'SHA-512' },
  ed25519: { name: 'Ed25519' },
} as const;
export type KeyKind = keyof typeof algorithms;

function createKeys(kind: KeyKind): { readonly publicKey: KeyObject; readonly privateKey: KeyObject } {
  if (kind === 'rsa') return generateKeyPairSync('rsa', { modulusLength: 2048 });
  return kind === 'ed25519' ? generateKeyPairSync('ed25519') : generateKeyPairSync('ec', { namedCurve: kind });
}

export interface RequestedName {
  readonly type: 'dns' | 'ip' | 'email' | 'url' | 'dn';
  readonly value: string;
}

export interface KeyedRequest {
  /** PEM. */
  readonly request: string;
  /** PEM. */
  readonly privateKey: string;
}

/** A PKCS #10 request with a new key. */
export async function createRequest(
  subject: JsonNameParams,
  names: readonly RequestedName[] = [],
  kind: KeyKind = 'P-256',
): Promise<KeyedRequest> {
  await import('reflect-metadata'); // the library requires it
  const { Name, Pkcs10CertificateRequestGenerator, SubjectAlternativeNameExtension } = await import('@peculiar/x509');
  const { publicKey, privateKey } = createKeys(kind);
  const algorithm = algorithms[kind];
  const request = await Pkcs10CertificateRequestGenerator.create({
    name: new Name(subject),
    keys: {
      publicKey: publicKey.toCryptoKey(algorithm, true, ['verify']),
      privateKey: privateKey.toCryptoKey(algorithm, true, ['sign']),
    },
    signingAlgorithm: algorithm,
    extensions: names.length === 0 ? [] : [new SubjectAlternativeNameExtension([...names])],
  });
  return { request: request.toString('pem'), privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }) };
}

/** The subject of a node. */
export const nodeSubject = (name: string): JsonNameParams => [{ O: ['system:nodes'] }, { CN: [`system:node:${name}`] }];

export const kubeletClient = {
  signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
  usages: ['digital signature', 'client auth'],
};

export interface RequestSpec {
  readonly signerName: string;
  readonly usages: readonly string[];
  readonly expirationSeconds?: number;
}

export async function createSigningRequest(
  client: Client,
  name: string,
  { request }: Pick<KeyedRequest, 'request'>,
  spec: RequestSpec & { readonly signal: AbortSignal },
): Promise<void> {
  const { signal, usages, ...rest } = spec;
  const body = { ...rest, usages: [...usages], request: Buffer.from(request).toString('base64') };
  await client.create(CertificateSigningRequests, { metadata: { name }, spec: body }, signal);
}

/** Approves a request, as `kubectl certificate approve` does. */
export async function approve(
  client: Client,
  name: string,
  signal: AbortSignal,
  lastUpdateTime?: string,
): Promise<void> {
  await decide(client, name, { type: 'Approved', ...(lastUpdateTime && { lastUpdateTime }) }, signal);
}

export async function decide(
  client: Client,
  name: string,
  decision: { readonly type: 'Approved' | 'Denied'; readonly lastUpdateTime?: string },
  signal: AbortSignal,
): Promise<void> {
  const request = await client.get(CertificateSigningRequests, objectKey(undefined, name), signal);
  const condition = { status: 'True', reason: 'Test', message: 'by a test', ...decision };
  const conditions = [...(request.status?.conditions ?? []), condition];
  await client.updateApproval({ ...request, status: { ...request.status, conditions } }, signal);
}

/** The request once it has a certificate or has failed. */
export function untilFinished(client: Client, name: string, signal: AbortSignal): Promise<CertificateSigningRequest> {
  return eventually(async () => {
    const request = await client.get(CertificateSigningRequests, objectKey(undefined, name), signal);
    const hasFailed = request.status?.conditions?.some(({ type }) => type === 'Failed') === true;
    return (request.status?.certificate !== undefined || hasFailed) && request;
  }, signal);
}

/** The certificate in PEM. Empty if there is none. */
export function certificateOf({ status }: CertificateSigningRequest): string {
  return Buffer.from(status?.certificate ?? '', 'base64').toString();
}
