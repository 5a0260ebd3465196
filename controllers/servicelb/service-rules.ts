import { isBeingDeleted, isEqualJson, type Cached, type Service } from '../../pkg/api/index.ts';
import type { LoadBalancerStatus } from '../../pkg/cloud/index.ts';

/** Keeps a Service until its load balancer is deleted. */
export const cleanupFinalizer = 'service.kubernetes.io/load-balancer-cleanup';

export function hasCleanupFinalizer({ metadata }: Cached<Service>): boolean {
  return (metadata.finalizers ?? []).includes(cleanupFinalizer);
}

/** A Service with a class has a load balancer of another controller. */
export function wantsLoadBalancer({ spec }: Cached<Service>): boolean {
  return spec.type === 'LoadBalancer' && (spec.loadBalancerClass ?? undefined) === undefined;
}

/** The Service has a load balancer that must be deleted. */
export function needsCleanup(service: Cached<Service>): boolean {
  if (!hasCleanupFinalizer(service)) return false;
  return isBeingDeleted(service.metadata) || service.spec.type !== 'LoadBalancer';
}

/** The fields of a Service that a load balancer depends on. Status and labels are not among them. */
function balancedFields({ metadata, spec }: Cached<Service>): unknown {
  return {
    uid: metadata.uid,
    annotations: metadata.annotations,
    sourceRanges: spec.loadBalancerSourceRanges,
    sessionAffinity: spec.sessionAffinity,
    sessionAffinityConfig: spec.sessionAffinityConfig,
    loadBalancerIP: spec.loadBalancerIP,
    externalIPs: spec.externalIPs,
    externalTrafficPolicy: spec.externalTrafficPolicy,
    healthCheckNodePort: spec.healthCheckNodePort ?? 0,
    // A family can be added or removed, but the first never changes.
    families: spec.ipFamilies?.length ?? 0,
    ports: spec.ports?.map(({ name, protocol, port, nodePort, targetPort, appProtocol }) => ({
      name,
      protocol,
      port,
      nodePort: nodePort ?? 0,
      targetPort,
      appProtocol,
    })),
  };
}

export function needsUpdate(before: Cached<Service>, after: Cached<Service>): boolean {
  if (!wantsLoadBalancer(before) && !wantsLoadBalancer(after)) return false;
  if (wantsLoadBalancer(before) !== wantsLoadBalancer(after)) return true;
  return !isEqualJson(balancedFields(before), balancedFields(after), { emptyIsAbsent: true });
}

/** Whether the Service shows this status. The server sets `ipMode` if it is absent. */
export function showsStatus({ status }: Cached<Service>, wanted: LoadBalancerStatus): boolean {
  const shown = (status?.loadBalancer?.ingress ?? []).map(withIpMode);
  return isEqualJson(shown, (wanted.ingress ?? []).map(withIpMode), { emptyIsAbsent: true });
}

type Ingress = NonNullable<LoadBalancerStatus['ingress']>[number];

function withIpMode(ingress: Cached<Ingress>): Cached<Ingress> {
  return (ingress.ip ?? '') === '' ? ingress : { ...ingress, ipMode: ingress.ipMode ?? 'VIP' };
}
