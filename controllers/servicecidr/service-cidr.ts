import {
  IPAddresses,
  isBeingDeleted,
  keyOf,
  ServiceCIDRs,
  type Cached,
  type IPAddress,
  type ObjectKey,
  type ServiceCIDR,
} from '../../pkg/api/index.ts';
import {
  decided,
  PendingWrites,
  runWorkers,
  type Controller,
  type ControllerContext,
  type ReconcileResult,
} from '../../pkg/controller/index.ts';
import { applyPlan } from './apply.ts';
import { canAllocate, isDeletable, isOverlapping, isServiceAddress } from './deletion.ts';
import { planSync } from './sync.ts';

const name = 'service-cidr-controller';
/** As many as in the Go binary, which has no flag for this either. */
const workers = 5;

/** Marks ServiceCIDRs as ready, and keeps a deleted one while addresses of Services depend on it. */
export function createServiceCidrController(context: ControllerContext): Controller {
  const client = context.clientFor('service-cidrs-controller');
  const recorder = context.recorderFor(name);
  const queue = context.queueFor('ipaddresses');
  const ranges = context.informers.informerFor(ServiceCIDRs);
  const addresses = context.informers.informerFor(IPAddresses);

  const pending = new PendingWrites<ServiceCIDR>(ranges, context.clock);

  // A cluster has a handful of ServiceCIDRs: checking all of them costs less than an index of overlaps.
  const overlappingWith = (range: Cached<ServiceCIDR>): readonly Cached<ServiceCIDR>[] =>
    ranges.store.list().filter((other) => isOverlapping(range, other));
  const enqueue = (range: Cached<ServiceCIDR>): void => queue.add(keyOf(range));
  /** An address matters only to ServiceCIDRs that are being deleted. */
  const enqueueBlocked = (address: Cached<IPAddress>): void => {
    if (!isServiceAddress(address)) return;
    const terminating = ranges.store.list().filter(({ metadata }) => isBeingDeleted(metadata));
    terminating.filter((range) => canAllocate(range, address.metadata.name)).forEach(enqueue);
  };
  const handlers = [
    ranges.addHandler({
      added(range) {
        enqueue(range);
        overlappingWith(range).forEach(enqueue); // it may have the addresses for which another one is kept
      },
      updated: (_before, after) => enqueue(after),
      deleted: enqueue,
    }),
    addresses.addHandler({ added: enqueueBlocked, deleted: enqueueBlocked }),
  ];

  /** Reads all addresses, and is asked only for a range that is being deleted. */
  const hasNoDependents = (range: Cached<ServiceCIDR>): boolean =>
    isDeletable({ range, overlapping: overlappingWith(range), addresses: addresses.store.list() });

  async function reconcile(key: ObjectKey, signal: AbortSignal): Promise<ReconcileResult> {
    const range = ranges.store.get(key);
    if (range === undefined) return {};
    const nowMs = context.clock.now();
    const plan = decided(
      planSync(range, { isDeletable: isBeingDeleted(range.metadata) && hasNoDependents(range), nowMs }),
    );
    await applyPlan(plan, range, { client, recorder, pending, nowMs }, signal);
    return plan.result;
  }

  const care = { primary: ranges.store, ownWrites: [pending] };
  const work = { name, context, queue, reconcile, caches: [ranges, addresses, ...handlers], workers, ...care };
  return { name, run: (signal) => runWorkers(work, signal) };
}
