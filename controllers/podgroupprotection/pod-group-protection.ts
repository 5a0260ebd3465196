import { keyOf, PodGroups, Pods, type Cached, type ObjectKey, type Pod, type PodGroup } from '../../pkg/api/index.ts';
import {
  applyProtection,
  finalizerChange,
  findServed,
  PendingWrites,
  runWorkers,
  type Controller,
  type ControllerContext,
  type KeySink,
  type ReconcileResult,
} from '../../pkg/controller/index.ts';
import { defineIndex, type Handler } from '../../informers/index.ts';
import { groupInUseBy, groupOf } from './members.ts';

const name = 'podgroup-protection-controller';
const finalizer = 'scheduling.k8s.io/podgroup-protection';
/** The Go binary has one. Here an update that a webhook or a lost connection holds up must not hold up all others. */
const workers = 5;

const podsByGroup = defineIndex<Pod>('scheduling group', (pod) => {
  const key = groupInUseBy(pod);
  return key === undefined ? [] : [key];
});

/**
 * Keeps PodGroups that are being deleted until the last pod that names them has finished or is gone. An admission plugin
 * adds the finalizer when a PodGroup is created; here it is only removed.
 */
export function createPodGroupProtection(context: ControllerContext): Controller {
  const client = context.clientFor(name);

  async function protect(signal: AbortSignal): Promise<void> {
    const queue = context.queueFor('podgroupprotection');
    const groups = context.informers.informerFor(PodGroups);
    const pods = context.informers.informerFor(Pods);
    const pending = new PendingWrites<PodGroup>(groups, context.clock);
    pods.addIndex(podsByGroup);
    const isUsed = (group: Cached<PodGroup>): boolean => pods.store.byIndex(podsByGroup, keyOf(group)).length > 0;
    const protection = { kind: PodGroups, finalizer, client, pending, isUsed };
    const handlers = [groups.addHandler(enqueueReleasable(queue)), pods.addHandler(enqueueGroupOf(queue))];

    async function reconcile(key: ObjectKey, abandon: AbortSignal): Promise<ReconcileResult> {
      const group = groups.store.get(key);
      if (group !== undefined && isReleasable(group)) await applyProtection(group, protection, abandon);
      return {};
    }

    const care = { primary: groups.store, ownWrites: [pending] };
    const work = { name, context, queue, reconcile, caches: [groups, pods, ...handlers], workers, ...care };
    await runWorkers(work, signal);
  }

  async function run(signal: AbortSignal): Promise<void> {
    if ((await findServed(context.discovery, [PodGroups], signal)) !== undefined) return protect(signal);
    context.logger.info({}, 'PodGroups are not served: nothing is protected');
  }

  return { name, run };
}

function isReleasable(group: Cached<PodGroup>): boolean {
  return finalizerChange(group, finalizer) === 'remove';
}

function enqueueReleasable(queue: KeySink): Handler<PodGroup> {
  const enqueue = (group: Cached<PodGroup>): void => {
    if (isReleasable(group)) queue.add(keyOf(group));
  };
  return {
    added: enqueue,
    updated: (_before, after) => enqueue(after),
    deleted: (last) => queue.add(keyOf(last)), // so that what is kept for its key is dropped
  };
}

/** Enqueues the PodGroup of a pod that has finished or is gone. */
function enqueueGroupOf(queue: KeySink): Handler<Pod> {
  const enqueue = (key: ObjectKey | undefined): void => {
    if (key !== undefined) queue.add(key);
  };
  return {
    updated(before, after) {
      if (groupInUseBy(before) !== undefined && groupInUseBy(after) === undefined) enqueue(groupOf(after));
    },
    deleted: (last) => enqueue(groupOf(last)),
  };
}
