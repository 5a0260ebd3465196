import { describe, expect, test } from 'vitest';

import { defineKind, type Kind, type LabelSelector, type MetricSpec } from '../../pkg/api/index.ts';
import { ApiError, type Discovery, type RawRequest } from '../../pkg/client/index.ts';
import { externalList, metricSpecs, metricValueList, podMetricsList } from '../../test/support/autoscaler-user.ts';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { evaluateMetric, type Evaluation } from './evaluate.ts';
import { MetricsReader } from './read-metrics.ts';
import { ServedKinds } from './served-kinds.ts';

const { signal } = new AbortController();
const scope = { namespace: 'shop', selector: 'app=web,tier in (a,b)' };
const ingresses = defineKind({
  group: 'networking.k8s.io',
  version: 'v1',
  kind: 'Ingress',
  resource: 'ingresses',
  namespaced: true,
});

function discoveryOf(...kinds: readonly Kind[]): { readonly discovery: Discovery; refreshes(): number } {
  let refreshes = 0;
  const served = {
    resources: kinds.map((kind) => ({ kind, verbs: new Set<string>() })),
    failures: new Map<string, string>(),
  };
  const discovery: Discovery = {
    preferred: async () => served,
    all: async () => served,
    kindFor: async () => undefined,
    refresh: async () => void (refreshes += 1),
  };
  return { discovery, refreshes: () => refreshes };
}

const customGroup = { name: 'custom.metrics.k8s.io', versions: [{ groupVersion: 'custom.metrics.k8s.io/v1beta1' }] };

/** Reads one metric. Returns what was asked, apart from the version, and the reading. */
async function read(spec: MetricSpec, answer: unknown, groups: readonly object[] = [customGroup]) {
  const asked: string[] = [];
  const client = {
    async request({ path }: RawRequest): Promise<unknown> {
      if (path === '/apis') return { groups };
      asked.push(decodeURIComponent(path.replaceAll('+', ' ')));
      if (answer instanceof Error) throw answer;
      return answer;
    },
  };
  const clock = new FakeClock();
  const kinds = new ServedKinds(discoveryOf(ingresses).discovery, clock);
  const reader = new MetricsReader({ client, kinds, clock, periodMs: 15_000 });
  const { reading } = await reader.read(spec, scope, signal);
  return { asked, reading };
}

const plain = (code: number, text: string): ApiError =>
  new ApiError('get', { code, message: text }, { plainText: text });
const { utilization, pods, object, external } = metricSpecs;

const evaluation: Evaluation = {
  namespace: 'shop',
  specReplicas: 1,
  statusReplicas: 1,
  pods: [],
  tolerances: { scaleUp: 0.1, scaleDown: 0.1 },
  readiness: { nowMs: 0, cpuInitializationMs: 0, initialReadinessDelayMs: 0 },
  podLevelResources: true,
};

function withSelector(spec: MetricSpec, selector: LabelSelector): MetricSpec {
  const selected = <T extends { metric: { name: string } }>(source: T): T => ({
    ...source,
    metric: { ...source.metric, selector },
  });
  return {
    ...spec,
    ...(spec.pods && { pods: selected(spec.pods) }),
    ...(spec.object && { object: selected(spec.object) }),
    ...(spec.external && { external: selected(spec.external) }),
  };
}

describe('a metric is read from', () => {
  const rows: [name: string, spec: MetricSpec, answer: unknown, path: string, kind: string][] = [
    [
      'the resource metrics API, for all pods of the selector',
      utilization(50),
      podMetricsList({ web: { cpu: '1' } }),
      '/apis/metrics.k8s.io/v1beta1/namespaces/shop/pods?labelSelector=app=web,tier in (a,b)',
      'pods',
    ],
    [
      'the custom metrics API, for all pods of the selector',
      pods('5'),
      metricValueList('v1beta1', 'Pod', { web: '1' }),
      '/apis/custom.metrics.k8s.io/v1beta1/namespaces/shop/pods/*/hits?labelSelector=app=web,tier in (a,b)',
      'pods',
    ],
    [
      'the custom metrics API, for one object',
      object({ value: '5' }),
      metricValueList('v1beta1', 'Ingress', { main: '1' }),
      '/apis/custom.metrics.k8s.io/v1beta1/namespaces/shop/ingresses.networking.k8s.io/main/hits',
      'object',
    ],
    [
      'the custom metrics API, for its own namespace, whatever name is given',
      object({ value: '5' }, { apiVersion: 'v1', kind: 'Namespace', name: 'kube-system' }),
      metricValueList('v1beta1', 'Namespace', { shop: '1' }),
      '/apis/custom.metrics.k8s.io/v1beta1/namespaces/shop/metrics/hits',
      'object',
    ],
    [
      'the external metrics API, by the selector of the metric',
      external({ value: '5' }, { queue: 'a' }),
      externalList('1'),
      '/apis/external.metrics.k8s.io/v1beta1/namespaces/shop/queue?labelSelector=queue=a',
      'external',
    ],
  ];
  test.each(rows)('%s', async (_name, spec, answer, path, kind) => {
    const { asked, reading } = await read(spec, answer);
    expect(asked).toEqual([path]);
    expect(reading.kind).toBe(kind);
  });
});

describe('a metric that cannot be read is reported as in Go:', () => {
  const unknown = { apiVersion: 'nowhere/v1', kind: 'Nothing', name: 'x' };
  const rows: [name: string, spec: MetricSpec, answer: unknown, message: string][] = [
    [
      'no resource metrics API',
      utilization(50),
      plain(404, '404 page not found'),
      'unable to fetch metrics from resource metrics API: ' +
        'the server could not find the requested resource (get pods.metrics.k8s.io)',
    ],
    [
      'an external metrics API that is down',
      external({ value: '5' }),
      plain(503, 'service unavailable'),
      'unable to fetch metrics from external metrics API: ' +
        'the server is currently unable to handle the request (get queue.external.metrics.k8s.io)',
    ],
    [
      'a custom metric that does not exist',
      object({ value: '5' }),
      new ApiError('get', { code: 404, message: 'the server could not find the metric hits' }),
      'unable to fetch metrics from custom metrics API: the server could not find the metric hits',
    ],
    [
      'an object of an unknown kind',
      object({ value: '5' }, unknown),
      {},
      'unable to fetch metrics from custom metrics API: unable to map kind Nothing.nowhere to resource: ' +
        'no matches for kind "Nothing" in group "nowhere"',
    ],
    [
      'two values for one object',
      object({ value: '5' }),
      metricValueList('v1beta2', 'Ingress', { a: '1', b: '1' }),
      'unable to fetch metrics from custom metrics API: ' +
        'the custom metrics API server returned 2 results when we asked for exactly one',
    ],
    ['an empty list', utilization(50), podMetricsList({}), 'no metrics returned from resource metrics API'],
  ];
  test.each(rows)('%s', async (_name, spec, answer, message) => {
    expect((await read(spec, answer)).reading).toEqual({ kind: 'failed', message });
  });

  test('no custom metrics API', async () => {
    const { asked, reading } = await read(pods('5'), {}, []);
    const why = 'no custom metrics API (custom.metrics.k8s.io) registered';
    expect(reading).toEqual({ kind: 'failed', message: `unable to fetch metrics from custom metrics API: ${why}` });
    expect(asked).toEqual([]);
  });
});

describe('an invalid selector is reported as in Go, and the metrics API is not asked:', () => {
  const label = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.'";
  const rows: [selector: LabelSelector, message: string][] = [
    [{ matchLabels: { queue: 'a,b!=c' } }, `values[0][queue]: Invalid value: "a,b!=c": ${label}`],
    [{ matchLabels: { 'a=b,c': 'd' } }, 'key: Invalid value: "a=b,c": name part must consist of'],
    [{ matchExpressions: [{ key: 'a', operator: 'Near' }] }, '"Near" is not a valid label selector operator'],
    [
      { matchExpressions: [{ key: 'a', operator: 'In' }] },
      "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty",
    ],
    [
      { matchExpressions: [{ key: 'a', operator: 'Exists', values: ['b'] }] },
      'values: Invalid value: ["b"]: values set must be empty for exists and does not exist',
    ],
    [
      { matchExpressions: [{ key: '', operator: 'NotIn', values: [] }] },
      '[key: Invalid value: "": name part must be non-empty; name part must consist of',
    ],
  ];
  const { object: described } = object({ value: '5' });
  const withoutTarget: MetricSpec = {
    type: 'Object',
    ...(described && { object: { ...described, target: { type: 'Value' } } }),
  };
  const sources: [type: string, spec: MetricSpec, error: string][] = [
    ['Pods', pods('5'), 'failed to get pods metric value'],
    ['Object', object({ value: '5' }), 'failed to get object metric value'],
    ['Object', object({ averageValue: '5' }), 'failed to get object metric value'],
    ['Object', withoutTarget, 'failed to get object metric value'],
    [
      'External',
      external({ value: '5' }),
      'failed to get queue external metric value: failed to get external metric queue',
    ],
    [
      'External',
      external({ averageValue: '5' }),
      'failed to get queue external metric value: failed to get queue external metric',
    ],
  ];
  for (const [selector, message] of rows) {
    test.each(sources)(`${message.slice(0, 60)} (%s)`, async (type, spec, error) => {
      const { asked, reading } = await read(withSelector(spec, selector), {});
      expect(asked).toEqual([]);
      const evaluated = evaluateMetric(spec, reading, evaluation);
      expect(evaluated).toMatchObject({ kind: 'invalid', reason: `FailedGet${type}Metric` });
      if (evaluated.kind !== 'invalid') return;
      expect(evaluated.message.startsWith(message)).toBe(true);
      expect(evaluated.error).toBe(`${error}: ${evaluated.message}`);
    });
  }
});

describe('while kinds cannot be discovered', () => {
  const readObject = async (failure: Error, caller: AbortSignal) => {
    const fails = async () => Promise.reject(failure);
    const discovery = { ...discoveryOf().discovery, preferred: fails };
    const client = { request: async () => ({ groups: [customGroup] }) };
    const clock = new FakeClock();
    const kinds = new ServedKinds(discovery, clock);
    const reader = new MetricsReader({ client, kinds, clock, periodMs: 15_000 });
    return reader.read(object({ value: '5' }), scope, caller);
  };

  test('a metric of an object cannot be read, with the reason', async () => {
    const { reading } = await readObject(new ApiError('get', { code: 500, message: 'etcd is gone' }), signal);
    const why = 'unable to map kind Ingress.networking.k8s.io to resource: etcd is gone';
    expect(reading).toEqual({ kind: 'failed', message: `unable to fetch metrics from custom metrics API: ${why}` });
  });

  test('an abort ends the sync', async () => {
    const deletion = new AbortController();
    const read = readObject(new Error('no answer'), deletion.signal);
    deletion.abort(new Error('deleted'));
    await expect(read).rejects.toThrow('deleted');
  });
});

test('kinds that are not served cost one discovery in half a minute', async () => {
  const clock = new FakeClock();
  const { discovery, refreshes } = discoveryOf(ingresses);
  const kinds = new ServedKinds(discovery, clock);
  for (let asked = 0; asked < 10; asked++) await kinds.find('nowhere', 'Nothing', signal);
  expect(refreshes()).toBe(1);
  await clock.advance(30_000);
  await kinds.find('nowhere', 'Nothing', signal);
  expect(refreshes()).toBe(2);
  expect(await kinds.find('networking.k8s.io', 'Ingress', signal)).toEqual([ingresses]);
  expect(refreshes()).toBe(2);
  kinds.suspect(); // it did not work
  await clock.advance(30_000);
  await kinds.find('networking.k8s.io', 'Ingress', signal);
  expect(refreshes()).toBe(3);
});
