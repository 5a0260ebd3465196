import {
  ConfigMaps,
  Deployments,
  PersistentVolumeClaims,
  Pods,
  ReplicationControllers,
  ResourceClaims,
  ResourceQuotas,
  Secrets,
  Services,
} from '../../pkg/api/index.ts';
import { Widgets, type QuotaUser } from './quota-user.ts';
import { podTemplate } from './workload-user.ts';

const goldAttributes = {
  scopeSelector: {
    matchExpressions: [{ scopeName: 'VolumeAttributesClass', operator: 'In', values: ['gold'] }],
  },
};
const withPriority = (operator: string, values?: string[]) => ({
  scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator, ...(values && { values }) }] },
});
const elsewhere = {
  podAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: [
      { labelSelector: {}, topologyKey: 'zone', namespaces: ['elsewhere'] },
    ],
  },
};

async function pods(user: QuotaUser): Promise<void> {
  const all = { pods: '100', 'count/pods': '100', 'requests.ephemeral-storage': '1Ti' };
  await user.quota('all-pods', all);
  await user.quota(
    'compute',
    {
      cpu: '100',
      'requests.cpu': '100',
      'limits.cpu': '100',
      memory: '100Gi',
      'limits.memory': '100Gi',
      'requests.example.com/gpu': '16',
    },
    { scopes: ['NotBestEffort'] },
  );
  await user.quota('best-effort', { pods: '10' }, { scopes: ['BestEffort'] });
  await user.quota('terminating', { pods: '10' }, { scopes: ['Terminating', 'NotBestEffort'] });
  await user.quota('not-terminating', { pods: '10' }, { scopes: ['NotTerminating', 'NotBestEffort'] });
  await user.quota('important', { pods: '10' }, withPriority('In', ['system-node-critical', 'high']));
  await user.quota('unimportant', { pods: '10' }, withPriority('DoesNotExist'));
  await user.quota('cross', { pods: '10' }, { scopes: ['CrossNamespacePodAffinity'] });

  const requests = { cpu: '250m', memory: '128Mi', 'ephemeral-storage': '1G', 'example.com/gpu': '2' };
  const limits = { cpu: '0.5', memory: '0.25Gi', 'ephemeral-storage': '1G', 'example.com/gpu': '2' };
  await user.pod('plain');
  await user.pod('sized', {}, requests, limits);
  await user.pod('deadline', { activeDeadlineSeconds: 1000 }, requests, limits);
  await user.pod('cross', { affinity: elsewhere });
  await user.pod('critical', { priorityClassName: 'system-node-critical' });
  await user.pod('done', {}, requests, limits);
  await user.pod('gone', {}, requests, limits);
  const initContainers = [
    {
      name: 'init',
      image: 'example',
      resources: { requests: { cpu: '1', memory: '1Mi' }, limits: { cpu: '1', memory: '1Mi' } },
    },
  ];
  await user.pod('with-init', { initContainers }, { cpu: '10m', memory: '1Gi' }, { cpu: '10m', memory: '1Gi' });
  await user.patch(Pods, 'done', { status: { phase: 'Succeeded' } }, 'status');
  await user.remove(Pods, 'gone');
  await user.patch(Pods, 'sized', { spec: { activeDeadlineSeconds: 500 } });

  await user.untilUsed('all-pods', { pods: '6', 'count/pods': '7', 'requests.ephemeral-storage': '2G' });
  await user.untilUsed('compute', {
    cpu: '1500m',
    'requests.cpu': '1.5',
    'limits.cpu': '2',
    memory: '1280Mi',
    'limits.memory': '1536Mi',
    'requests.example.com/gpu': '4',
  });
  await user.untilUsed('best-effort', { pods: '3' });
  await user.untilUsed('terminating', { pods: '2' });
  await user.untilUsed('not-terminating', { pods: '1' });
  await user.untilUsed('important', { pods: '1' });
  await user.untilUsed('unimportant', { pods: '5' });
  await user.untilUsed('cross', { pods: '1' });
}

async function services(user: QuotaUser): Promise<void> {
  const hard = { services: '10', 'services.nodeports': '10', 'services.loadbalancers': '10', 'count/services': '10' };
  await user.quota('services', hard);
  await user.service('internal', {});
  await user.service('outside', { type: 'NodePort' });
  await user.service('balanced', { type: 'LoadBalancer' });
  await user.service('without-ports', { type: 'LoadBalancer', allocateLoadBalancerNodePorts: false });
  await user.service('gone', { type: 'NodePort' });
  await user.patch(Services, 'outside', { spec: { type: 'ClusterIP' } });
  await user.remove(Services, 'gone');
  await user.untilUsed('services', {
    services: '4',
    'services.nodeports': '2',
    'services.loadbalancers': '2',
    'count/services': '4',
  });
}

async function volumeClaims(user: QuotaUser): Promise<void> {
  await user.quota('storage', {
    persistentvolumeclaims: '10',
    'count/persistentvolumeclaims': '10',
    'requests.storage': '100Gi',
    'gold.storageclass.storage.k8s.io/requests.storage': '50Gi',
    'gold.storageclass.storage.k8s.io/persistentvolumeclaims': '5',
    'silver.storageclass.storage.k8s.io/requests.storage': '50Gi',
  });
  await user.quota('gold-attributes', { persistentvolumeclaims: '5' }, goldAttributes);
  await user.claim('plain', '1Gi');
  await user.claim('gold', '2Gi', { storageClassName: 'gold', volumeAttributesClassName: 'gold' });
  await user.claim('odd', '1.5', { storageClassName: 'gold' });
  await user.claim('gone', '1Gi', { storageClassName: 'silver' });
  await user.remove(PersistentVolumeClaims, 'gone');
  await user.untilUsed('storage', {
    persistentvolumeclaims: '3',
    'count/persistentvolumeclaims': '3',
    'requests.storage': '3221225474',
    'gold.storageclass.storage.k8s.io/requests.storage': '2147483650',
    'gold.storageclass.storage.k8s.io/persistentvolumeclaims': '2',
    'silver.storageclass.storage.k8s.io/requests.storage': '0',
  });
  await user.untilUsed('gold-attributes', { persistentvolumeclaims: '1' });
}

async function deviceClaims(user: QuotaUser): Promise<void> {
  await user.quota('devices', {
    'count/resourceclaims.resource.k8s.io': '10',
    'gpu.deviceclass.resource.k8s.io/devices': '100',
    'other.deviceclass.resource.k8s.io/devices': '100',
  });
  const exact = (count: number) => ({ deviceClassName: 'gpu', allocationMode: 'ExactCount', count });
  const first = [
    { name: 'one', ...exact(3) },
    { name: 'two', deviceClassName: 'other', allocationMode: 'ExactCount', count: 1 },
  ];
  const requests = {
    exact: [{ name: 'a', exactly: exact(2) }],
    all: [{ name: 'a', exactly: { deviceClassName: 'gpu', allocationMode: 'All' } }],
    first: [{ name: 'a', firstAvailable: first }],
    gone: [{ name: 'a', exactly: exact(7) }],
  };
  for (const [name, list] of Object.entries(requests)) {
    await user.admit(ResourceClaims, { metadata: { name }, spec: { devices: { requests: list } } });
  }
  await user.remove(ResourceClaims, 'gone');
  await user.untilUsed('devices', {
    'count/resourceclaims.resource.k8s.io': '3',
    'gpu.deviceclass.resource.k8s.io/devices': '37',
    'other.deviceclass.resource.k8s.io/devices': '1',
  });
}

async function counts(user: QuotaUser): Promise<void> {
  await user.quota('counts', {
    configmaps: '10',
    'count/configmaps': '10',
    'count/secrets': '10',
    secrets: '10',
    replicationcontrollers: '10',
    resourcequotas: '50',
    'count/deployments.apps': '10',
    'count/widgets.quota.example.com': '10',
    'count/events': '10',
    'count/nothings.example.com': '10',
  });
  for (const name of ['a', 'b', 'c']) await user.configMap(name);
  const selector = { app: 'none' };
  const template = podTemplate({ app: 'none' });
  await user.admit(Secrets, { metadata: { name: 'a' } });
  await user.admit(ReplicationControllers, { metadata: { name: 'a' }, spec: { replicas: 0, selector, template } });
  const deployment = { replicas: 0, selector: { matchLabels: selector }, template };
  for (const name of ['a', 'b']) await user.admit(Deployments, { metadata: { name }, spec: deployment });
  for (const name of ['a', 'b']) await user.admit(Widgets, { metadata: { name } });
  await user.remove(ConfigMaps, 'c');
  await user.remove(Deployments, 'b');
  await user.remove(Widgets, 'b');
  const quotas = (await user.client.listAll(ResourceQuotas, { namespace: user.namespace }, user.signal)).items.length;
  await user.untilUsed('counts', {
    configmaps: '2',
    'count/configmaps': '2',
    secrets: '1',
    'count/secrets': '1',
    replicationcontrollers: '1',
    resourcequotas: String(quotas),
    'count/deployments.apps': '1',
    'count/widgets.quota.example.com': '1',
  });
}

/** One after another: each of them adds quotas to the namespace. `counts` comes last, since it counts the quotas too. */
export async function runQuotaScenarios(user: QuotaUser): Promise<void> {
  for (const scenario of [pods, services, volumeClaims, deviceClaims, counts]) await scenario(user);
}
