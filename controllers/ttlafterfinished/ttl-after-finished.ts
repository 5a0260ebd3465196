import { Jobs, type ObjectKey } from '../../pkg/api/index.ts';
import {
  decided,
  enqueueSelf,
  runWorkers,
  type Controller,
  type ControllerContext,
  type ReconcileResult,
} from '../../pkg/controller/index.ts';
import { defineHistogram, exponentialBuckets } from '../../pkg/metrics/index.ts';
import { deleteExpired } from './apply.ts';
import { computeExpiry } from './expiry.ts';

const name = 'ttl-after-finished-controller';

export function createTtlAfterFinishedController(context: ControllerContext, workers: number): Controller {
  const client = context.clientFor(name);
  const queue = context.queueFor('ttl_jobs_to_delete');
  const jobs = context.informers.informerFor(Jobs);
  const logger = context.logger.child({ controller: name });
  const deletionDuration = defineHistogram(context.metrics, {
    name: 'ttl_after_finished_controller_job_deletion_duration_seconds',
    help: 'Time from the expiry of the TTL of a finished Job until its deletion',
    buckets: exponentialBuckets(0.1, 2, 14),
  });
  const jobHandlers = jobs.addHandler(enqueueSelf(queue));

  async function reconcile(key: ObjectKey, signal: AbortSignal): Promise<ReconcileResult> {
    const job = jobs.store.get(key);
    if (job === undefined) return {};
    const expiry = decided(computeExpiry(job, context.clock.now()));
    if (expiry.kind === 'never') return {};
    if (expiry.kind === 'later') {
      if (expiry.finishedInFuture) logger.warn({ object: key }, 'job finished in the future: clocks differ');
      return { requeueAfterMs: expiry.inMs };
    }
    if (await deleteExpired(client, job, signal)) deletionDuration.observe(expiry.lateMs / 1000);
    return {};
  }

  const work = { name, context, queue, reconcile, caches: [jobs, jobHandlers], workers, primary: jobs.store };
  return { name, run: (signal) => runWorkers(work, signal) };
}
