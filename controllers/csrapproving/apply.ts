import { copyOf, keyOf, type Cached, type CertificateSigningRequest } from '../../pkg/api/index.ts';
import { conditionsOf } from '../../pkg/certificaterequests/index.ts';
import type { Client } from '../../pkg/client/index.ts';
import type { PendingWrites } from '../../pkg/controller/index.ts';

export interface ApplyDeps {
  readonly client: Client;
  readonly pending: PendingWrites<CertificateSigningRequest>;
}

/** Approves the request. The API server sets the times of the condition. */
export async function applyApproval(
  request: Cached<CertificateSigningRequest>,
  message: string,
  { client, pending }: ApplyDeps,
  signal: AbortSignal,
): Promise<void> {
  const approval = { type: 'Approved', status: 'True', reason: 'AutoApproved', message };
  const conditions = [...conditionsOf(request), approval];
  const body = copyOf<CertificateSigningRequest>({ ...request, status: { ...request.status, conditions } });
  const { metadata } = await client.updateApproval(body, signal);
  pending.wrote(keyOf(request), metadata.resourceVersion);
}
