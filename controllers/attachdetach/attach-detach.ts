import {
  CSIDrivers,
  Nodes,
  PersistentVolumeClaims,
  PersistentVolumes,
  Pods,
  VolumeAttachments,
  type Node,
} from '../../pkg/api/index.ts';
import { PendingWrites, runAll, type Controller, type ControllerContext } from '../../pkg/controller/index.ts';
import { ActualState } from './actual-state.ts';
import { DesiredState } from './desired-state.ts';
import { registerHandlers } from './handlers.ts';
import { createLoops, type LoopOptions } from './loops.ts';
import { defineAttachDetachMetrics } from './metrics.ts';
import { NodeReader } from './node-facts.ts';
import { OwnAttachments } from './own-attachments.ts';
import { createReconciles } from './reconciles.ts';

const name = 'persistentvolume-attach-detach-controller';

/**
 * Attaches the volumes of pods to their nodes, and detaches those that no pod on the node needs any more. Three queues:
 * pods say which volumes are needed, volumes are attached and detached, and nodes report what is attached.
 */
export function createAttachDetachController(context: ControllerContext, options: LoopOptions): Controller {
  const { clock, logger } = context;
  const informers = {
    pods: context.informers.informerFor(Pods),
    nodes: context.informers.informerFor(Nodes),
    claims: context.informers.informerFor(PersistentVolumeClaims),
    volumes: context.informers.informerFor(PersistentVolumes),
    drivers: context.informers.informerFor(CSIDrivers),
    attachments: context.informers.informerFor(VolumeAttachments),
  };
  const queues = {
    pods: context.queueFor('pvcs'), // the name of Go's queue for the same purpose
    volumes: context.queueFor<string>('attach_detach_volumes'),
    nodes: context.queueFor('attach_detach_nodes'),
  };
  const world = {
    desired: new DesiredState(),
    actual: new ActualState(),
    own: new OwnAttachments(informers.attachments.store),
    nodes: new NodeReader(informers.nodes.store),
  };
  const deps = {
    informers,
    queues,
    world,
    clock,
    logger,
    client: context.clientFor('attachdetach-controller'),
    recorder: context.recorderFor('attachdetach-controller'),
    metrics: defineAttachDetachMetrics(context.metrics),
    pending: new PendingWrites<Node>(informers.nodes, clock),
    ...options,
  };
  const loops = createLoops({ ...deps, name, context }, createReconciles(deps), registerHandlers(deps));
  return { name, run: (signal) => runAll(loops, signal) };
}
