/** Labels and annotations that Kubernetes gives a meaning to. */
export const serviceNameLabel = 'kubernetes.io/service-name';
export const managedByLabel = 'endpointslice.kubernetes.io/managed-by';
export const headlessLabel = 'service.kubernetes.io/headless';
export const triggerTimeAnnotation = 'endpoints.kubernetes.io/last-change-trigger-time';
/** On Endpoints that serve as a lock: they have no Service, and must not go for that. */
export const leaderAnnotation = 'control-plane.alpha.kubernetes.io/leader';
