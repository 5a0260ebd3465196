/** Well-known labels and annotations of Kubernetes. */
export const serviceNameLabel = 'kubernetes.io/service-name';
export const managedByLabel = 'endpointslice.kubernetes.io/managed-by';
export const headlessLabel = 'service.kubernetes.io/headless';
export const triggerTimeAnnotation = 'endpoints.kubernetes.io/last-change-trigger-time';
/** Marks Endpoints used for leader election. They have no Service and must not be deleted. */
export const leaderAnnotation = 'control-plane.alpha.kubernetes.io/leader';
