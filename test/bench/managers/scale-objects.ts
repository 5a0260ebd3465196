import { managedFieldsOf } from '../engine/pods.ts';

/** How many of each the cluster has. */
export interface ScaleSize {
  readonly nodes: number;
  readonly pods: number;
  readonly services: number;
}

/** An object as it is stored in etcd. */
export type Entry = readonly [key: string, json: string];

/** A cluster within the limits of Kubernetes, with the ratios of a typical one: a Service and a Deployment for 20 pods. */
export function scaleSize(scale: number): ScaleSize {
  const size = (count: number): number => Math.max(1, Math.round(count * scale));
  return { nodes: size(2000), pods: size(5000) * podsPerService, services: size(5000) };
}

const podsPerService = 20;
const servicesPerNamespace = 50;
const createdAt = '2026-01-01T00:00:00Z';

const nodeName = (index: number): string => `scale-node-${index}`;
const appName = (service: number): string => `web-${service}`;
const setName = (service: number): string => `${appName(service)}-7d9c5b8f6d`;
const podName = (index: number): string =>
  `${setName(serviceOf(index))}-${(index + 60_466_176).toString(36).slice(-5)}`;
const serviceOf = (pod: number): number => Math.floor(pod / podsPerService);
const namespaceOf = (service: number): string => `scale-${Math.floor(service / servicesPerNamespace)}`;

export function namespaceNames({ services }: ScaleSize): string[] {
  return Array.from({ length: Math.ceil(services / servicesPerNamespace) }, (_, index) => `scale-${index}`);
}

export function podKey(index: number): string {
  return `/registry/pods/${namespaceOf(serviceOf(index))}/${podName(index)}`;
}

/** A different address for every number. */
export function podAddress(number: number): string {
  return `10.${(number >> 16) & 255}.${(number >> 8) & 255}.${number & 255}`;
}

function uidOf(kind: number, index: number): string {
  return `5e0b6c3a-1f2d-4e8b-9a7c-${(kind * 0x1_0000_0000 + index).toString(16).padStart(12, '0')}`;
}

function owner(kind: string, name: string, uid: string): object {
  return { apiVersion: 'apps/v1', kind, name, uid, controller: true, blockOwnerDeletion: true };
}

const healthy = { reason: 'KubeletReady', message: 'kubelet is posting ready status' };

export function nodeEntry(index: number): Entry {
  const name = nodeName(index);
  const node = {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      uid: uidOf(1, index),
      creationTimestamp: createdAt,
      labels: { 'kubernetes.io/hostname': name, 'topology.kubernetes.io/zone': `zone-${index % 3}` },
    },
    status: {
      capacity: { cpu: '64', memory: '256Gi', pods: '110' },
      allocatable: { cpu: '64', memory: '256Gi', pods: '110' },
      conditions: [
        { type: 'Ready', status: 'True', lastHeartbeatTime: createdAt, lastTransitionTime: createdAt, ...healthy },
      ],
      addresses: [{ type: 'InternalIP', address: hostAddress(index) }],
    },
  };
  return [`/registry/minions/${name}`, JSON.stringify(node)];
}

function hostAddress(node: number): string {
  return `192.168.${node >> 8}.${node & 255}`;
}

export function leaseEntry(index: number, nowMs: number): Entry {
  const name = nodeName(index);
  const lease = {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: {
      name,
      namespace: 'kube-node-lease',
      uid: uidOf(2, index),
      creationTimestamp: createdAt,
      ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name, uid: uidOf(1, index) }],
    },
    spec: {
      holderIdentity: name,
      leaseDurationSeconds: 40,
      renewTime: new Date(nowMs).toISOString().replace('Z', '000Z'),
    },
  };
  return [`/registry/leases/kube-node-lease/${name}`, JSON.stringify(lease)];
}

/** A Deployment with its ReplicaSet and its Service. */
export function applicationEntries(service: number): Entry[] {
  const [app, set, namespace] = [appName(service), setName(service), namespaceOf(service)];
  const labels = { app, 'pod-template-hash': '7d9c5b8f6d' };
  const metadata = { namespace, creationTimestamp: createdAt, generation: 1 };
  const revision = { 'deployment.kubernetes.io/revision': '1' };
  const replicas = podsPerService;
  const template = (podLabels: object): object => ({
    metadata: { labels: podLabels },
    spec: { containers: [containerOf(app)] },
  });
  const deployment = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { ...metadata, name: app, uid: uidOf(3, service), annotations: revision },
    spec: { replicas, selector: { matchLabels: { app } }, template: template({ app }) },
  };
  const replicaSet = {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: {
      ...metadata,
      name: set,
      uid: uidOf(4, service),
      labels,
      annotations: revision,
      ownerReferences: [owner('Deployment', app, uidOf(3, service))],
    },
    spec: { replicas, selector: { matchLabels: labels }, template: template(labels) },
  };
  const headless = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace, name: app, uid: uidOf(5, service), creationTimestamp: createdAt },
    // Headless: addresses of Services are allocated by the API server, and etcd does not know of them.
    spec: { clusterIP: 'None', clusterIPs: ['None'], selector: { app }, ports: [{ port: 80, protocol: 'TCP' }] },
  };
  return [
    [`/registry/deployments/${namespace}/${app}`, JSON.stringify(deployment)],
    [`/registry/replicasets/${namespace}/${set}`, JSON.stringify(replicaSet)],
    [`/registry/services/specs/${namespace}/${app}`, JSON.stringify(headless)],
  ];
}

function containerOf(app: string): object {
  const probe = { httpGet: { path: '/readyz', port: 8080, scheme: 'HTTP' }, periodSeconds: 10, timeoutSeconds: 1 };
  return {
    name: 'app',
    image: `registry.example/team/${app}:1.27.3`,
    env: ['LOG_LEVEL', 'REGION', 'DATABASE', 'CACHE'].map((name) => ({ name, value: `${name} of ${app}` })),
    ports: [{ name: 'http', containerPort: 8080, protocol: 'TCP' }],
    resources: { limits: { cpu: '500m', memory: '512Mi' }, requests: { cpu: '100m', memory: '128Mi' } },
    livenessProbe: probe,
    readinessProbe: probe,
  };
}

export function podEntry(index: number, size: ScaleSize, isReady = true): Entry {
  const service = serviceOf(index);
  const [app, set] = [appName(service), setName(service)];
  const metadata = {
    name: podName(index),
    generateName: `${set}-`,
    namespace: namespaceOf(service),
    uid: uidOf(6, index),
    creationTimestamp: createdAt,
    labels: { app, 'pod-template-hash': '7d9c5b8f6d' },
    ownerReferences: [owner('ReplicaSet', set, uidOf(4, service))],
  };
  const spec = {
    nodeName: nodeName(index % size.nodes),
    containers: [containerOf(app)],
    terminationGracePeriodSeconds: 30,
  };
  const status = runningStatus({ address: podAddress(index), node: index % size.nodes, isReady });
  const managedFields = managedFieldsOf({ metadata, spec, status });
  return [
    podKey(index),
    JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata: { ...metadata, managedFields }, spec, status }),
  ];
}

interface Running {
  readonly address: string;
  readonly node: number;
  readonly isReady: boolean;
}

function runningStatus({ address, node, isReady }: Running): object {
  const condition = (type: string, status: boolean): object => ({
    type,
    status: status ? 'True' : 'False',
    lastTransitionTime: createdAt,
  });
  return {
    phase: 'Running',
    hostIP: hostAddress(node),
    podIP: address,
    podIPs: [{ ip: address }],
    startTime: createdAt,
    qosClass: 'Burstable',
    conditions: [
      condition('PodScheduled', true),
      condition('Initialized', true),
      condition('ContainersReady', isReady),
      condition('Ready', isReady),
    ],
    containerStatuses: [
      {
        name: 'app',
        image: 'registry.example/team/app:1.27.3',
        imageID: `registry.example/team/app@sha256:${'0123456789abcdef'.repeat(4)}`,
        containerID: `containerd://${address}`,
        ready: isReady,
        started: true,
        restartCount: 0,
        state: { running: { startedAt: createdAt } },
      },
    ],
  };
}

/** A pod that a controller has created, once a node runs it. */
export function startedPodEntry(
  pod: { readonly metadata: { readonly namespace?: string | undefined; readonly name: string }; readonly spec: object },
  { address, node }: Omit<Running, 'isReady'>,
): Entry {
  const { metadata, spec } = pod;
  const running = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { ...metadata, resourceVersion: undefined },
    spec: { ...spec, nodeName: nodeName(node) },
    status: runningStatus({ address, node, isReady: true }),
  };
  return [`/registry/pods/${metadata.namespace}/${metadata.name}`, JSON.stringify(running)];
}
