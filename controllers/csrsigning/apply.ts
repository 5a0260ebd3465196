import {
  copyOf,
  formatTime,
  keyOf,
  CertificateSigningRequests,
  type Cached,
  type CertificateSigningRequest,
} from '../../pkg/api/index.ts';
import { conditionsOf } from '../../pkg/certificaterequests/index.ts';
import type { Client } from '../../pkg/client/index.ts';
import type { PendingWrites } from '../../pkg/controller/index.ts';

export interface ApplyDeps {
  readonly client: Client;
  readonly pending: PendingWrites<CertificateSigningRequest>;
}

/** Stores the certificate (PEM) in the status of the request. */
export async function applyCertificate(
  request: Cached<CertificateSigningRequest>,
  certificate: string,
  deps: ApplyDeps,
  signal: AbortSignal,
): Promise<void> {
  await applyStatus(request, { certificate: Buffer.from(certificate).toString('base64') }, deps, signal);
}

/** Marks the request as failed: it will never be signed. */
export async function applyFailure(
  request: Cached<CertificateSigningRequest>,
  failure: { readonly message: string; readonly nowMs: number },
  deps: ApplyDeps,
  signal: AbortSignal,
): Promise<void> {
  const condition = {
    type: 'Failed',
    status: 'True',
    reason: 'SignerValidationFailure',
    message: failure.message,
    lastUpdateTime: formatTime(failure.nowMs),
  };
  await applyStatus(request, { conditions: [...conditionsOf(request), condition] }, deps, signal);
}

async function applyStatus(
  request: Cached<CertificateSigningRequest>,
  changes: Cached<NonNullable<CertificateSigningRequest['status']>>,
  { client, pending }: ApplyDeps,
  signal: AbortSignal,
): Promise<void> {
  const body = copyOf<CertificateSigningRequest>({ ...request, status: { ...request.status, ...changes } });
  const { metadata } = await client.updateStatus(CertificateSigningRequests, body, signal);
  pending.wrote(keyOf(request), metadata.resourceVersion);
}
