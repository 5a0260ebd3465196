import { Nodes, type Cached, type Node } from '../../pkg/api/index.ts';
import type { Instances } from '../../pkg/cloud/index.ts';
import { runPeriodically, type Controller, type ControllerContext } from '../../pkg/controller/index.ts';
import { changeTaints, deleteNode } from './apply.ts';
import { isReady, withoutShutdownTaint, withShutdownTaint } from './shutdown-taint.ts';

export const cloudNodeLifecycleName = 'cloud-node-lifecycle-controller';

export interface CloudNodeLifecycleOptions {
  readonly instances: Instances;
  /** How often the machines of nodes that are not ready are asked for. */
  readonly periodMs: number;
}

export function createCloudNodeLifecycleController(
  context: ControllerContext,
  { instances, periodMs }: CloudNodeLifecycleOptions,
): Controller {
  const { clock, logger } = context;
  const nodes = context.informers.informerFor(Nodes);
  const client = context.clientFor('node-controller');
  const deps = { client, recorder: context.recorderFor(cloudNodeLifecycleName) };

  async function check(node: Cached<Node>, signal: AbortSignal): Promise<void> {
    if (isReady(node)) return changeTaints(node, withoutShutdownTaint, deps, signal);
    if (!(await instances.exists(node, signal))) return deleteNode(node, deps, signal);
    if (await instances.isShutDown(node, signal)) await changeTaints(node, withShutdownTaint, deps, signal);
  }

  /** One after the other, as in Go: clouds limit requests. */
  async function checkAll(signal: AbortSignal): Promise<void> {
    for (const node of nodes.store.list()) {
      if (signal.aborted) return;
      try {
        await check(node, signal);
      } catch (error) {
        if (!signal.aborted)
          logger.error({ err: error, node: node.metadata.name }, 'could not check the machine of a node');
      }
    }
  }

  const pace = { clock, logger, caches: [nodes], periodMs };
  return { name: cloudNodeLifecycleName, run: (signal) => runPeriodically(pace, checkAll, signal) };
}
