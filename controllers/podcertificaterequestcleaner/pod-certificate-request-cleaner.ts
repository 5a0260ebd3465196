import { keyOf, metadataOf, PodCertificateRequests } from '../../pkg/api/index.ts';
import { findServed, runPeriodically, type Controller, type ControllerContext } from '../../pkg/controller/index.ts';
import { isOld } from './age.ts';
import { deleteRequest } from './apply.ts';

const name = 'podcertificaterequest-cleaner-controller';
const periodMs = 5 * 60_000;

/** Deletes old requests: kubelets create new ones for as long as pods ask for certificates. */
export function createPodCertificateRequestCleaner(context: ControllerContext): Controller {
  const { clock, discovery, informers, logger } = context;
  const client = context.clientFor('podcertificaterequestcleaner');
  let isServed = false;

  /** An informer of an API that is not served would keep the process from being ready. */
  async function checkServed(signal: AbortSignal): Promise<void> {
    isServed ||= (await findServed(discovery, [PodCertificateRequests], signal)) !== undefined;
    if (!isServed) logger.info({}, 'PodCertificateRequests are not served: nothing is cleaned up');
  }

  async function clean(signal: AbortSignal): Promise<void> {
    await checkServed(signal);
    if (!isServed) return;
    const requests = informers.informerFor(metadataOf(PodCertificateRequests));
    await requests.waitForSync(signal);
    for (const request of requests.store.list()) {
      if (!isOld(request, clock.now())) continue;
      try {
        await deleteRequest(client, request, signal);
        logger.info({ object: keyOf(request) }, 'deleted an old pod certificate request');
      } catch (error) {
        if (signal.aborted) throw error;
        logger.error({ object: keyOf(request), err: error }, 'could not delete an old pod certificate request');
      }
    }
  }

  return { name, run: (signal) => runPeriodically({ periodMs, clock, logger }, clean, signal) };
}
