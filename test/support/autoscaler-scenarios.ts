import { Jobs, type MetricSpec } from '../../pkg/api/index.ts';
import {
  externalList,
  metricSpecs,
  metricValueList,
  podMetricsList,
  type AutoscalerSpec,
  type AutoscalerUser,
  type Usage,
} from './autoscaler-user.ts';
import type { MetricsAnswer, MetricsQuestion } from './metrics-apis.ts';

/** An autoscaler, its target, and what its metrics are, sync by sync. The last answer is repeated. */
export interface AutoscalerScenario {
  readonly metrics?: readonly MetricSpec[];
  readonly spec?: AutoscalerSpec;
  /** Default: a ReplicaSet of this many replicas, with as many running pods. */
  readonly replicas?: number;
  /** Replaces the default target. */
  readonly prepare?: (user: AutoscalerUser, name: string) => Promise<void>;
  /** By the API that is asked. */
  readonly series?: Readonly<Partial<Record<'metrics' | 'custom' | 'external', readonly MetricsAnswer[]>>>;
}

const { utilization, average, container, pods, object, external } = metricSpecs;
const body = (value: unknown): MetricsAnswer => ({ body: value });

/** The same usage of all pods of an application. */
function usage(app: string, count: number, each: Usage): MetricsAnswer {
  return body(
    podMetricsList(Object.fromEntries(Array.from({ length: count }, (_, index) => [`${app}-${index}`, each]))),
  );
}
const cpu = (app: string, count: number, ...values: readonly string[]): readonly MetricsAnswer[] =>
  values.map((value) => usage(app, count, { cpu: value }));
const hits = (app: string, count: number, ...values: readonly string[]): readonly MetricsAnswer[] =>
  values.map((value) => {
    const names = Array.from({ length: count }, (_, index) => [`${app}-${index}`, value]);
    return body(metricValueList('v1beta2', 'Pod', Object.fromEntries(names)));
  });
const queue = (...values: readonly (readonly string[])[]): readonly MetricsAnswer[] =>
  values.map((each) => body(externalList(...each)));
const value = (...values: readonly string[]): readonly MetricsAnswer[] =>
  values.map((each) => body(metricValueList('v1beta1', 'Ingress', { main: each })));

/** Two metrics of an autoscaler read the same list. */
const twice = (answer: MetricsAnswer): readonly MetricsAnswer[] => [answer, answer];

const now = { scaleDown: { stabilizationWindowSeconds: 0 } };
const rules = (policies: readonly (readonly [type: string, value: number])[], selectPolicy = 'Max') => ({
  selectPolicy,
  stabilizationWindowSeconds: 0,
  policies: policies.map(([type, amount]) => ({ type, value: amount, periodSeconds: 1800 })),
});
const unready = (time: string) => ({ conditions: [{ type: 'Ready', status: 'False', lastTransitionTime: time }] });
const justNow = '2035-01-01T00:00:00Z';

/** By the name of the autoscaler and its target. */
export const autoscalerScenarios: Readonly<Record<string, AutoscalerScenario>> = {
  rising: {
    replicas: 2,
    metrics: [utilization(50)],
    series: { metrics: cpu('rising', 2, '50m', '54m', '80m', '120m', '201m', '900m') },
  },
  falling: {
    replicas: 8,
    metrics: [utilization(50)],
    spec: { behavior: now },
    series: { metrics: cpu('falling', 8, '50m', '46m', '40m', '20m', '1m', '0') },
  },
  stabilized: {
    replicas: 6,
    metrics: [utilization(50)],
    series: { metrics: cpu('stabilized', 6, '50m', '20m', '60m', '10m') },
  },
  flapping: {
    replicas: 4,
    metrics: [average('100m')],
    spec: { behavior: now },
    series: { metrics: cpu('flapping', 4, '150m', '60m', '150m', '60m', '111m', '89m') },
  },
  'flapping-stabilized': {
    replicas: 4,
    metrics: [average('100m')],
    spec: { behavior: { scaleUp: { stabilizationWindowSeconds: 3600 } } },
    series: { metrics: cpu('flapping-stabilized', 4, '150m', '60m', '180m', '60m') },
  },
  missing: {
    replicas: 4,
    metrics: [utilization(50)],
    spec: { behavior: now },
    series: {
      metrics: [
        ...cpu('missing', 3, '100m', '20m'),
        ...cpu('missing', 1, '300m', '2m'),
        body(podMetricsList({})),
        usage('missing', 4, { memory: '1Mi' }),
        body(podMetricsList({ elsewhere: { cpu: '1' } })),
      ],
    },
  },
  'not-served': {
    replicas: 2,
    metrics: [external({ value: '10' })],
    series: {
      external: [
        { status: 404, text: '404 page not found' },
        { status: 503, text: 'service unavailable' },
      ],
    },
  },
  memory: {
    replicas: 2,
    metrics: [average('100Mi', 'memory'), utilization(80, 'memory')],
    series: {
      metrics: [
        ...twice(usage('memory', 2, { memory: '150Mi' })),
        ...twice(usage('memory', 2, { memory: '157286401' })),
        ...twice(usage('memory', 2, { memory: '1000' })),
      ],
    },
  },
  'exact-quantities': {
    replicas: 3,
    metrics: [average('9007199254740993')],
    series: { metrics: cpu('exact-quantities', 3, '9007199254740993', '1e16', '9300T', '-1', '0.0001') },
  },
  pending: {
    metrics: [utilization(50)],
    async prepare(user, name) {
      await user.target(name, 4);
      await user.runningPods(name, 2);
      await user.running(`${name}-2`, name, { status: { phase: 'Pending', conditions: [] } });
      await user.running(`${name}-3`, name, { status: { phase: 'Failed' } });
    },
    series: { metrics: cpu('pending', 4, '100m', '60m', '10m') },
  },
  starting: {
    metrics: [utilization(50)],
    async prepare(user, name) {
      await user.target(name, 4);
      await user.runningPods(name, 1);
      await user.running(`${name}-1`, name, { status: { startTime: justNow, ...unready(justNow) } });
      await user.running(`${name}-2`, name, { status: unready('2026-01-01T00:00:05Z') });
      await user.running(`${name}-3`, name, { status: unready('2026-01-01T01:00:00Z') });
    },
    series: { metrics: cpu('starting', 4, '200m', '10m') },
  },
  'no-request': {
    metrics: [utilization(50)],
    async prepare(user, name) {
      await user.target(name, 1);
      await user.pod(`${name}-0`, { app: name });
      const status = { phase: 'Running', startTime: '2026-01-01T00:00:00Z' };
      const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' }];
      await user.patchStatus({ ...podKind }, `${name}-0`, { ...status, conditions });
    },
    series: { metrics: cpu('no-request', 1, '100m') },
  },
  container: {
    replicas: 2,
    metrics: [container(50)],
    series: { metrics: cpu('container', 2, '75m', '130m') },
  },
  'no-container': {
    replicas: 2,
    metrics: [container(50, 'sidecar')],
    series: { metrics: cpu('no-container', 2, '75m') },
  },
  'no-pods': {
    metrics: [average('10m'), pods('10')],
    prepare: (user, name) => user.target(name, 2),
    series: { metrics: cpu('no-pods', 2, '75m'), custom: hits('no-pods', 2, '75') },
  },
  custom: {
    replicas: 3,
    metrics: [pods('10')],
    spec: { behavior: now },
    series: { custom: hits('custom', 3, '10', '13', '20500m', '100m', '11', '9') },
  },
  'object-value': {
    replicas: 3,
    metrics: [object({ value: '100' })],
    series: { custom: value('100', '150', '1500m', '1E', '20') },
  },
  'object-average': {
    metrics: [object({ averageValue: '100' })],
    prepare: async (user, name) => {
      await user.target(name, 3, 4);
      await user.runningPods(name, 3);
    },
    series: { custom: [...value('400', '430', '999', '0'), body(metricValueList('v1beta2', 'Ingress', {}))] },
  },
  'object-namespace': {
    replicas: 2,
    metrics: [object({ value: '10' }, { apiVersion: 'v1', kind: 'Namespace', name: 'ignored' })],
    series: { custom: value('15', '30') },
  },
  'object-unknown': {
    replicas: 2,
    metrics: [object({ value: '10' }, { apiVersion: 'nowhere.example/v1', kind: 'Nothing', name: 'x' })],
  },
  'external-value': {
    replicas: 3,
    metrics: [external({ value: '100' }, { queue: 'a' })],
    series: { external: queue(['100'], ['50', '120'], ['9223372036854775', '9223372036854775'], []) },
  },
  'external-average': {
    metrics: [external({ averageValue: '100' })],
    spec: { behavior: now },
    prepare: async (user, name) => {
      await user.target(name, 3, 4);
      await user.runningPods(name, 3);
    },
    series: { external: queue(['400'], ['700'], ['9223372036854775', '1'], ['-1'], ['10']) },
  },
  'external-without-status': {
    metrics: [external({ averageValue: '100' })],
    prepare: async (user, name) => {
      await user.target(name, 3, 0);
      await user.runningPods(name, 3);
    },
    series: { external: queue(['400'], ['0']) },
  },
  'policy-pods': {
    replicas: 2,
    metrics: [average('10m')],
    spec: { behavior: { scaleUp: rules([['Pods', 2]]), scaleDown: rules([['Pods', 1]]) } },
    series: { metrics: cpu('policy-pods', 2, '100m', '100m', '100m', '1m', '1m', '1m') },
  },
  'policy-min': {
    replicas: 3,
    metrics: [average('10m')],
    spec: {
      maxReplicas: 40,
      behavior: {
        scaleUp: rules(
          [
            ['Pods', 5],
            ['Percent', 10],
          ],
          'Min',
        ),
        scaleDown: rules(
          [
            ['Pods', 1],
            ['Percent', 50],
          ],
          'Min',
        ),
      },
    },
    series: { metrics: cpu('policy-min', 3, '100m', '100m', '1m', '1m') },
  },
  'policy-max': {
    replicas: 3,
    metrics: [average('10m')],
    spec: {
      maxReplicas: 40,
      behavior: {
        scaleUp: rules([
          ['Pods', 5],
          ['Percent', 10],
        ]),
        scaleDown: rules([
          ['Pods', 1],
          ['Percent', 50],
        ]),
      },
    },
    series: { metrics: cpu('policy-max', 3, '100m', '100m', '1m', '1m') },
  },
  'policy-extreme': {
    replicas: 3,
    metrics: [average('10m')],
    spec: { behavior: { scaleUp: rules([['Pods', 2147483647]]), scaleDown: rules([['Percent', 2147483647]]) } },
    series: { metrics: cpu('policy-extreme', 3, '100m', '1m') },
  },
  'policy-disabled': {
    replicas: 3,
    metrics: [average('10m')],
    spec: { behavior: { scaleUp: rules([['Pods', 1]], 'Disabled'), scaleDown: rules([['Pods', 1]], 'Disabled') } },
    series: { metrics: cpu('policy-disabled', 3, '100m', '1m') },
  },
  tolerance: {
    replicas: 10,
    metrics: [average('100m')],
    spec: {
      maxReplicas: 20,
      behavior: { scaleUp: { tolerance: '300m' }, scaleDown: { tolerance: '0', stabilizationWindowSeconds: 0 } },
    },
    series: { metrics: cpu('tolerance', 10, '125m', '130m', '131m', '100m', '99m') },
  },
  'one-invalid-up': {
    replicas: 2,
    metrics: [average('10m'), external({ value: '1' })],
    series: { metrics: cpu('one-invalid-up', 2, '20m'), external: queue([]) },
  },
  'one-invalid-down': {
    replicas: 2,
    metrics: [average('10m'), external({ value: '1' })],
    series: { metrics: cpu('one-invalid-down', 2, '1m'), external: queue([]) },
  },
  'invalid-selector': {
    replicas: 2,
    metrics: [average('10m'), external({ value: '1' }, { queue: 'a,b!=c' })],
    series: { metrics: cpu('invalid-selector', 2, '20m') },
  },
  'largest-counts': {
    replicas: 2,
    metrics: [average('10m'), pods('10'), external({ value: '10' })],
    series: {
      metrics: cpu('largest-counts', 2, '15m'),
      custom: hits('largest-counts', 2, '20'),
      external: queue(['12']),
    },
  },
  'above-maximum': {
    replicas: 6,
    metrics: [average('10m')],
    spec: { maxReplicas: 5 },
    series: { metrics: cpu('above-maximum', 6, '10m') },
  },
  'below-minimum': {
    replicas: 1,
    metrics: [average('10m')],
    spec: { minReplicas: 3 },
    series: { metrics: cpu('below-minimum', 1, '10m') },
  },
  'too-many': {
    replicas: 3,
    metrics: [average('10m')],
    spec: { maxReplicas: 4 },
    series: { metrics: cpu('too-many', 3, '50m') },
  },
  zero: { replicas: 0, metrics: [average('10m')] },
  'to-zero': {
    replicas: 2,
    metrics: [external({ value: '10' })],
    spec: { minReplicas: 0, behavior: now },
    series: { external: queue(['10'], ['0'], ['0'], ['35']) },
  },
  'unknown-kind': { spec: { scaleTargetRef: { apiVersion: 'nowhere.example/v1', kind: 'Nothing', name: 'x' } } },
  'absent-target': { prepare: async () => {} },
  'without-scale': {
    async prepare(user, name) {
      const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'app', image: 'example' }] } };
      await user.client.create(
        Jobs,
        { metadata: { namespace: user.namespace, name }, spec: { suspend: true, template } },
        user.signal,
      );
    },
    spec: { scaleTargetRef: { apiVersion: 'batch/v1', kind: 'Job', name: 'without-scale' } },
  },
  'old-version': {
    replicas: 2,
    metrics: [average('10m')],
    spec: { scaleTargetRef: { apiVersion: 'apps/v1beta1', kind: 'ReplicaSet', name: 'old-version' } },
    series: { metrics: cpu('old-version', 2, '20m') },
  },
  'replication-controller': {
    metrics: [average('10m')],
    spec: { scaleTargetRef: { apiVersion: 'v1', kind: 'ReplicationController', name: 'replication-controller' } },
    async prepare(user, name) {
      await user.replicationController(name, { replicas: 2 });
      await user.runningPods(name, 2);
    },
    series: { metrics: cpu('replication-controller', 2, '20m') },
  },
  'custom-resource': {
    metrics: [average('10m')],
    spec: { scaleTargetRef: { apiVersion: 'autoscaling.example.com/v1', kind: 'Fleet', name: 'custom-resource' } },
    async prepare(user, name) {
      await user.fleet(name, 2, `app=${name}`);
      await user.runningPods(name, 2);
    },
    series: { metrics: cpu('custom-resource', 2, '20m') },
  },
  'cluster-scoped': {
    spec: {
      scaleTargetRef: { apiVersion: 'autoscaling.example.com/v1', kind: 'GlobalFleet', name: 'cluster-scoped' },
      minReplicas: 3,
    },
    prepare: (user, name) => user.globalFleet(name, 2),
  },
  'no-selector': {
    spec: { scaleTargetRef: { apiVersion: 'autoscaling.example.com/v1', kind: 'Fleet', name: 'no-selector' } },
    prepare: (user, name) => user.fleet(name, 2, ''),
  },
  'wrong-selector': {
    spec: { scaleTargetRef: { apiVersion: 'autoscaling.example.com/v1', kind: 'Fleet', name: 'wrong-selector' } },
    prepare: (user, name) => user.fleet(name, 2, 'a b'),
  },
  'unsupported-selector': {
    spec: { scaleTargetRef: { apiVersion: 'autoscaling.example.com/v1', kind: 'Fleet', name: 'unsupported-selector' } },
    prepare: (user, name) => user.fleet(name, 2, 'a!=b'),
  },
  'shared-a': {
    metrics: [average('10m')],
    async prepare(user, name) {
      await user.target(name, 2);
      await user.runningPods('shared', 1, { labels: { app: name, tier: 'web' } });
    },
    series: { metrics: cpu('shared', 1, '10m') },
  },
  'shared-b': {
    spec: { scaleTargetRef: { apiVersion: 'autoscaling.example.com/v1', kind: 'Fleet', name: 'shared-b' } },
    prepare: (user, name) => user.fleet(name, 2, 'tier in (web)'),
  },
};

const podKind = { group: '', version: 'v1', kind: 'Pod', resource: 'pods', namespaced: true };

/** Answers for all scenarios of one namespace, and tells when every series has been read to its end. */
export class MetricSeries {
  readonly #reads = new Map<string, number>();

  readonly answer = (question: MetricsQuestion): MetricsAnswer => {
    const [api = '', , ...rest] = question.path.split('/');
    const type = api === 'metrics.k8s.io' ? 'metrics' : (api.split('.')[0] as 'custom' | 'external');
    const name = nameIn(rest, question.query);
    const series = autoscalerScenarios[name]?.series?.[type];
    const read = this.#reads.get(`${name} ${type}`) ?? 0;
    this.#reads.set(`${name} ${type}`, read + 1);
    return series?.[Math.min(read, series.length - 1)] ?? { status: 404, text: '404 page not found' };
  };

  /** The series that have not yet been read twice beyond their end. */
  unfinished(): string[] {
    return Object.entries(autoscalerScenarios).flatMap(([name, { series = {} }]) =>
      Object.entries(series)
        .filter(([type, answers]) => !isRefused(name) && (this.#reads.get(`${name} ${type}`) ?? 0) < answers.length + 2)
        .map(([type]) => `${name} ${type}`),
    );
  }
}

/** Metrics of an autoscaler whose pods another one controls too are not read. */
const isRefused = (name: string): boolean => name.startsWith('shared');

function nameIn(rest: readonly string[], query: URLSearchParams): string {
  const [, app] = /app=([a-z-]+)/.exec(query.get('labelSelector') ?? '') ?? [];
  if (app !== undefined) return app;
  return rest.at(-1)?.replace(/^(queue|hits)-/, '') ?? '';
}

/** The metrics of a scenario, with its name in theirs, so that questions about them can be told apart. */
function namedMetrics(name: string, { metrics = [] }: AutoscalerScenario): MetricSpec[] {
  return structuredClone(metrics).map((spec) => {
    for (const source of [spec.external, spec.object, spec.pods]) {
      if (source !== undefined) source.metric.name += `-${name}`;
    }
    return spec;
  });
}

export async function prepareTargets(user: AutoscalerUser): Promise<void> {
  await Promise.all(
    Object.entries(autoscalerScenarios).map(async ([name, { prepare, replicas = 1 }]) => {
      if (prepare !== undefined) return prepare(user, name);
      await user.target(name, replicas);
      await user.runningPods(name, replicas);
    }),
  );
}

export async function createAutoscalers(user: AutoscalerUser): Promise<void> {
  await Promise.all(
    Object.entries(autoscalerScenarios).map(([name, scenario]) =>
      user.autoscaler(name, namedMetrics(name, scenario), scenario.spec),
    ),
  );
}
