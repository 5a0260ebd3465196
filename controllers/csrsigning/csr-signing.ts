import {
  CertificateSigningRequests,
  keyOf,
  type Cached,
  type CertificateSigningRequest,
  type ObjectKey,
} from '../../pkg/api/index.ts';
import {
  hasFailed,
  isApproved,
  isIssued,
  readContent,
  requestRetries,
  signRequest,
} from '../../pkg/certificaterequests/index.ts';
import {
  enqueueMapped,
  PendingWrites,
  runWorkers,
  type Controller,
  type ControllerContext,
  type ReconcileResult,
} from '../../pkg/controller/index.ts';
import { applyCertificate, applyFailure } from './apply.ts';
import { openAuthority } from './authority-files.ts';
import { findSignerProblem } from './rules.ts';
import type { Signer } from './signers.ts';
import { computeTerms } from './terms.ts';

const name = 'certificatesigningrequest-signing-controller';

/** The Go binary has no flag for this either. */
const workers = 5;

export interface SigningOptions {
  readonly signers: readonly Signer[];
  readonly maxDurationMs: number;
}

/** Signs approved requests that name one of the signers. */
export function createCsrSigning(context: ControllerContext, { signers, maxDurationMs }: SigningOptions): Controller {
  const client = context.clientFor('certificate-controller');
  const queue = context.queueFor('certificate', { rateLimiter: requestRetries() });
  const requests = context.informers.informerFor(CertificateSigningRequests);
  const pending = new PendingWrites<CertificateSigningRequest>(requests, context.clock);
  const byName = new Map(
    signers.map((signer) => [signer.name as string, { ...signer, authority: openAuthority(signer, context.logger) }]),
  );
  const isWaiting = (request: Cached<CertificateSigningRequest>): boolean =>
    byName.has(request.spec.signerName) && isApproved(request) && !isIssued(request) && !hasFailed(request);
  const handlers = requests.addHandler(
    enqueueMapped<CertificateSigningRequest>(queue, (request) => (isWaiting(request) ? [keyOf(request)] : [])),
  );

  async function reconcile(key: ObjectKey, signal: AbortSignal): Promise<ReconcileResult> {
    const request = requests.store.get(key);
    const signer = byName.get(request?.spec.signerName ?? '');
    if (request === undefined || signer === undefined || !isWaiting(request)) return {};
    const { usages, expirationSeconds } = request.spec;
    const content = await readContent(request);
    const nowMs = context.clock.now();
    const problem = findSignerProblem(signer.name, content, usages ?? []);
    if (problem !== undefined) {
      await applyFailure(request, { message: problem, nowMs }, { client, pending }, signal);
      return {};
    }
    const authority = await signer.authority.current();
    const authorityUntilMs = authority.certificate.validToDate.getTime();
    const limits = { nowMs, maxDurationMs, authorityUntilMs };
    const terms = computeTerms({ usages: usages ?? [], expirationSeconds: expirationSeconds ?? undefined }, limits);
    await applyCertificate(request, await signRequest(content, authority, terms), { client, pending }, signal);
    return {};
  }

  const care = { primary: requests.store, ownWrites: [pending] };
  const work = { name, context, queue, reconcile, caches: [requests, handlers], workers, ...care };
  return { name, run: (signal) => runWorkers(work, signal) };
}
