import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import {
  CoreEvents,
  findCondition,
  HorizontalPodAutoscalers,
  objectKey,
  ReplicaSets,
  type HorizontalPodAutoscaler,
} from '../../pkg/api/index.ts';
import { ClientBuilder, loadKubeconfig, type Client } from '../../pkg/client/index.ts';
import { systemClock } from '../../pkg/time/index.ts';
import {
  autoscalerScenarios,
  createAutoscalers,
  MetricSeries,
  prepareTargets,
} from '../support/autoscaler-scenarios.ts';
import { AutoscalerUser, defineFleets, metricSpecs, podMetricsList } from '../support/autoscaler-user.ts';
import { eventually } from '../support/eventually.ts';
import { followObjects } from '../support/follow-objects.ts';
import { startManager, type Manager } from '../support/manager.ts';
import { startMetricsApis, type MetricsApis } from '../support/metrics-apis.ts';
import { startEither, type ManagerName } from '../support/side-by-side.ts';
import { createNamespace, useCluster } from './use-cluster.ts';

const gates = { HPAScaleToZero: true };
const cluster = useCluster({ featureGates: gates });
const stop = new AbortController();
let clients: ClientBuilder;
let client: Client;
let apis: MetricsApis;

const flags = [
  '--horizontal-pod-autoscaler-sync-period=800ms',
  '--concurrent-horizontal-pod-autoscaler-syncs=20',
  '--feature-gates=HPAScaleToZero=true',
  '--kube-api-qps=500',
  '--kube-api-burst=500',
];
const controllers = ['horizontal-pod-autoscaler-controller'];

interface Trace {
  /** By autoscaler, each status that differs from the one before. */
  readonly statuses: ReadonlyMap<string, readonly string[]>;
  readonly replicas: ReadonlyMap<string, number | undefined>;
  readonly events: ReadonlyMap<string, readonly string[]>;
}

beforeAll(async () => {
  const connection = await loadKubeconfig({ path: cluster().kubeconfig() }, systemClock);
  clients = new ClientBuilder({ connection, clock: systemClock, userAgent: 'suite' });
  client = clients.clientFor('suite');
  await defineFleets(client, stop.signal);
  apis = await startMetricsApis(cluster(), client, {}, stop.signal);
});
afterAll(async () => {
  await apis[Symbol.asyncDispose]();
  stop.abort();
  clients.close();
});

async function traceWith(manager: ManagerName): Promise<Trace> {
  const namespace = await createNamespace(cluster(), manager);
  const user = new AutoscalerUser(client, namespace, stop.signal);
  const series = new MetricSeries();
  apis.answer(namespace, series.answer);
  await prepareTargets(user);
  const stopManager = await startEither(manager, cluster(), { controllers, flags });
  const statuses = new Map<string, string[]>(Object.keys(autoscalerScenarios).map((name) => [name, []]));
  const sightings = await followObjects(client, HorizontalPodAutoscalers, { namespace }, (autoscalers) => {
    for (const autoscaler of autoscalers)
      note(statuses.get(autoscaler.metadata.name) ?? [], shown(autoscaler, namespace));
  });
  try {
    await createAutoscalers(user);
    await eventually(async () => series.unfinished().length === 0, stop.signal);
    await eventually(() => areRefused(namespace), stop.signal);
    const events = await eventually(async () => {
      const recorded = await eventsIn(namespace);
      return hasAll(recorded, statuses) && recorded;
    }, stop.signal);
    const sets = await client.listAll(ReplicaSets, { namespace }, stop.signal);
    const replicas = new Map(sets.items.map(({ metadata, spec }) => [metadata.name, spec.replicas]));
    return { statuses, replicas, events };
  } finally {
    await stopManager();
    await sightings.end();
    await client.deleteCollection(HorizontalPodAutoscalers, { namespace }, stop.signal);
  }
}

/** Which autoscaler is refused first depends on which one syncs first. */
async function areRefused(namespace: string): Promise<boolean> {
  const { items } = await client.listAll(HorizontalPodAutoscalers, { namespace }, stop.signal);
  const shared = items.filter(({ metadata }) => metadata.name.startsWith('shared'));
  return shared.every(
    ({ status }) => findCondition(status?.conditions ?? [], 'ScalingActive')?.reason === 'AmbiguousSelector',
  );
}

function note(seen: string[], status: string): void {
  if (seen.at(-1) !== status) seen.push(status);
}

function shown({ status }: HorizontalPodAutoscaler, namespace: string): string {
  const { currentReplicas, desiredReplicas, currentMetrics, conditions } = status ?? {};
  const reasons = (conditions ?? []).map(({ type, status: value, reason, message }) => ({
    type,
    value,
    reason,
    message,
  }));
  const text = JSON.stringify({ currentReplicas, desiredReplicas, currentMetrics, reasons }, undefined, 1);
  return withoutOrder(text.replaceAll(namespace, 'namespace'));
}

/** Go lists autoscalers in random order. */
function withoutOrder(text: string): string {
  return text.replaceAll(/HPAs: \[([^\]]*)\]/g, (_, keys: string) => `HPAs: [${keys.split(' ').sort().join(' ')}]`);
}

async function eventsIn(namespace: string): Promise<ReadonlyMap<string, readonly string[]>> {
  const { items } = await client.listAll(CoreEvents, { namespace }, stop.signal);
  const events = new Map<string, string[]>();
  for (const { involvedObject, type, reason, message = '', source } of items) {
    const text = `${involvedObject.kind} ${source?.component} ${type} ${reason}: ${message}`;
    const { name = '' } = involvedObject;
    events.set(name, [...(events.get(name) ?? []), withoutOrder(text.replaceAll(namespace, 'namespace'))]);
  }
  for (const [name, all] of events) events.set(name, [...new Set(all)].sort());
  return events;
}

/** Events are sent one after the other, some time later. Each change of the scale has one, and so has each failure. */
function hasAll(events: Trace['events'], statuses: Trace['statuses']): boolean {
  return [...statuses].every(([name, seen]) => {
    const all = (events.get(name) ?? []).join('\n');
    const sizes = seen.flatMap((status) => [...status.matchAll(/update the target scale to (\d+)/g)]);
    const failures = seen.flatMap((status) => [...status.matchAll(/"reason": "(Failed\w+)"/g)]);
    return (
      sizes.every(([, size]) => all.includes(`New size: ${size};`)) &&
      failures.every(([, reason]) => all.includes(` ${reason}: `))
    );
  });
}

const isShared = (name: string): boolean => name.startsWith('shared');

/** The rest of the status depends on whether an autoscaler was refused at its first sync. */
function lastRefusal(statuses: readonly string[]): unknown {
  const { reasons } = JSON.parse(statuses.at(-1) ?? '') as { reasons: { type: string }[] };
  return reasons.find(({ type }) => type === 'ScalingActive');
}

describe('with recorded series of metrics, sync by sync as in Go', () => {
  let ours: Trace;
  let go: Trace;
  beforeAll(async () => {
    ours = await traceWith('ours');
    go = await traceWith('go');
  });

  for (const name of Object.keys(autoscalerScenarios)) {
    test(name, () => {
      const statusesOf = ({ statuses }: Trace): unknown =>
        isShared(name) ? lastRefusal(statuses.get(name) ?? []) : statuses.get(name);
      expect(statusesOf(ours)).toEqual(statusesOf(go));
      expect(statusesOf(ours)).not.toEqual([]);
      expect(ours.replicas.get(name)).toBe(go.replicas.get(name));
      const relevant = ({ events }: Trace) =>
        (events.get(name) ?? []).filter((event) => !isShared(name) || event.includes('Ambiguous'));
      expect(relevant(ours)).toEqual(relevant(go));
    });
  }
});

describe('our controller', () => {
  let manager: Manager;
  beforeAll(async () => {
    manager = await startManager(cluster(), [
      `--controllers=${controllers.join()}`,
      '--leader-elect=false',
      '--use-service-account-credentials=true',
      '--horizontal-pod-autoscaler-sync-period=200ms',
    ]);
  });
  afterAll(() => manager.stop());

  const cpu = metricSpecs.average('10m');
  const valueOf = (name: string, value: string) => ({ body: podMetricsList({ [`${name}-0`]: { cpu: value } }) });
  const bounds = { maxReplicas: 4 };
  const isScaled = ({ status }: HorizontalPodAutoscaler): boolean => status?.desiredReplicas === 4;

  async function useTarget(signal: AbortSignal, ...names: readonly string[]): Promise<AutoscalerUser> {
    const user = new AutoscalerUser(client, await createNamespace(cluster()), signal);
    for (const name of names) {
      await user.target(name, 1);
      await user.runningPods(name, 1);
    }
    return user;
  }

  test('a metrics API that does not answer delays no other autoscaler', async ({ signal }) => {
    const slow = Array.from(
      { length: 30 },
      (_, index) => `slow-${String.fromCodePoint(97 + (index % 26))}${index < 26 ? '' : 'x'}`,
    );
    const user = await useTarget(signal, 'quick');
    await Promise.all(slow.map((name) => user.target(name, 1)));
    apis.answer(user.namespace, ({ path }) =>
      path.startsWith('external') ? { hangs: true } : valueOf('quick', '90m'),
    );
    const asked = (): number =>
      apis.questions.filter(({ path, namespace }) => path.startsWith('external') && namespace === user.namespace)
        .length;
    await Promise.all(slow.map((name) => user.autoscaler(name, [metricSpecs.external({ value: '1' })])));
    await eventually(async () => asked() >= 8, signal); // as many as one API may keep waiting
    await user.autoscaler('quick', [cpu], bounds);
    await user.untilAutoscaler('quick', isScaled);
    await user.client.patch(
      HorizontalPodAutoscalers,
      objectKey(user.namespace, 'quick'),
      { type: 'merge', body: { spec: { maxReplicas: 3 } } },
      signal,
    );
    const { status } = await user.untilAutoscaler('quick', ({ status: now }) => now?.desiredReplicas === 3);
    expect(status?.desiredReplicas).toBe(3);
    for (const name of slow) await user.delete(HorizontalPodAutoscalers, name);
  });

  const lies: Readonly<Record<string, unknown>> = {
    'no list': 'hello',
    'other types': { items: [{ metadata: { name: 7 }, containers: 'none' }] },
    'no quantity': podMetricsList({ 'lie-0': { cpu: 'much' } }),
    'another kind': { kind: 'Status', status: 'Success' },
    nothing: null,
  };
  for (const [what, body] of Object.entries(lies)) {
    test(`a metrics API that answers with ${what} stops only the autoscaler that asked`, async ({ signal }) => {
      const user = await useTarget(signal, 'lie', 'truth');
      apis.answer(user.namespace, ({ query }) =>
        query.get('labelSelector') === 'app=lie' ? { body } : valueOf('truth', '90m'),
      );
      await user.autoscaler('lie', [cpu], bounds);
      await user.autoscaler('truth', [cpu], bounds);
      await user.untilAutoscaler('truth', isScaled);
      const { status } = await user.untilAutoscaler('lie', ({ status: now }) => (now?.conditions ?? []).length > 1);
      const active = findCondition(status?.conditions ?? [], 'ScalingActive');
      expect(active).toMatchObject({ status: 'False', reason: 'FailedGetResourceMetric' });
      apis.answer(user.namespace, ({ query }) => valueOf(query.get('labelSelector')?.slice(4) ?? '', '90m'));
      await user.untilAutoscaler('lie', isScaled);
    });
  }

  test('a spec of autoscaling/v1 is scaled too', async ({ signal }) => {
    const user = await useTarget(signal, 'old');
    apis.answer(user.namespace, () => valueOf('old', '900m'));
    const { namespace } = user;
    const spec = {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'old' },
      ...bounds,
      targetCPUUtilizationPercentage: 50,
    };
    const body = {
      apiVersion: 'autoscaling/v1',
      kind: 'HorizontalPodAutoscaler',
      metadata: { name: 'old', namespace },
      spec,
    };
    const path = `/apis/autoscaling/v1/namespaces/${namespace}/horizontalpodautoscalers`;
    expect((await cluster().request({ method: 'POST', path, body })).status).toBe(201);
    await user.untilAutoscaler('old', isScaled);
    const read = await cluster().request({ path: `${path}/old` });
    expect(read.body).toMatchObject({ status: { desiredReplicas: 4, currentCPUUtilizationPercentage: 900 } });
  });

  test('has the metrics of the Go binary', async ({ signal }) => {
    const user = await useTarget(signal, 'seen');
    apis.answer(user.namespace, () => valueOf('seen', '10m'));
    await user.autoscaler('seen', [cpu]);
    await user.untilAutoscaler('seen', ({ status }) => status?.desiredReplicas === 1);
    const prefix = 'horizontal_pod_autoscaler_controller';
    const labels = `namespace="${user.namespace}",hpa_name="seen"`;
    const body = async (): Promise<string> => (await manager.get('/metrics')).body as string;
    await expect.poll(body).toContain(`${prefix}_desired_replicas{${labels}} 1`);
    // The first sync comes from no replicas in the status.
    const computed = `${prefix}_metric_computation_total{action="none",error="none",metric_type="Resource"}`;
    await expect.poll(body).toContain(computed);
    const text = await body();
    expect(text).toContain(`${prefix}_reconciliations_total{action="none",error="none"}`);
    expect(text).toContain(`${prefix}_reconciliation_duration_seconds_bucket{`);
    expect(text).toMatch(new RegExp(`${prefix}_num_horizontal_pod_autoscalers [1-9]`));
    expect(text).toContain('workqueue_adds_total{name="horizontalpodautoscaler"}');
    await user.delete(HorizontalPodAutoscalers, 'seen');
    await expect.poll(body).not.toContain(labels);
  });
});
