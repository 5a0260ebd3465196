import {
  runAll,
  runWorkers,
  type Controller,
  type ControllerContext,
  type ReconcileObserver,
  type ReconcileResult,
} from '../../pkg/controller/index.ts';
import { createWorkQueue, exponentialLimiter } from '../../workqueue/index.ts';
import { AbsentOwners } from './absent-owners.ts';
import { createApplyChange, type GraphChange } from './changes.ts';
import { createCollector } from './collector.ts';
import { createMonitors } from './create-monitors.ts';
import { graphPage } from './dot.ts';
import { createForeignOwnerReport } from './foreign-owner.ts';
import { DependencyGraph } from './graph.ts';
import { KnownKinds } from './live.ts';
import { syncPeriodMs } from './monitors.ts';

export const name = 'garbage-collector-controller';
const clientName = 'generic-garbage-collector';

/** Discovery and graph changes are not counted as reconciles of objects. */
const uncounted: ReconcileObserver = { finished: () => {} };
/** Operators install many definitions at once. One refresh of discovery after this delay is enough. */
const definitionsSettleMs = 1000;
const discoveryKey = 'discovery';

export function createGarbageCollector(
  context: ControllerContext,
  { workers }: { readonly workers: number },
): Controller {
  const { clock, logger } = context;
  // Each deletion takes two requests, a read and a delete. So this client has twice the rate of others.
  const client = context.clientFor(clientName, { qpsFactor: 2 });
  const changes = context.queueFor<GraphChange>('garbage_collector_graph_changes');
  const deletions = context.queueFor<string>('garbage_collector_attempt_to_delete');
  const orphans = context.queueFor<string>('garbage_collector_attempt_to_orphan');
  const discoveries = createWorkQueue<string>({
    name: discoveryKey,
    clock,
    rateLimiter: exponentialLimiter({ baseMs: 1000, maxMs: syncPeriodMs }),
  });

  const kinds = new KnownKinds();
  const absent = new AbsentOwners();
  const attemptDelete = (uid: string): void => deletions.add(uid);
  const graph = new DependencyGraph(absent, {
    attemptDelete,
    attemptOrphan: (uid) => orphans.add(uid),
    foundForeignOwner: createForeignOwnerReport(context.recorderFor(name), kinds),
  });
  const monitors = createMonitors(context, kinds, {
    client: context.clientFor(clientName),
    enqueue: (change) => changes.add(change),
    onDefinitionsChanged: () => discoveries.addAfter(discoveryKey, definitionsSettleMs),
  });
  const isGraphComplete = (): boolean => monitors.isSynced;
  const collector = createCollector({ client, graph, absent, kinds, logger, isGraphComplete, attemptDelete });

  const uncountedContext = { ...context, reconciles: uncounted };
  const discovering = {
    name,
    context: uncountedContext,
    queue: discoveries,
    reconcile: (_key: string, signal: AbortSignal): Promise<ReconcileResult> => monitors.sync(signal),
    caches: [],
    workers: 1,
  };
  const reconcileChange = createApplyChange(graph, clock, logger);
  const building = { ...discovering, queue: changes, reconcile: reconcileChange };
  const collecting = { name, context, caches: [monitors], workers };
  const deleting = { ...collecting, queue: deletions, reconcile: collector.attemptDelete };
  const orphaning = { ...collecting, queue: orphans, reconcile: collector.attemptOrphan };
  async function run(signal: AbortSignal): Promise<void> {
    discoveries.add(discoveryKey);
    const loops = [
      (either: AbortSignal) => runWorkers(discovering, either),
      (either: AbortSignal) => runWorkers(building, either),
      (either: AbortSignal) => runWorkers(deleting, either),
      (either: AbortSignal) => runWorkers(orphaning, either),
    ];
    try {
      await runAll(loops, signal);
    } finally {
      await monitors.stop();
    }
  }
  return { name, debugPages: { graph: graphPage(graph) }, run };
}
