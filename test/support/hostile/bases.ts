import { idOf, type ServedKind } from './schema.ts';

interface Base {
  /** How often such an object is created, compared with others. */
  readonly weight: number;
  readonly object: object;
}

const labels = { app: 'one', constructor: 'x' };
const selector = { matchLabels: { app: 'one' } };
const containers = [{ name: 'main', image: 'i', ports: [{ name: 'http', containerPort: 80 }] }];
const template = { metadata: { labels }, spec: { containers } };
const jobSpec = { backoffLimit: 2, template: { metadata: { labels }, spec: { containers, restartPolicy: 'Never' } } };
const ports = [{ name: 'http', port: 80 }];

/**
 * Small legal objects of the kinds that controllers read, so that their pods, selectors and names match each other.
 * Kinds without one are generated from the schema. Add a kind here to have it more often, or if its schema is not
 * enough.
 */
const bases: Readonly<Record<string, Base>> = {
  Pod: { weight: 8, object: { metadata: { labels }, spec: { containers } } },
  Node: { weight: 3, object: {} },
  Namespace: { weight: 1, object: {} },
  Service: { weight: 4, object: { spec: { selector: { app: 'one' }, ports } } },
  Endpoints: { weight: 3, object: { subsets: [{ addresses: [{ ip: '10.1.2.3' }], ports }] } },
  'EndpointSlice.discovery.k8s.io': {
    weight: 4,
    object: { addressType: 'IPv4', endpoints: [{ addresses: ['10.1.2.3'] }], ports },
  },
  ReplicationController: { weight: 3, object: { spec: { replicas: 1, selector: { app: 'one' }, template } } },
  'ReplicaSet.apps': { weight: 4, object: { metadata: { labels }, spec: { replicas: 1, selector, template } } },
  'Deployment.apps': { weight: 5, object: { spec: { replicas: 1, selector, template, strategy: {} } } },
  'DaemonSet.apps': { weight: 3, object: { spec: { selector, template } } },
  'StatefulSet.apps': { weight: 1, object: { spec: { serviceName: 'x', selector, template } } },
  'ControllerRevision.apps': { weight: 2, object: { metadata: { labels }, revision: 1, data: {} } },
  'Job.batch': { weight: 6, object: { spec: jobSpec } },
  'CronJob.batch': { weight: 3, object: { spec: { schedule: '* * * * *', jobTemplate: { spec: jobSpec } } } },
  'Lease.coordination.k8s.io': { weight: 2, object: { spec: { holderIdentity: 'x' } } },
  ServiceAccount: { weight: 2, object: {} },
  Secret: {
    weight: 3,
    object: {
      type: 'kubernetes.io/service-account-token',
      metadata: { annotations: { 'kubernetes.io/service-account.name': 'default' } },
    },
  },
  ConfigMap: { weight: 2, object: { data: {} } },
  PersistentVolumeClaim: {
    weight: 1,
    object: { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } },
  },
  PersistentVolume: {
    weight: 1,
    object: { spec: { accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' }, hostPath: { path: '/x' } } },
  },
  'PodDisruptionBudget.policy': { weight: 1, object: { spec: { selector, minAvailable: 1 } } },
  ResourceQuota: { weight: 0.5, object: { spec: { hard: { pods: '1000' } } } },
  LimitRange: { weight: 0.5, object: { spec: { limits: [{ type: 'Pod', max: { cpu: '1' } }] } } },
  'HorizontalPodAutoscaler.autoscaling': {
    weight: 0.5,
    object: { spec: { maxReplicas: 3, scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'x' } } },
  },
  'Ingress.networking.k8s.io': {
    weight: 0.2,
    object: { spec: { defaultBackend: { service: { name: 'x', port: { number: 80 } } } } },
  },
  'ResourceSlice.resource.k8s.io': {
    weight: 0.2,
    object: {
      spec: { driver: 'x.example.com', nodeName: 'x', pool: { name: 'x', generation: 1, resourceSliceCount: 1 } },
    },
  },
  'VolumeAttachment.storage.k8s.io': {
    weight: 0.2,
    object: { spec: { attacher: 'x.example.com', nodeName: 'x', source: { persistentVolumeName: 'x' } } },
  },
  'VolumeAttributesClass.storage.k8s.io': {
    weight: 0.2,
    object: { driverName: 'x.example.com', parameters: { a: 'b' } },
  },
  'Thing.hostile.example.com': { weight: 3, object: { constructor: { toString: 'x' } } },
  'Place.hostile.example.com': { weight: 1, object: {} },
};

const weightOfOthers = 0.15;

export function weightOf(kind: ServedKind): number {
  return bases[idOf(kind)]?.weight ?? weightOfOthers;
}

export function baseOf(kind: ServedKind): object | undefined {
  const base = bases[idOf(kind)];
  return base === undefined ? undefined : structuredClone(base.object);
}

/** The kinds with a base here, which the server must accept. */
export const kindsWithBase: readonly string[] = Object.keys(bases);

/** Kinds that would change the server itself, so that no later write could be judged. */
export const leftOut: readonly string[] = [
  // They refuse or change the writes of all users.
  'MutatingWebhookConfiguration.admissionregistration.k8s.io',
  'ValidatingWebhookConfiguration.admissionregistration.k8s.io',
  'MutatingAdmissionPolicy.admissionregistration.k8s.io',
  'MutatingAdmissionPolicyBinding.admissionregistration.k8s.io',
  'ValidatingAdmissionPolicy.admissionregistration.k8s.io',
  'ValidatingAdmissionPolicyBinding.admissionregistration.k8s.io',
  // They remove API groups from the server, or its priority levels or addresses.
  'APIService.apiregistration.k8s.io',
  'CustomResourceDefinition.apiextensions.k8s.io',
  'FlowSchema.flowcontrol.apiserver.k8s.io',
  'PriorityLevelConfiguration.flowcontrol.apiserver.k8s.io',
  'ServiceCIDR.networking.k8s.io',
];

/** Kinds that prevent pods in their namespace: they are created where no other test needs pods. */
export const pacifiers: readonly string[] = ['ResourceQuota', 'LimitRange'];

/** Custom resources with arbitrary fields: one namespaced kind, one cluster-scoped kind. */
export function customResourceDefinitions(): readonly object[] {
  const define = (kind: string, scope: string): object => {
    const plural = `${kind.toLowerCase()}s`;
    const openAPIV3Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
    const version = { name: 'v1', served: true, storage: true, subresources: { status: {} } };
    return {
      metadata: { name: `${plural}.hostile.example.com` },
      spec: {
        group: 'hostile.example.com',
        scope,
        names: { kind, plural },
        versions: [{ ...version, schema: { openAPIV3Schema } }],
      },
    };
  };
  return [define('Thing', 'Namespaced'), define('Place', 'Cluster')];
}
