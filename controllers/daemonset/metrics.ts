import { ControllerRevisions, DaemonSets, Pods, type Kind } from '../../pkg/api/index.ts';
import { defineCounter, type MetricsRegistry } from '../../pkg/metrics/index.ts';

/** Counts syncs that were skipped because the cache of a kind had not observed an own write yet. */
export function createStaleSyncCounter(registry: MetricsRegistry): (kind: Pick<Kind, 'group' | 'resource'>) => void {
  const skips = defineCounter(registry, {
    name: 'daemonset_controller_stale_sync_skips_total',
    help: 'Skipped DaemonSet syncs: a cache had not observed the last write yet',
    labels: ['group', 'resource'],
  });
  const skipsOf = ({ group, resource }: Pick<Kind, 'group' | 'resource'>) => skips.with({ group, resource });
  for (const kind of [Pods, DaemonSets, ControllerRevisions]) skipsOf(kind);
  return (kind) => skipsOf(kind).inc();
}
