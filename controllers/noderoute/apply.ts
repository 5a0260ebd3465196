import { keyOf, metadataOf, Nodes, type Cached, type Node } from '../../pkg/api/index.ts';
import { isNotFound, type Client } from '../../pkg/client/index.ts';
import type { Routes } from '../../pkg/cloud/index.ts';
import { asError, runBounded } from '../../pkg/controller/index.ts';
import type { EventRecorder } from '../../pkg/events/index.ts';
import type { Logger } from '../../pkg/log/index.ts';
import { formatDuration, type Clock } from '../../pkg/time/index.ts';
import { planCondition, type RouteCreation, type RoutePlan } from './plan.ts';

export interface RouteDeps {
  readonly client: Client;
  readonly recorder: EventRecorder;
  readonly routes: Routes;
  readonly clusterName: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** As in Go. */
const maxConcurrentRoutes = 200;
const maxConcurrentWrites = 8;

/** Changes the routes, then tells each node whether it has its routes. What fails is tried again in the next period. */
export async function applyRoutes(plan: RoutePlan, deps: RouteDeps, signal: AbortSignal): Promise<void> {
  const deleting = deleteRoutes(plan, deps, signal);
  if (plan.deletesFirst) await deleting;
  const [, failed] = await Promise.all([deleting, createRoutes(plan, deps, signal)]);
  if (signal.aborted) return;
  await runBounded(maxConcurrentWrites, plan.reported, (node) =>
    reportRoutes(node, { hasRoutes: hasRoutes(node) && !failed.has(node.metadata.name) }, deps, signal),
  );
}

function hasRoutes({ spec }: Cached<Node>): boolean {
  return (spec.podCIDRs ?? []).length > 0;
}

async function deleteRoutes(
  { deletions }: RoutePlan,
  { routes, clusterName, logger }: RouteDeps,
  signal: AbortSignal,
): Promise<void> {
  await runBounded(maxConcurrentRoutes, deletions, async (route) => {
    try {
      await routes.delete(clusterName, route, signal);
    } catch (error) {
      if (!signal.aborted)
        logger.error({ err: error, route: route.name, cidr: route.destinationCidr }, 'could not delete route');
    }
  });
}

/** Returns the nodes for which a route could not be created. */
async function createRoutes(
  { creations }: RoutePlan,
  deps: RouteDeps,
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const failed = new Set<string>();
  await runBounded(maxConcurrentRoutes, creations, async (creation) => {
    if (!(await createRoute(creation, deps, signal))) failed.add(creation.node.metadata.name);
  });
  return failed;
}

async function createRoute({ node, route }: RouteCreation, deps: RouteDeps, signal: AbortSignal): Promise<boolean> {
  const { routes, clusterName, clock, recorder } = deps;
  const { name, uid } = node.metadata;
  const startMs = clock.monotonic();
  try {
    await routes.create({ clusterName, nameHint: uid, route }, signal);
    return true;
  } catch (error) {
    if (signal.aborted) return false;
    const after = formatDuration(Math.round(clock.monotonic() - startMs));
    const what = `Could not create route ${uid} ${route.destinationCidr} for node ${name}`;
    const message = `${what} after ${after}: ${asError(error).message}`;
    recorder.event(Nodes, node, { type: 'Warning', reason: 'FailedToCreateRoute', message });
    return false;
  }
}

async function reportRoutes(
  node: Cached<Node>,
  state: { readonly hasRoutes: boolean },
  { client, clock, logger }: RouteDeps,
  signal: AbortSignal,
): Promise<void> {
  const condition = planCondition(node, { ...state, nowMs: clock.now() });
  if (condition === undefined) return;
  const body = { metadata: { uid: node.metadata.uid }, status: { conditions: [condition] } };
  try {
    await client.patch(metadataOf(Nodes), keyOf(node), { type: 'strategic', subresource: 'status', body }, signal);
  } catch (error) {
    if (!signal.aborted && !isNotFound(error))
      logger.error({ err: error, node: node.metadata.name }, 'could not set the condition of a node');
  }
}
