import { keyOf, Nodes, type Cached, type Node, type ObjectKey } from '../../pkg/api/index.ts';
import { isNotFound } from '../../pkg/client/index.ts';
import type { Instances } from '../../pkg/cloud/index.ts';
import {
  PendingWrites,
  runAll,
  runBounded,
  runPeriodically,
  runWorkers,
  type Controller,
  type ControllerContext,
  type ReconcileResult,
} from '../../pkg/controller/index.ts';
import { correctLabels, initialiseNode, updateAddresses, type CloudNodeDeps } from './apply.ts';
import { isUninitialised } from './initialise.ts';
import { defineCloudNodeMetrics } from './metrics.ts';

export const cloudNodeName = 'cloud-node-controller';

export interface CloudNodeOptions {
  readonly instances: Instances;
  /** Nodes that may sync at the same time. */
  readonly workers: number;
  /** How often the addresses of all nodes are updated. */
  readonly statusPeriodMs: number;
  /** Nodes whose addresses may be updated at the same time. */
  readonly statusWorkers: number;
}

export function createCloudNodeController(context: ControllerContext, options: CloudNodeOptions): Controller {
  const { clock, logger } = context;
  const { instances } = options;
  const queue = context.queueFor('Nodes');
  const nodes = context.informers.informerFor(Nodes);
  const written = new PendingWrites(nodes, clock);
  const deps: CloudNodeDeps = {
    instances,
    client: context.clientFor('node-controller'),
    recorder: context.recorderFor(cloudNodeName),
    clock,
    logger,
    metrics: defineCloudNodeMetrics(context.metrics),
    onWritten: (key, resourceVersion) => written.wrote(key, resourceVersion),
  };
  const enqueue = (node: Cached<Node>): void => queue.add(keyOf(node));
  const handler = nodes.addHandler({ added: enqueue, updated: (_, after) => enqueue(after) });

  async function reconcile(key: ObjectKey, signal: AbortSignal): Promise<ReconcileResult> {
    const node = nodes.store.get(key);
    if (node === undefined) return {};
    try {
      if (isUninitialised(node)) await initialiseNode(node, deps, signal);
      else await correctLabels(node, deps, signal);
    } catch (error) {
      if (!isNotFound(error)) throw error; // the node was deleted meanwhile
    }
    return {};
  }

  async function updateAllAddresses(signal: AbortSignal): Promise<void> {
    const known = nodes.store.list().filter((node) => !isUninitialised(node));
    await runBounded(options.statusWorkers, known, async (node) => {
      if (signal.aborted) return;
      const machine = await instances.metadataOf(node, signal);
      if (machine !== undefined) await updateAddresses(node, machine, deps, signal);
    });
  }

  const caches = [nodes, handler];
  const care = { ownWrites: [written], primary: nodes.store };
  const work = { name: cloudNodeName, context, queue, reconcile, caches, workers: options.workers, ...care };
  const pace = { clock, logger, caches, periodMs: options.statusPeriodMs };
  const loops = [
    (signal: AbortSignal) => runWorkers(work, signal),
    (signal: AbortSignal) => runPeriodically(pace, updateAllAddresses, signal),
  ];
  return { name: cloudNodeName, run: (signal) => runAll(loops, signal) };
}
