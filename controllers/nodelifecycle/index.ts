import { defineController } from '../../pkg/controller/index.ts';
import { atLeast, flag } from '../../pkg/flags/index.ts';
import { createNodeLifecycleController } from './node-lifecycle.ts';

const flags = {
  'large-cluster-size-threshold': flag('int32', {
    default: 50,
    config: 'NodeLifecycleController.LargeClusterSizeThreshold',
    help: 'A zone of at most this many nodes has no evictions while it is unhealthy; a larger one has --secondary-node-eviction-rate',
  }),
  'node-eviction-rate': flag('float32', {
    default: 0.1,
    config: 'NodeLifecycleController.NodeEvictionRate',
    help: 'Nodes per second whose pods are evicted, in a healthy zone',
  }),
  'node-monitor-grace-period': flag('duration', {
    default: '50s',
    config: 'NodeLifecycleController.NodeMonitorGracePeriod',
    help: 'A node that did not report for this long is marked as not healthy',
  }),
  // The Go binary shares this flag with the cloud controller manager, hence its group and config path.
  'node-monitor-period': flag('duration', {
    default: '5s',
    check: atLeast(0),
    group: 'Generic',
    config: 'KubeCloudShared.NodeMonitorPeriod',
    help: 'How often node-lifecycle-controller checks the health of the nodes',
  }),
  'node-startup-grace-period': flag('duration', {
    default: '1m0s',
    config: 'NodeLifecycleController.NodeStartupGracePeriod',
    help: 'A starting node that did not report for this long is marked as not healthy',
  }),
  'secondary-node-eviction-rate': flag('float32', {
    default: 0.01,
    config: 'NodeLifecycleController.SecondaryNodeEvictionRate',
    help: 'Nodes per second whose pods are evicted, in a large unhealthy zone',
  }),
  'unhealthy-zone-threshold': flag('float32', {
    default: 0.55,
    config: 'NodeLifecycleController.UnhealthyZoneThreshold',
    help: 'A zone is unhealthy if this fraction of its nodes, and at least 3, are not ready',
  }),
};

export const nodeLifecycle = defineController({
  name: 'node-lifecycle-controller',
  aliases: ['nodelifecycle'],
  flags,
  create: (context, options) =>
    createNodeLifecycleController(context, {
      monitorPeriodMs: options['node-monitor-period'],
      health: {
        graceMs: options['node-monitor-grace-period'],
        startupGraceMs: options['node-startup-grace-period'],
      },
      zones: {
        evictionRate: options['node-eviction-rate'],
        secondaryEvictionRate: options['secondary-node-eviction-rate'],
        largeClusterSize: options['large-cluster-size-threshold'],
        unhealthyThreshold: options['unhealthy-zone-threshold'],
      },
    }),
});
