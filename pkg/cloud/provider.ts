import type { Cached, Node, Service } from '../api/index.ts';

export type LoadBalancerStatus = NonNullable<NonNullable<Service['status']>['loadBalancer']>;
export type NodeAddress = NonNullable<NonNullable<Node['status']>['addresses']>[number];

/**
 * A cloud, as far as a cluster needs one. A part that is absent is not supported, and its controllers do not run. Every
 * method may be called again after a failure or a restart, so each must find out what exists already. An error is retried
 * with back-off. `clusterName` tells clusters of one account apart.
 */
export interface CloudProvider {
  readonly loadBalancers?: LoadBalancers | undefined;
  readonly routes?: Routes | undefined;
  readonly instances?: Instances | undefined;
}

/** The load balancers of Services. `update` may be called while `ensure` runs for the same Service. */
export interface LoadBalancers {
  /** The status of the load balancer; undefined if there is none. */
  get(clusterName: string, service: Cached<Service>, signal: AbortSignal): Promise<LoadBalancerStatus | undefined>;
  /**
   * Creates the load balancer, or changes it to what the Service specifies. Throws a `RetryAfterError` if it is not ready
   * yet, and an `ImplementedElsewhereError` if another controller provides it.
   */
  ensure(request: BalanceRequest, signal: AbortSignal): Promise<LoadBalancerStatus>;
  /** Changes the nodes of an existing load balancer. */
  update(request: BalanceRequest, signal: AbortSignal): Promise<void>;
  /** Deletes the load balancer and everything that belongs to it. Succeeds if there is none. */
  delete(clusterName: string, service: Cached<Service>, signal: AbortSignal): Promise<void>;
}

interface BalanceRequest {
  readonly clusterName: string;
  readonly service: Cached<Service>;
  /** The nodes that traffic may be sent to. */
  readonly nodes: readonly Cached<Node>[];
}

/** The routes to the pod CIDRs of nodes. */
export interface Routes {
  list(clusterName: string, signal: AbortSignal): Promise<readonly Route[]>;
  /** `nameHint` is the uid of the node. */
  create(
    request: { readonly clusterName: string; readonly nameHint: string; readonly route: Route },
    signal: AbortSignal,
  ): Promise<void>;
  /** `route` is one that `list` returned. */
  delete(clusterName: string, route: Route, signal: AbortSignal): Promise<void>;
}

export interface Route {
  /** The name in the cloud. Not set for a route that is to be created. */
  readonly name?: string | undefined;
  /** The name of the node; empty if it is unknown. */
  readonly targetNode: string;
  /** A pod CIDR of the node. */
  readonly destinationCidr: string;
  readonly targetNodeAddresses?: readonly Cached<NodeAddress>[] | undefined;
  /** The cloud keeps `targetNodeAddresses`: a route whose addresses are not those of its node is replaced. Default false. */
  readonly enableNodeAddresses?: boolean | undefined;
  /** The route leads nowhere. It is deleted if it is in the cluster CIDR. */
  readonly blackhole?: boolean | undefined;
}

/** The machines of nodes. Find the machine of a node by `spec.providerID`, or by its name if that is not set. */
export interface Instances {
  /** True for a machine that is shut down, too. The node of a machine that does not exist is deleted. */
  exists(node: Cached<Node>, signal: AbortSignal): Promise<boolean>;
  isShutDown(node: Cached<Node>, signal: AbortSignal): Promise<boolean>;
  /** Undefined: the node is left as it is. */
  metadataOf(node: Cached<Node>, signal: AbortSignal): Promise<InstanceMetadata | undefined>;
}

/** What a cloud knows of a machine. Empty fields change nothing. */
export interface InstanceMetadata {
  /** `<provider>://<id>`, for `spec.providerID`. It never changes. */
  readonly providerId: string;
  /** For the label `node.kubernetes.io/instance-type`. */
  readonly instanceType?: string | undefined;
  /** For `status.addresses`. */
  readonly nodeAddresses?: readonly NodeAddress[] | undefined;
  /** For the label `topology.kubernetes.io/zone`. */
  readonly zone?: string | undefined;
  /** For the label `topology.kubernetes.io/region`. */
  readonly region?: string | undefined;
  /** More labels. Those that the node has already, and those of `kubernetes.io` and `k8s.io`, are ignored. */
  readonly additionalLabels?: Readonly<Record<string, string>> | undefined;
}
