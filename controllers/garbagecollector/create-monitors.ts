import type { ControllerContext } from '../../pkg/controller/index.ts';
import { createInformerMetrics } from '../../informers/index.ts';
import { defineCounter } from '../../pkg/metrics/index.ts';
import type { KnownKinds } from './live.ts';
import { Monitors, type MonitorsDeps } from './monitors.ts';

/** The client of the monitors is not the one that deletes: watches and deletions must not wait for each other's rate limit. */
export function createMonitors(
  context: ControllerContext,
  kinds: KnownKinds,
  rest: Pick<MonitorsDeps, 'client' | 'enqueue' | 'onDefinitionsChanged'>,
): Monitors {
  const { informers, discovery, clock, logger } = context;
  return new Monitors({
    informers,
    discovery,
    kinds,
    clock,
    logger,
    syncErrors: defineCounter(context.metrics, {
      name: 'garbagecollector_controller_resources_sync_error_total',
      help: 'Number of garbage collector resources sync errors',
    }),
    informerMetrics: createInformerMetrics(context.metrics, 'kube-controller-manager'),
    ...rest,
  });
}
