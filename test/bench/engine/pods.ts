import type { ClusterAccess } from '../../cluster/index.ts';
import { EtcdWriter } from '../etcd-writer.ts';

/** When the pod was written, in milliseconds of the clock that all processes of the machine share. */
export const stampAnnotation = 'bench/written-at';

const podsPerOwner = 100;
const namespace = 'bench';

/**
 * Writes pods directly to etcd, as the API server would have stored them: running, with a status and managed fields, about
 * 11 kB of JSON each. Through the API server it would take minutes.
 */
export async function writePods(
  { etcdUrl }: Pick<ClusterAccess, 'etcdUrl'>,
  indexes: readonly number[],
): Promise<void> {
  using etcd = new EtcdWriter(etcdUrl);
  await etcd.putAll(indexes, (index) => [`/registry/pods/${namespace}/${nameOf(index)}`, podJson(index)]);
}

function nameOf(index: number): string {
  const owner = Math.floor(index / podsPerOwner);
  return `web-${owner}-7d9c5b8f6d-${suffixOf(index)}`;
}

function suffixOf(index: number): string {
  return (index + 60_466_176).toString(36).slice(-5);
}

function uidOf(kind: string, index: number): string {
  const digits = (index + (kind === 'pod' ? 0x1_0000_0000 : 0x2_0000_0000)).toString(16).padStart(12, '0');
  return `5e0b6c3a-1f2d-4e8b-9a7c-${digits}`;
}

function monotonicMs(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1000 + nanoseconds / 1e6;
}

function podJson(index: number): string {
  const owner = Math.floor(index / podsPerOwner);
  const app = `web-${owner}`;
  const metadata = {
    name: nameOf(index),
    generateName: `${app}-7d9c5b8f6d-`,
    namespace,
    uid: uidOf('pod', index),
    creationTimestamp: '2026-01-01T00:00:00Z',
    labels: {
      'app.kubernetes.io/name': app,
      'app.kubernetes.io/instance': `${app}-production`,
      'app.kubernetes.io/version': '1.27.3',
      'app.kubernetes.io/managed-by': 'Helm',
      'pod-template-hash': '7d9c5b8f6d',
      tier: 'frontend',
    },
    annotations: {
      'prometheus.io/scrape': 'true',
      'prometheus.io/port': '9090',
      'checksum/config': 'b1946ac92492d2347c6235b4d2611184b1946ac92492d2347c6235b4d2611184',
      [stampAnnotation]: String(monotonicMs()),
    },
    ownerReferences: [
      {
        apiVersion: 'apps/v1',
        kind: 'ReplicaSet',
        name: `${app}-7d9c5b8f6d`,
        uid: uidOf('replicaset', owner),
        controller: true,
        blockOwnerDeletion: true,
      },
    ],
  };
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata, spec: specOf(index, app), status: statusOf(index) };
  managedFieldsJson ??= JSON.stringify(managedFieldsOf(pod));
  return JSON.stringify(pod).replace('"metadata":{', `"metadata":{"managedFields":${managedFieldsJson},`);
}

/** Contains only names of fields, so it is the same for all pods. */
let managedFieldsJson: string | undefined;

/** What the API server would have noted of a pod that a controller created and a kubelet runs. */
export function managedFieldsOf({ metadata, spec, status }: Record<'metadata' | 'spec' | 'status', object>): object[] {
  return [manager('kube-controller-manager', { metadata, spec }), manager('kubelet', { status }, 'status')];
}

function specOf(index: number, app: string): object {
  const access = `kube-api-access-${suffixOf(index)}`; // different for each pod, so that their containers differ
  const env = Array.from({ length: 8 }, (_, i) => ({
    name: `SETTING_${i}`,
    value: `https://service-${i}.example:8443`,
  }));
  const container = (name: string, port: number): object => ({
    name,
    image: `registry.example/team/${app}/${name}:1.27.3`,
    imagePullPolicy: 'IfNotPresent',
    env,
    ports: [{ name: 'http', containerPort: port, protocol: 'TCP' }],
    resources: { limits: { cpu: '500m', memory: '512Mi' }, requests: { cpu: '100m', memory: '128Mi' } },
    livenessProbe: probe('/livez', port),
    readinessProbe: probe('/readyz', port),
    securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, runAsNonRoot: true },
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
    volumeMounts: [
      { name: 'config', mountPath: '/etc/config', readOnly: true },
      { name: access, mountPath: '/var/run/secrets/kubernetes.io/serviceaccount', readOnly: true },
    ],
  });
  return {
    nodeName: `node-${index % 200}`,
    containers: [container('app', 8080), container('proxy', 15_001)],
    volumes: [
      { name: 'config', configMap: { name: `${app}-config`, defaultMode: 420 } },
      {
        name: access,
        projected: {
          defaultMode: 420,
          sources: [
            { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
            { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
            {
              downwardAPI: {
                items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
              },
            },
          ],
        },
      },
    ],
    restartPolicy: 'Always',
    dnsPolicy: 'ClusterFirst',
    schedulerName: 'default-scheduler',
    serviceAccountName: app,
    serviceAccount: app,
    terminationGracePeriodSeconds: 30,
    enableServiceLinks: true,
    preemptionPolicy: 'PreemptLowerPriority',
    priority: 0,
    securityContext: { fsGroup: 2000 },
    tolerations: ['not-ready', 'unreachable'].map((taint) => ({
      key: `node.kubernetes.io/${taint}`,
      operator: 'Exists',
      effect: 'NoExecute',
      tolerationSeconds: 300,
    })),
  };
}

function probe(path: string, port: number): object {
  const times = { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 };
  return { httpGet: { path, port, scheme: 'HTTP' }, initialDelaySeconds: 5, ...times };
}

function statusOf(index: number): object {
  const ip = `10.${(index >> 16) & 255}.${(index >> 8) & 255}.${index & 255}`;
  const time = new Date(Date.UTC(2026, 0, 1) + index * 1000).toISOString().replace('.000Z', 'Z');
  const types = ['PodReadyToStartContainers', 'Initialized', 'Ready', 'ContainersReady', 'PodScheduled'];
  return {
    phase: 'Running',
    hostIP: `192.168.0.${index % 200}`,
    hostIPs: [{ ip: `192.168.0.${index % 200}` }],
    podIP: ip,
    podIPs: [{ ip }],
    qosClass: 'Burstable',
    startTime: time,
    conditions: types.map((type) => ({ type, status: 'True', lastTransitionTime: time })),
    containerStatuses: ['app', 'proxy'].map((name) => ({
      name,
      image: `registry.example/team/${name}:1.27.3`,
      imageID: `registry.example/team/${name}@sha256:${'0123456789abcdef'.repeat(4)}`,
      containerID: `containerd://${index.toString(16).padStart(64, '0')}`,
      ready: true,
      started: true,
      restartCount: 0,
      state: { running: { startedAt: time } },
    })),
  };
}

function manager(name: string, owned: object, subresource?: string): object {
  const entry = { manager: name, operation: 'Update', apiVersion: 'v1', time: '2026-01-01T00:00:00Z' };
  return { ...entry, fieldsType: 'FieldsV1', fieldsV1: fieldsOf(owned), subresource };
}

/** The tree of field names in `managedFields`. */
function fieldsOf(value: unknown): object {
  if (typeof value !== 'object' || value === null) return {};
  if (!Array.isArray(value)) {
    return Object.fromEntries(Object.entries(value).map(([name, field]) => [`f:${name}`, fieldsOf(field)]));
  }
  const items = value.map((item: object) => {
    const [key, name] = Object.entries(item)[0] ?? [];
    return [`k:${JSON.stringify({ [key ?? '']: name as unknown })}`, { '.': {}, ...fieldsOf(item) }];
  });
  return { '.': {}, ...Object.fromEntries(items) };
}
