import {
  keyOf,
  ResourceClaims,
  ResourcePoolStatusRequests,
  ResourceSlices,
  type Cached,
  type ObjectKey,
  type ResourcePoolStatusRequest,
  type ResourceSlice,
} from '../../pkg/api/index.ts';
import {
  findServed,
  PendingWrites,
  RefusedError,
  runAll,
  runPeriodically,
  runWorkers,
  slicesByDriver,
  type Controller,
  type ControllerContext,
  type ReconcileResult,
} from '../../pkg/controller/index.ts';
import { applyStatus, deleteRequest } from './apply.ts';
import { isExpired } from './expiry.ts';
import { claimsByDriver, pendingByDriver } from './indexes.ts';
import { definePoolStatusMetrics } from './metrics.ts';
import { observedSlices, staleMs } from './observed-slices.ts';
import { computeAnswer } from './pool-status.ts';

const name = 'resourcepoolstatusrequest-controller';
const cleanupPeriodMs = 10 * 60_000;
type Request = Cached<ResourcePoolStatusRequest>;
type Slice = Cached<ResourceSlice>;

/** Answers requests about the devices of a driver once, and deletes them when they are old. */
export function createPoolStatusController(context: ControllerContext): Controller {
  const { discovery, logger } = context;
  return {
    name,
    /** An informer of an API that is not served would keep the process from being ready. */
    async run(signal) {
      const kind = await findServed(discovery, [ResourcePoolStatusRequests], signal);
      if (kind !== undefined) await runAll(wire(context), signal);
      else logger.info({}, 'ResourcePoolStatusRequests are not served: none is answered');
    },
  };
}

function wire(context: ControllerContext): ((signal: AbortSignal) => Promise<void>)[] {
  const { clock, informers, logger } = context;
  const client = context.clientFor(name);
  const queue = context.queueFor('resourcepoolstatusrequest');
  const requests = informers.informerFor(ResourcePoolStatusRequests);
  const slices = informers.informerFor(ResourceSlices);
  const claims = informers.informerFor(ResourceClaims);
  const pending = new PendingWrites<ResourcePoolStatusRequest>(requests, clock);
  const metrics = definePoolStatusMetrics(context.metrics);
  requests.addIndex(pendingByDriver);
  slices.addIndex(slicesByDriver);
  claims.addIndex(claimsByDriver);
  const enqueue = (request: Request): void => {
    if (request.status === undefined) queue.add(keyOf(request));
  };
  /** A request whose pools were incomplete waits for their slices. */
  const enqueueWaiting = ({ spec }: Slice): void => {
    requests.store.byIndex(pendingByDriver, spec.driver).forEach(enqueue);
  };
  const answer = { added: enqueue, updated: (_before: unknown, after: Request) => enqueue(after) };
  const wake = { added: enqueueWaiting, updated: (_before: unknown, after: Slice) => enqueueWaiting(after) };
  const handlers = [
    requests.addHandler({ ...answer, deleted: (last) => queue.add(keyOf(last)) }),
    slices.addHandler({ ...wake, deleted: enqueueWaiting }),
  ];

  async function reconcile(key: ObjectKey, signal: AbortSignal): Promise<ReconcileResult> {
    const request = requests.store.get(key);
    if (request === undefined || request.status !== undefined) return {};
    const { driver } = request.spec;
    const observed = await observedSlices(driver, { slices, client }, signal);
    if (observed === undefined) return { requeueAfterMs: staleMs };
    const allocated = claims.store.byIndex(claimsByDriver, driver);
    const computed = computeAnswer({ request, slices: observed, claims: allocated, nowMs: clock.now() });
    if (computed.kind === 'incomplete') throw new RefusedError(computed.problem);
    await applyStatus(request, computed.status, { client, pending, metrics, clock }, signal);
    return {};
  }

  async function cleanUp(signal: AbortSignal): Promise<void> {
    for (const request of requests.store.list()) {
      if (isExpired(request, clock.now())) await deleteRequest(client, request, signal);
    }
  }

  const caches = [requests, slices, claims, ...handlers];
  const work = { name, context, queue, reconcile, caches, workers: 1, primary: requests.store, ownWrites: [pending] };
  return [
    (signal) => runWorkers(work, signal),
    (signal) => runPeriodically({ periodMs: cleanupPeriodMs, clock, logger, caches }, cleanUp, signal),
  ];
}
