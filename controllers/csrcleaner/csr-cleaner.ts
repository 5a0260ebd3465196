import { CertificateSigningRequests, keyOf } from '../../pkg/api/index.ts';
import { runPeriodically, type Controller, type ControllerContext } from '../../pkg/controller/index.ts';
import { findCleanUpReason } from './age.ts';
import { deleteRequest } from './apply.ts';

const name = 'certificatesigningrequest-cleaner-controller';
const periodMs = 3_600_000;

/** Deletes requests that are no longer needed: kubelets keep creating new ones. */
export function createCsrCleaner(context: ControllerContext): Controller {
  const { clock, logger } = context;
  const client = context.clientFor('certificate-controller');
  const requests = context.informers.informerFor(CertificateSigningRequests);

  async function clean(signal: AbortSignal): Promise<void> {
    for (const request of requests.store.list()) {
      const reason = findCleanUpReason(request, clock.now());
      if (reason === undefined) continue;
      try {
        await deleteRequest(client, request, signal);
        logger.info({ object: keyOf(request), reason }, 'deleted an old certificate signing request');
      } catch (error) {
        if (signal.aborted) throw error;
        logger.error({ object: keyOf(request), err: error }, 'could not delete an old certificate signing request');
      }
    }
  }

  return { name, run: (signal) => runPeriodically({ periodMs, clock, logger, caches: [requests] }, clean, signal) };
}
