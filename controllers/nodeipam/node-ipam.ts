import { isBeingDeleted, keyOf, Nodes, type Cached, type Node, type ObjectKey } from '../../pkg/api/index.ts';
import {
  runWorkers,
  type Controller,
  type ControllerContext,
  type ReconcileResult,
} from '../../pkg/controller/index.ts';
import { areOverlapping } from '../../pkg/ip/index.ts';
import { assignRanges } from './apply.ts';
import { CidrSet } from './cidr-set.ts';
import { createLiveList } from './live-list.ts';
import { createIpamMetrics } from './metrics.ts';
import { NodeRanges, podCidrsOf } from './node-ranges.ts';
import type { RangeSettings } from './settings.ts';

const name = 'node-ipam-controller';
/** As many as in the Go binary, which has no flag for this either. */
const workers = 30;

/** Allocates a pod CIDR of each cluster CIDR to every node. */
export function createNodeIpamController(context: ControllerContext, settings: RangeSettings): Controller {
  const { logger } = context;
  const client = context.clientFor('node-controller');
  const recorder = context.recorderFor('cidrAllocator');
  const queue = context.queueFor('cidrallocator_node');
  const nodes = context.informers.informerFor(Nodes);
  const ranges = new NodeRanges(createSets(context, settings));
  const holdLiveRanges = createLiveList({ client, nodes: nodes.store, ranges });
  /** Nodes for which no range was left. */
  const waiting = new Set<ObjectKey>();

  const observe = (node: Cached<Node>): void => {
    const outside = ranges.observe(node);
    if (outside.length > 0) logger.error({ node: node.metadata.name, outside }, 'pod CIDRs outside of --cluster-cidr');
    if (podCidrsOf(node).length === 0 && !isBeingDeleted(node.metadata)) queue.add(keyOf(node));
  };
  // Ranges are held as soon as a node with them is observed: a reconcile of its key might come after an allocation.
  const handlers = nodes.addHandler({
    added: observe,
    updated: (_before, after) => observe(after),
    deleted(last) {
      queue.add(keyOf(last)); // the loop drops the state of the key
      const isFreed = ranges.release(last.metadata.name, last.metadata.uid);
      const [next] = waiting; // one released range is enough for one node
      if (isFreed && next !== undefined) queue.add(next);
    },
  });

  async function reconcile(key: ObjectKey, signal: AbortSignal): Promise<ReconcileResult> {
    await holdLiveRanges(signal);
    const node = nodes.store.get(key);
    waiting.delete(key);
    if (node === undefined || isBeingDeleted(node.metadata) || podCidrsOf(node).length > 0) return {};
    const allocated = ranges.allocate(node);
    if (allocated === 'nothing-left') {
      waiting.add(key);
      const message = `Node ${node.metadata.name} status is now: CIDRNotAvailable`;
      recorder.event(Nodes, node, { type: 'Normal', reason: 'CIDRNotAvailable', message });
      throw new NoCidrLeftError(`allocate a pod CIDR for node ${key}: no range of the cluster CIDR is left`);
    }
    if (allocated.length > 0) await assignRanges(client, node, allocated, signal);
    return {};
  }

  const care = { primary: nodes.store, forget: (key: ObjectKey): void => void waiting.delete(key) };
  const work = { name, context, queue, reconcile, caches: [nodes, handlers], workers, ...care };
  return { name, run: (signal) => runWorkers(work, signal) };
}

class NoCidrLeftError extends Error {
  override readonly name = 'NoCidrLeftError';
  readonly reason = 'CIDRNotAvailable';
}

/** A set for each cluster CIDR, without the ranges of Services. */
function createSets({ metrics: registry }: ControllerContext, { cluster, services }: RangeSettings): CidrSet[] {
  const metrics = createIpamMetrics(registry);
  return cluster.map(({ cidr, nodePrefix }) => {
    const set = new CidrSet(cidr, nodePrefix, metrics);
    metrics.setSize(cidr, set.size);
    for (const service of services) if (areOverlapping(service, cidr)) set.occupy(service);
    return set;
  });
}
