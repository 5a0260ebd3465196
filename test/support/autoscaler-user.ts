import {
  CustomResourceDefinitions,
  defineKind,
  HorizontalPodAutoscalers,
  objectKey,
  Pods,
  ReplicaSets,
  type CustomResourceDefinition,
  type HorizontalPodAutoscaler,
  type Kind,
  type MetricSpec,
  type Pod,
  type UntypedObject,
} from '../../pkg/api/index.ts';
import { isAlreadyExists, type Client } from '../../pkg/client/index.ts';
import { eventually } from './eventually.ts';
import { WorkloadUser } from './workload-user.ts';

export const Fleets = defineKind<UntypedObject>({
  group: 'autoscaling.example.com',
  version: 'v1',
  kind: 'Fleet',
  resource: 'fleets',
  namespaced: true,
});

/** Like a Fleet, but of no namespace. */
export const GlobalFleets = defineKind<UntypedObject>({
  group: 'autoscaling.example.com',
  version: 'v1',
  kind: 'GlobalFleet',
  resource: 'globalfleets',
  namespaced: false,
});

export async function defineFleets(client: Client, signal: AbortSignal): Promise<void> {
  await Promise.all([Fleets, GlobalFleets].map((kind) => defineScalable(kind, client, signal)));
}

async function defineScalable(served: Kind<UntypedObject>, client: Client, signal: AbortSignal): Promise<void> {
  const { group, kind, resource: plural, namespaced } = served;
  const scale = {
    specReplicasPath: '.spec.replicas',
    statusReplicasPath: '.status.replicas',
    labelSelectorPath: '.status.selector',
  };
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  const version = { name: 'v1', served: true, storage: true, schema, subresources: { status: {}, scale } };
  const scope = namespaced ? 'Namespaced' : 'Cluster';
  const spec = { group, scope, names: { kind, plural }, versions: [version] };
  const definition = { metadata: { name: `${plural}.${group}` }, spec } as unknown as CustomResourceDefinition;
  await client.create(CustomResourceDefinitions, definition, signal);
  await eventually(() => client.list(served, {}, signal), signal);
}

export type AutoscalerSpec = Partial<HorizontalPodAutoscaler['spec']>;

const longAgo = '2026-01-01T00:00:00Z';

export interface PodFields {
  readonly labels?: Readonly<Record<string, string>>;
  readonly cpu?: string | undefined;
  readonly memory?: string | undefined;
  readonly status?: Partial<Pod['status']>;
}

/** Acts like a user of HorizontalPodAutoscalers. No other controller runs: pods are created by hand, and stay. */
export class AutoscalerUser extends WorkloadUser {
  /** Scales the ReplicaSet of its name, from 1 to 10 replicas. */
  autoscaler(
    name: string,
    metrics: readonly MetricSpec[],
    spec: AutoscalerSpec = {},
  ): Promise<HorizontalPodAutoscaler> {
    const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name };
    const metadata = { namespace: this.namespace, name };
    const full = { scaleTargetRef, minReplicas: 1, maxReplicas: 10, metrics: [...metrics], ...spec };
    return this.client.create(HorizontalPodAutoscalers, { metadata, spec: full }, this.signal);
  }

  /** A ReplicaSet that nobody runs, with a number of replicas in its status. */
  async target(name: string, replicas: number, statusReplicas = replicas): Promise<void> {
    await this.replicaSet(name, { replicas });
    await this.patchStatus(ReplicaSets, name, { replicas: statusReplicas });
  }

  /** A pod that requests 100m of CPU and 100Mi of memory, and has been ready for long. */
  async running(
    name: string,
    app: string,
    { labels, cpu = '100m', memory = '100Mi', status }: PodFields = {},
  ): Promise<void> {
    const metadata = { namespace: this.namespace, name, labels: { app, ...labels } };
    const containers = [{ name: 'app', image: 'example', resources: { requests: { cpu, memory } } }];
    await this.client.create(Pods, { metadata, spec: { containers } }, this.signal);
    const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime: longAgo }];
    await this.patchStatus(Pods, name, { phase: 'Running', startTime: longAgo, conditions, ...status });
  }

  /** Several such pods: `web-0`, `web-1` … */
  async runningPods(app: string, count: number, fields: PodFields = {}): Promise<void> {
    const names = Array.from({ length: count }, (_, index) => `${app}-${index}`);
    await Promise.all(names.map((name) => this.running(name, app, fields)));
  }

  async patchStatus(kind: Kind, name: string, status: object): Promise<void> {
    const type = kind.group.endsWith('.com') ? 'merge' : 'strategic';
    const patch = { type, subresource: 'status', body: { status } } as const;
    await this.client.patch(kind, objectKey(this.namespace, name), patch, this.signal);
  }

  /** A custom resource with a scale, whose selector is in its status. */
  async fleet(name: string, replicas: number, selector: string): Promise<void> {
    await this.client.create(
      Fleets,
      { metadata: { namespace: this.namespace, name }, spec: { replicas } },
      this.signal,
    );
    await this.patchStatus(Fleets, name, { replicas, selector });
  }

  /** Like a Fleet, but in no namespace: all users share it. */
  async globalFleet(name: string, replicas: number): Promise<void> {
    try {
      await this.client.create(GlobalFleets, { metadata: { name }, spec: { replicas } }, this.signal);
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
    }
  }

  untilAutoscaler(
    name: string,
    isWanted: (autoscaler: HorizontalPodAutoscaler) => boolean,
  ): Promise<HorizontalPodAutoscaler> {
    return this.until(HorizontalPodAutoscalers, name, isWanted);
  }
}

/** How much of a resource a pod uses, in PodMetrics. */
export interface Usage {
  readonly cpu?: string;
  readonly memory?: string;
}

const timestamp = '2036-01-01T00:00:00Z';

/** The list of metrics.k8s.io. */
export function podMetricsList(usages: Readonly<Record<string, Usage>>): unknown {
  const items = Object.entries(usages).map(([name, usage]) => ({
    metadata: { name },
    timestamp,
    window: '30s',
    containers: [{ name: 'app', usage }],
  }));
  return { kind: 'PodMetricsList', apiVersion: 'metrics.k8s.io/v1beta1', metadata: {}, items };
}

/** The list of custom.metrics.k8s.io. */
export function metricValueList(
  version: 'v1beta1' | 'v1beta2',
  kind: string,
  values: Readonly<Record<string, string>>,
): unknown {
  const items = Object.entries(values).map(([name, value]) => ({
    describedObject: { kind, name },
    ...(version === 'v1beta2' ? { metric: { name: 'hits' } } : { metricName: 'hits' }),
    timestamp,
    value,
  }));
  return { kind: 'MetricValueList', apiVersion: `custom.metrics.k8s.io/${version}`, metadata: {}, items };
}

/** The list of external.metrics.k8s.io. */
export function externalList(...values: readonly string[]): unknown {
  const items = values.map((value) => ({ metricName: 'queue', metricLabels: {}, timestamp, value }));
  return { kind: 'ExternalMetricValueList', apiVersion: 'external.metrics.k8s.io/v1beta1', metadata: {}, items };
}

/** Metrics of autoscalers. */
export const metricSpecs = {
  utilization: (averageUtilization: number, name = 'cpu'): MetricSpec => ({
    type: 'Resource',
    resource: { name, target: { type: 'Utilization', averageUtilization } },
  }),
  average: (averageValue: string, name = 'cpu'): MetricSpec => ({
    type: 'Resource',
    resource: { name, target: { type: 'AverageValue', averageValue } },
  }),
  container: (averageUtilization: number, container = 'app'): MetricSpec => ({
    type: 'ContainerResource',
    containerResource: { name: 'cpu', container, target: { type: 'Utilization', averageUtilization } },
  }),
  pods: (averageValue: string, name = 'hits'): MetricSpec => ({
    type: 'Pods',
    pods: { metric: { name }, target: { type: 'AverageValue', averageValue } },
  }),
  object: (target: { value: string } | { averageValue: string }, describedObject = ingress): MetricSpec => ({
    type: 'Object',
    object: { describedObject, metric: { name: 'hits' }, target: { type: typeOf(target), ...target } },
  }),
  external: (target: { value: string } | { averageValue: string }, selector?: Record<string, string>): MetricSpec => ({
    type: 'External',
    external: {
      metric: { name: 'queue', ...(selector && { selector: { matchLabels: selector } }) },
      target: { type: typeOf(target), ...target },
    },
  }),
};

const ingress = { apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', name: 'main' };

function typeOf(target: object): string {
  return 'value' in target ? 'Value' : 'AverageValue';
}
