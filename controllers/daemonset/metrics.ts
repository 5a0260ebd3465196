import { DaemonSets, Pods, type Kind } from '../../pkg/api/index.ts';
import { defineCounter, type MetricsRegistry } from '../../pkg/metrics/index.ts';

/**
 * Counts syncs that were skipped because the cache of a kind had not observed an own write yet. Like the Go binary, it
 * counts pods and DaemonSets only, not revisions.
 */
export function createStaleSyncCounter(registry: MetricsRegistry): (kind: Pick<Kind, 'group' | 'resource'>) => void {
  const skips = defineCounter(registry, {
    name: 'daemonset_controller_stale_sync_skips_total',
    help: 'Skipped DaemonSet syncs: a cache had not observed the last write yet',
    labels: ['group', 'resource'],
  });
  const skipsOf = ({ group, resource }: Pick<Kind, 'group' | 'resource'>) => skips.with({ group, resource });
  const counters = new Map([Pods, DaemonSets].map((kind) => [kind.resource, skipsOf(kind)]));
  return ({ resource }) => counters.get(resource)?.inc();
}
