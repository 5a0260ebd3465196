import {
  runAll,
  runWorkers,
  type Controller,
  type ControllerContext,
  type DebugPage,
  type ReconcileObserver,
  type ReconcileResult,
} from '../../pkg/controller/index.ts';
import { createInformerMetrics } from '../../informers/index.ts';
import { defineCounter } from '../../pkg/metrics/index.ts';
import { createWorkQueue, exponentialLimiter } from '../../workqueue/index.ts';
import { AbsentOwners } from './absent-owners.ts';
import { createApplyChange, type GraphChange } from './changes.ts';
import { createCollector } from './collector.ts';
import { drawGraph } from './dot.ts';
import type { GraphNode } from './graph-node.ts';
import { DependencyGraph } from './graph.ts';
import { formatIdentity, type Reference } from './identity.ts';
import { KnownKinds } from './live.ts';
import { Monitors, syncPeriodMs } from './monitors.ts';

export const name = 'garbage-collector-controller';
const clientName = 'generic-garbage-collector';

/** What is only done for the sake of the process is not counted among the objects reconciled. */
const uncounted: ReconcileObserver = { finished: () => {} };
/** Bursts of definitions, as an operator installs them, are answered with one look at discovery. */
const definitionsSettleMs = 1000;
const look = 'discovery';

export function createGarbageCollector(
  context: ControllerContext,
  { workers }: { readonly workers: number },
): Controller {
  const { clock, logger } = context;
  // Each deletion takes two requests, a read and a delete: twice the rate is what others have.
  const client = context.clientFor(clientName, { qpsFactor: 2 });
  const changes = context.queueFor<GraphChange>('garbage_collector_graph_changes');
  const deletions = context.queueFor<string>('garbage_collector_attempt_to_delete');
  const orphans = context.queueFor<string>('garbage_collector_attempt_to_orphan');
  const looks = createWorkQueue<string>({
    name: look,
    clock,
    rateLimiter: exponentialLimiter({ baseMs: 1000, maxMs: syncPeriodMs }),
  });

  const kinds = new KnownKinds();
  const absent = new AbsentOwners();
  const attemptDelete = (uid: string): void => deletions.add(uid);
  const graph = new DependencyGraph(absent, {
    attemptDelete,
    attemptOrphan: (uid) => orphans.add(uid),
    foundForeignOwner: createForeignOwnerReport(context, kinds),
  });
  const monitors = new Monitors({
    informers: context.informers,
    client: context.clientFor(clientName), // so that the watches of a start do not wait for deletions, nor these for them
    discovery: context.discovery,
    kinds,
    clock,
    logger,
    syncErrors: defineCounter(context.metrics, {
      name: 'garbagecollector_controller_resources_sync_error_total',
      help: 'Number of garbage collector resources sync errors',
    }),
    informerMetrics: createInformerMetrics(context.metrics, 'kube-controller-manager'),
    enqueue: (change) => changes.add(change),
    onDefinitionsChanged: () => looks.addAfter(look, definitionsSettleMs),
  });
  const isGraphComplete = (): boolean => monitors.isSynced;
  const collector = createCollector({ client, graph, absent, kinds, logger, isGraphComplete, attemptDelete });

  const quiet = { ...context, reconciles: uncounted };
  const reconcileLook = (_key: string, signal: AbortSignal): Promise<ReconcileResult> => monitors.sync(signal);
  const discovering = { name, context: quiet, queue: looks, reconcile: reconcileLook, caches: [], workers: 1 };
  const reconcileChange = createApplyChange(graph, clock, logger);
  const building = { name, context: quiet, queue: changes, reconcile: reconcileChange, caches: [], workers: 1 };
  const caches = [monitors];
  const deleting = { name, context, queue: deletions, reconcile: collector.attemptDelete, caches, workers };
  const orphaning = { name, context, queue: orphans, reconcile: collector.attemptOrphan, caches, workers };
  const graphPage: DebugPage = {
    contentType: 'text/vnd.graphviz',
    parts: (query) => drawGraph(graph, query.getAll('uid')),
  };
  return {
    name,
    debugPages: { graph: graphPage },
    async run(signal) {
      looks.add(look);
      try {
        await runAll(
          [
            (either) => runWorkers(discovering, either),
            (either) => runWorkers(building, either),
            (either) => runWorkers(deleting, either),
            (either) => runWorkers(orphaning, either),
          ],
          signal,
        );
      } finally {
        await monitors.stop();
      }
    },
  };
}

/** Users learn from an event that such an owner counts as absent: the object will be deleted if it has no other. */
function createForeignOwnerReport(
  context: ControllerContext,
  kinds: KnownKinds,
): (dependent: GraphNode, owner: Reference) => void {
  const recorder = context.recorderFor(name);
  return (dependent, owner) => {
    const kind = kinds.find(dependent);
    if (kind === undefined) return;
    const { namespace, uid } = dependent;
    recorder.event(
      kind,
      { metadata: { name: dependent.name, namespace: namespace === '' ? undefined : namespace, uid } },
      {
        type: 'Warning',
        reason: 'OwnerRefInvalidNamespace',
        message: `ownerRef ${formatIdentity({ ...owner, namespace })} does not exist in namespace "${namespace}"`,
      },
    );
  };
}
