import type { CloudProvider } from '../pkg/cloud/index.ts';
import type { ControllerDefinition } from '../pkg/controller/index.ts';
import { parseCidr, type Cidr } from '../pkg/ip/index.ts';
import { cloudNode } from './cloudnode/index.ts';
import { cloudNodeLifecycle } from './cloudnodelifecycle/index.ts';
import { nodeRoute } from './noderoute/index.ts';
import { serviceLb } from './servicelb/index.ts';

/** The settings of the cloud controllers, with the defaults of their flags in Kubernetes. */
export interface CloudOptions {
  /** `--cluster-name`. Default `kubernetes`. */
  readonly clusterName?: string | undefined;
  /** `--cluster-cidr`: the range of pod CIDRs, or one of each family. Required if the cloud has routes. */
  readonly clusterCidrs?: readonly string[] | undefined;
  /** `--configure-cloud-routes`. Default true. */
  readonly configureCloudRoutes?: boolean | undefined;
  /** `--route-reconciliation-period`. Default 10 s. */
  readonly routeReconciliationPeriodMs?: number | undefined;
  /** The gate `CloudControllerManagerWatchBasedRoutesReconciliation`: routes change with nodes. Default false: periodically. */
  readonly watchBasedRoutes?: boolean | undefined;
  /** `--concurrent-service-syncs`. Default 1. */
  readonly concurrentServiceSyncs?: number | undefined;
  /** `--concurrent-node-syncs`. Default 1. */
  readonly concurrentNodeSyncs?: number | undefined;
  /** `--concurrent-node-status-updates`. Default: as `concurrentNodeSyncs`. */
  readonly concurrentNodeStatusUpdates?: number | undefined;
  /** `--node-status-update-frequency`. Default 5 min. */
  readonly nodeStatusUpdateFrequencyMs?: number | undefined;
  /** `--node-monitor-period`. Default 5 s. */
  readonly nodeMonitorPeriodMs?: number | undefined;
}

/** The options contradict each other or the cloud. */
export class CloudOptionsError extends Error {
  override readonly name = 'CloudOptionsError';
  readonly reason = 'InvalidOptions';
}

/**
 * The controllers of a cloud controller manager: `runManager` runs them. Those for which the cloud has no part are left
 * out. Throws a `CloudOptionsError`.
 */
export function cloudControllers(cloud: CloudProvider, options: CloudOptions = {}): readonly ControllerDefinition[] {
  const { clusterName = 'kubernetes', concurrentNodeSyncs = 1 } = options;
  const { loadBalancers, routes, instances } = cloud;
  const definitions: ControllerDefinition[] = [];
  if (instances !== undefined) {
    definitions.push(
      cloudNode({
        instances,
        workers: concurrentNodeSyncs,
        statusPeriodMs: options.nodeStatusUpdateFrequencyMs ?? 300_000,
        statusWorkers: options.concurrentNodeStatusUpdates ?? concurrentNodeSyncs,
      }),
      cloudNodeLifecycle({ instances, periodMs: options.nodeMonitorPeriodMs ?? 5000 }),
    );
  }
  if (loadBalancers !== undefined) {
    const workers = options.concurrentServiceSyncs ?? 1;
    definitions.push(serviceLb({ balancers: loadBalancers, clusterName, workers }));
  }
  if (routes !== undefined && options.configureCloudRoutes !== false) {
    definitions.push(
      nodeRoute({
        routes,
        clusterName,
        clusterCidrs: readClusterCidrs(options.clusterCidrs ?? []),
        periodMs: options.routeReconciliationPeriodMs ?? 10_000,
        watchBased: options.watchBasedRoutes ?? false,
      }),
    );
  }
  return definitions;
}

function readClusterCidrs(texts: readonly string[]): readonly Cidr[] {
  const refuse = (why: string): never => {
    throw new CloudOptionsError(`clusterCidrs: ${why}`);
  };
  if (texts.length === 0) refuse('the cloud has routes, so the range of pod CIDRs must be set');
  const cidrs = texts.map((text) => parseCidr(text) ?? refuse(`${JSON.stringify(text)} is not a CIDR`));
  if (cidrs.length > 2 || (cidrs.length === 2 && cidrs[0]?.family === cidrs[1]?.family)) {
    refuse('must be one CIDR, or one of each IP family');
  }
  return cidrs;
}
