import {
  CertificateSigningRequests,
  keyOf,
  type Cached,
  type CertificateSigningRequest,
  type ObjectKey,
} from '../../pkg/api/index.ts';
import { isDecided, isIssued, readContent, requestRetries } from '../../pkg/certificaterequests/index.ts';
import {
  enqueueMapped,
  PendingWrites,
  RefusedError,
  runWorkers,
  type Controller,
  type ControllerContext,
  type ReconcileResult,
} from '../../pkg/controller/index.ts';
import { applyApproval } from './apply.ts';
import { selectRecognitions } from './recognize.ts';
import { isAllowed } from './review.ts';

const name = 'certificatesigningrequest-approving-controller';

/** The Go binary has no flag for this either. */
const workers = 5;

/** Approves client certificates of kubelets whose requesting user has the permission for them. */
export function createCsrApproving(context: ControllerContext): Controller {
  const client = context.clientFor('certificate-controller');
  const queue = context.queueFor('certificate', { rateLimiter: requestRetries() });
  const requests = context.informers.informerFor(CertificateSigningRequests);
  const pending = new PendingWrites<CertificateSigningRequest>(requests, context.clock);
  const handlers = requests.addHandler(
    enqueueMapped<CertificateSigningRequest>(queue, (request) => (isOpen(request) ? [keyOf(request)] : [])),
  );

  async function reconcile(key: ObjectKey, signal: AbortSignal): Promise<ReconcileResult> {
    const request = requests.store.get(key);
    if (request === undefined || !isOpen(request)) return {};
    const recognitions = selectRecognitions(request.spec, await readContent(request));
    for (const { subresource, message } of recognitions) {
      if (!(await isAllowed(client, request, subresource, signal))) continue;
      await applyApproval(request, message, { client, pending }, signal);
      return {};
    }
    if (recognitions.length === 0) return {};
    const tried = recognitions.map(({ subresource }) => subresource).join(' ');
    throw new RefusedError(`recognized csr "${key}" as [${tried}] but subject access review was not approved`);
  }

  const care = { primary: requests.store, ownWrites: [pending] };
  const work = { name, context, queue, reconcile, caches: [requests, handlers], workers, ...care };
  return { name, run: (signal) => runWorkers(work, signal) };
}

function isOpen(request: Cached<CertificateSigningRequest>): boolean {
  return !isIssued(request) && !isDecided(request);
}
