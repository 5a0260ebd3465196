import {
  formatGoSelector,
  type Cached,
  type MetricSpec,
  type MetricStatus,
  type MetricTarget,
  type Pod,
} from '../../pkg/api/index.ts';
import { formatMilli, milliInt64 } from '../../pkg/quantities/index.ts';
import { MetricError, type MetricReading, type PodMetrics } from './metric-reading.ts';
import type { Readiness } from './pod-groups.ts';
import {
  replicasForAverage,
  replicasForExternalShare,
  replicasForRatio,
  replicasForShare,
  replicasForUtilization,
  sumExternal,
  type PodUsage,
  type Tolerances,
} from './replicas.ts';
import { requestsOf } from './requests.ts';

/** What all metrics of an autoscaler have in common. */
export interface Evaluation {
  readonly namespace: string;
  readonly specReplicas: number;
  readonly statusReplicas: number;
  readonly pods: readonly Cached<Pod>[];
  readonly tolerances: Tolerances;
  readonly readiness: Readiness;
  readonly podLevelResources: boolean;
}

export interface Proposal {
  readonly replicas: number;
  /** The metric, in events and conditions. */
  readonly name: string;
  readonly status: Cached<MetricStatus>;
}

export type Evaluated =
  | ({ readonly kind: 'valid' } & Proposal)
  | {
      readonly kind: 'invalid';
      /** Of the condition and the event. */
      readonly reason: string;
      readonly message: string;
      /** The message with what was attempted, for the event about all metrics. */
      readonly error: string;
      readonly isSpec: boolean;
    };

/** Computes the replicas that one metric asks for. */
export function evaluateMetric(spec: Cached<MetricSpec>, reading: MetricReading, common: Evaluation): Evaluated {
  const source = describeSource(spec);
  if (source === undefined) {
    const message = `unknown metric source type ${JSON.stringify(spec.type)}`;
    return { kind: 'invalid', reason: 'InvalidMetricSourceType', message, error: message, isSpec: true };
  }
  try {
    return { kind: 'valid', ...source.propose(reading, common) };
  } catch (error) {
    if (!(error instanceof MetricError)) throw error;
    const { message } = error;
    const inner = spec.type === 'Object' && reading.kind === 'invalid selector' ? undefined : source.inner;
    const attempted = `${source.attempted}: ${inner === undefined ? '' : `${inner}: `}`;
    return { kind: 'invalid', reason: source.reason, message, error: attempted + message, isSpec: false };
  }
}

interface Source {
  readonly reason: string;
  readonly attempted: string;
  /** Go says twice what was attempted, for some targets. */
  readonly inner?: string | undefined;
  propose(reading: MetricReading, common: Evaluation): Proposal;
}

function describeSource(spec: Cached<MetricSpec>): Source | undefined {
  const { resource, containerResource, pods, object, external } = spec;
  switch (spec.type) {
    case 'Resource':
      return resource && resourceSource(resource);
    case 'ContainerResource':
      return containerResource && containerSource(containerResource);
    case 'Pods':
      return pods && podsSource(pods);
    case 'Object':
      return object && objectSource(object);
    case 'External':
      return external && externalSource(external);
    default:
      return undefined;
  }
}

type Sources = { readonly [K in keyof Cached<MetricSpec>]-?: NonNullable<Cached<MetricSpec>[K]> };

function resourceSource({ name, target }: Sources['resource']): Source {
  return {
    reason: 'FailedGetResourceMetric',
    attempted: `failed to get ${name} resource metric value`,
    propose(reading, common) {
      const { current, ...proposal } = proposeResource({ name, target }, reading, common);
      return { ...proposal, status: { type: 'Resource', resource: { name, current } } };
    },
  };
}

function containerSource({ name, target, container }: Sources['containerResource']): Source {
  return {
    reason: 'FailedGetContainerResourceMetric',
    attempted: `failed to get ${container} container metric value`,
    propose(reading, common) {
      const { current, ...proposal } = proposeResource({ name, target, container }, reading, common);
      return { ...proposal, status: { type: 'ContainerResource', containerResource: { name, container, current } } };
    },
  };
}

interface ResourceTarget {
  readonly name: string;
  readonly target: Cached<MetricTarget>;
  readonly container?: string | undefined;
}

type Current = Cached<NonNullable<MetricStatus['resource']>['current']>;

function proposeResource(
  { name: resource, target, container }: ResourceTarget,
  reading: MetricReading,
  common: Evaluation,
): Pick<Proposal, 'replicas' | 'name'> & { readonly current: Current } {
  const format = resource === 'memory' ? 'binary' : 'decimal';
  if (target.averageValue !== undefined) {
    const usage = (): PodUsage => usageOf(reading, `unable to get metrics for resource ${resource}`, common);
    const { replicas, average } = explaining(`failed to get ${resource} usage`, () =>
      replicasForAverage(usage(), resource, milliOf(target.averageValue)),
    );
    return { replicas, name: `${resource} resource`, current: { averageValue: formatMilli(average, format) } };
  }
  const { averageUtilization } = target;
  if (averageUtilization === undefined) {
    const targets = 'neither an average utilization target nor an average value (usage) target was set';
    throw new MetricError(`invalid resource metric source: ${targets}`);
  }
  const { podLevelResources, pods } = common;
  const { replicas, utilization, average } = explaining(`failed to get ${resource} utilization`, () => {
    const usage = usageOf(reading, `unable to get metrics for resource ${resource}`, common);
    const requests = () => requestsOf(pods, { resource, container, podLevelResources });
    return replicasForUtilization(usage, resource, averageUtilization, requests);
  });
  const subject = container === undefined ? 'resource' : 'container resource';
  return {
    replicas,
    name: `${resource} ${subject} utilization (percentage of request)`,
    current: { averageUtilization: utilization, averageValue: formatMilli(average, format) },
  };
}

function podsSource({ metric, target }: Sources['pods']): Source {
  return {
    reason: 'FailedGetPodsMetric',
    attempted: 'failed to get pods metric value',
    propose(reading, common) {
      const usage = usageOf(reading, `unable to get metric ${metric.name}`, common);
      const { replicas, average } = replicasForAverage(usage, undefined, milliOf(target.averageValue));
      const current = { averageValue: formatMilli(average) };
      const status = { type: 'Pods', pods: { metric: identifierOf(metric), current } };
      return { replicas, name: `pods metric ${metric.name}`, status };
    },
  };
}

function objectSource({ describedObject, metric, target }: Sources['object']): Source {
  const isShared = target.type === 'AverageValue' && target.averageValue !== undefined;
  return {
    reason: 'FailedGetObjectMetric',
    attempted: 'failed to get object metric value',
    inner: isShared ? `failed to get ${metric.name} object metric` : undefined,
    propose(reading, common) {
      if (reading.kind === 'invalid selector') throw new MetricError(reading.message); // before the target is looked at
      const { namespace, specReplicas, statusReplicas, tolerances, pods } = common;
      const isSingle = target.type === 'Value' && target.value !== undefined;
      if (!isSingle && !isShared) {
        const targets = 'neither a value target nor an average value target was set';
        throw new MetricError(`invalid object metric source: ${targets}`);
      }
      const { kind, name } = describedObject;
      // The words are in the order of Go, which puts the error at the end and the kind in its place.
      const usage = valueOf(
        reading,
        (error) => `unable to get metric ${metric.name}: ${kind} on ${namespace} ${name}/${error}`,
      );
      const described = { describedObject: { ...describedObject }, metric: identifierOf(metric) };
      if (isSingle) {
        const ratio = Number(usage) / Number(milliOf(target.value));
        const replicas = replicasForRatio(specReplicas, ratio, tolerances, pods);
        const status = { type: 'Object', object: { ...described, current: { value: formatMilli(usage) } } };
        return { replicas, name: `${kind} metric ${metric.name}`, status };
      }
      const shared = { usage, target: milliOf(target.averageValue), statusReplicas, tolerances };
      const { replicas, average } = replicasForShare(shared);
      const status = { type: 'Object', object: { ...described, current: { averageValue: formatMilli(average) } } };
      return { replicas, name: externalName(metric), status };
    },
  };
}

function externalSource({ metric, target }: Sources['external']): Source {
  const isShared = target.averageValue !== undefined;
  const isSingle = !isShared && target.value !== undefined;
  const inner = isSingle ? `failed to get external metric ${metric.name}` : undefined;
  return {
    reason: 'FailedGetExternalMetric',
    attempted: `failed to get ${metric.name} external metric value`,
    inner: isShared ? `failed to get ${metric.name} external metric` : inner,
    propose(reading, common) {
      if (!isShared && !isSingle) {
        const targets = 'neither a value target nor an average value target was set';
        throw new MetricError(`invalid external metric source: ${targets}`);
      }
      const { namespace, specReplicas, statusReplicas, tolerances, pods } = common;
      const values = valuesOf(
        reading,
        `unable to get external metric ${namespace}/${metric.name}/${formatGoSelector(metric.selector)}`,
      );
      const identifier = identifierOf(metric);
      if (isShared) {
        const usage = sumExternal(values, 'average');
        const shared = { usage, target: milliOf(target.averageValue), statusReplicas, tolerances };
        const { replicas, average } = replicasForExternalShare(shared);
        const external = { metric: identifier, current: { averageValue: formatMilli(average) } };
        return { replicas, name: externalName(metric), status: { type: 'External', external } };
      }
      const usage = sumExternal(values, 'value');
      const ratio = Number(usage) / Number(milliOf(target.value));
      const replicas = replicasForRatio(specReplicas, ratio, tolerances, pods);
      const external = { metric: identifier, current: { value: formatMilli(usage) } };
      return { replicas, name: externalName(metric), status: { type: 'External', external } };
    },
  };
}

type Identifier = Sources['pods']['metric'];

/** Other fields of a metric are not part of its status. */
function identifierOf({ name, selector }: Identifier): Identifier {
  return selector === undefined ? { name } : { name, selector };
}

const externalName = ({ name, selector }: Identifier): string =>
  `external metric ${name}(${formatGoSelector(selector)})`;

/** The API server refuses a target that is not a quantity. */
function milliOf(target: string | undefined): bigint {
  return milliInt64(target ?? '') ?? 0n;
}

function usageOf(reading: MetricReading, attempted: string, common: Evaluation): PodUsage {
  const { specReplicas: currentReplicas, tolerances, pods, readiness } = common;
  return { currentReplicas, tolerances, pods, readiness, metrics: podMetricsOf(reading, attempted) };
}

function podMetricsOf(reading: MetricReading, attempted: string): PodMetrics {
  if (reading.kind === 'pods') return reading.metrics;
  if (reading.kind === 'invalid selector') throw new MetricError(reading.message);
  throw new MetricError(`${attempted}: ${messageOf(reading)}`);
}

function valueOf(reading: MetricReading, explain: (error: string) => string): bigint {
  if (reading.kind === 'object') return reading.value;
  throw new MetricError(explain(messageOf(reading)));
}

function valuesOf(reading: MetricReading, attempted: string): readonly bigint[] {
  if (reading.kind === 'external') return reading.values;
  if (reading.kind === 'invalid selector') throw new MetricError(reading.message);
  throw new MetricError(`${attempted}: ${messageOf(reading)}`);
}

function messageOf(reading: MetricReading): string {
  return reading.kind === 'failed' ? reading.message : `a reading of ${reading.kind} does not fit the metric`;
}

function explaining<T>(attempted: string, compute: () => T): T {
  try {
    return compute();
  } catch (error) {
    if (!(error instanceof MetricError)) throw error;
    throw new MetricError(`${attempted}: ${error.message}`, { cause: error });
  }
}
