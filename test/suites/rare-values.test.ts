import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  Deployments,
  ExactInteger,
  Jobs,
  keyOf,
  Pods,
  ReplicaSets,
  type Deployment,
  type Pod,
  type PodTemplateSpec,
} from '../../pkg/api/index.ts';
import { ClientBuilder, loadKubeconfig, type Client } from '../../pkg/client/index.ts';
import { systemClock } from '../../pkg/time/index.ts';
import { eventually } from '../support/eventually.ts';
import { startManager, type Manager } from '../support/manager.ts';
import { createNamespace, useCluster } from './use-cluster.ts';

const cluster = useCluster();
const controllers = ['job-controller', 'deployment-controller', 'replicaset-controller'];
let clients: ClientBuilder;
let client: Client;
let manager: Manager | undefined;
let namespace: string;

beforeAll(async () => {
  const connection = await loadKubeconfig({ path: cluster().kubeconfig() }, systemClock);
  clients = new ClientBuilder({ connection, clock: systemClock, userAgent: 'suite' });
  client = clients.clientFor('user');
  namespace = await createNamespace(cluster());
  const flags = ['--leader-elect=false', '--use-service-account-credentials=true'];
  manager = await startManager(cluster(), [`--controllers=${controllers.join(',')}`, ...flags]);
});

afterAll(async () => {
  await manager?.stop();
  clients?.close();
});

/** An int64 that no `number` holds, where the types say `number`. */
const int64 = (text: string): number => ExactInteger.of(text) as unknown as number;

const template = (app: string, more: Partial<PodTemplateSpec['spec']> = {}): PodTemplateSpec => ({
  metadata: { labels: { app } },
  spec: { containers: [{ name: 'app', image: 'example' }], ...more },
});

async function podsOf(label: string, signal: AbortSignal): Promise<Pod[]> {
  return (await client.list(Pods, { namespace, labelSelector: label }, signal)).items;
}

async function createDeployment(app: string, pods: PodTemplateSpec, signal: AbortSignal): Promise<Deployment> {
  const spec = { replicas: 1, selector: { matchLabels: { app } }, template: pods };
  return client.create(Deployments, { metadata: { namespace, name: app }, spec }, signal);
}

async function setsOf(app: string, signal: AbortSignal): Promise<string[]> {
  const { items } = await client.list(ReplicaSets, { namespace, labelSelector: `app=${app}` }, signal);
  return items.map(({ metadata }) => metadata.annotations?.['deployment.kubernetes.io/revision'] ?? '').sort();
}

describe('a failed pod whose container has no finish time', () => {
  test('delays neither its own Job nor another', async ({ signal }) => {
    const jobTemplate = template('unknown', { restartPolicy: 'Never' });
    const indexed = { completionMode: 'Indexed', completions: 2, parallelism: 2, backoffLimitPerIndex: 3 };
    const spec = { ...indexed, template: jobTemplate };
    await client.create(Jobs, { metadata: { namespace, name: 'unknown' }, spec }, signal);
    const [pod] = await eventually(async () => {
      const pods = await podsOf('app=unknown', signal);
      return pods.length === 2 && pods;
    }, signal);
    if (pod === undefined) throw new Error('there is no pod');
    const terminated = { exitCode: 137, reason: 'ContainerStatusUnknown' };
    const fixed = { name: 'app', image: 'example', imageID: '', ready: false, restartCount: 0 };
    const status = { phase: 'Failed', containerStatuses: [{ ...fixed, state: { terminated } }] };
    const written = await client.updateStatus(Pods, { ...pod, status }, signal);
    expect(written.status?.containerStatuses?.[0]?.state?.terminated?.finishedAt ?? null).toBeNull();
    await eventually(async () => {
      const { status: counted } = await client.get(Jobs, keyOf({ metadata: { namespace, name: 'unknown' } }), signal);
      return counted?.failed === 1;
    }, signal);
    const innocent = { template: template('innocent', { restartPolicy: 'Never' }) };
    await client.create(Jobs, { metadata: { namespace, name: 'innocent' }, spec: innocent }, signal);
    await eventually(async () => (await podsOf('app=innocent', signal)).length === 1, signal);
    // Ten seconds of back-off after the creation of the pod, which counts if there is no finish time.
    await eventually(async () => (await podsOf('app=unknown', signal)).length === 3, signal);
  });
});

describe('a label that every object inherits', () => {
  test('starts a rollout when the template gets it', async ({ signal }) => {
    await createDeployment('labelled', template('labelled'), signal);
    await eventually(async () => (await setsOf('labelled', signal)).join() === '1', signal);
    const body = { spec: { template: { metadata: { labels: { constructor: 'x' } } } } };
    const key = keyOf({ metadata: { namespace, name: 'labelled' } });
    await client.patch(Deployments, key, { type: 'merge', body }, signal);
    const revisions = await eventually(async () => {
      const found = await setsOf('labelled', signal);
      return found.length > 1 && found;
    }, signal);
    expect(revisions).toEqual(['1', '2']);
  });

  test('is not found on a pod without it, which is not adopted', async ({ signal }) => {
    const { spec } = template('');
    const orphan = await client.create(
      Pods,
      { metadata: { namespace, name: 'orphan', labels: { app: 'orphan' } }, spec: spec ?? { containers: [] } },
      signal,
    );
    const selector = { matchExpressions: [{ key: 'constructor', operator: 'Exists' }] };
    const own = { metadata: { labels: { constructor: 'x', app: 'exists' } }, spec };
    const metadata = { namespace, name: 'exists' };
    await client.create(ReplicaSets, { metadata, spec: { replicas: 2, selector, template: own } }, signal);
    await eventually(async () => {
      const { status } = await client.get(ReplicaSets, keyOf({ metadata }), signal);
      return status?.replicas === 2;
    }, signal);
    expect(await podsOf('app=exists', signal)).toHaveLength(2);
    expect((await client.get(Pods, keyOf(orphan), signal)).metadata.ownerReferences).toBeUndefined();
  });
});

describe('an integer beyond 2^53', () => {
  test('is the same in the pods as in the template', async ({ signal }) => {
    const tolerationSeconds = int64('9007199254740993');
    const toleration = { key: 'down', operator: 'Exists', effect: 'NoExecute', tolerationSeconds };
    const terminationGracePeriodSeconds = int64('9223372036854775807');
    const pods = template('exact', { terminationGracePeriodSeconds, tolerations: [toleration] });
    await createDeployment('exact', pods, signal);
    const [pod] = await eventually(async () => {
      const found = await podsOf('app=exact', signal);
      return found.length === 1 && found;
    }, signal);
    const text = JSON.stringify(pod?.spec);
    expect(text).toContain('"terminationGracePeriodSeconds":9223372036854775807');
    expect(text).toContain('"tolerationSeconds":9007199254740993');
    expect(await setsOf('exact', signal)).toEqual(['1']); // its template equals that of the Deployment
  });

  test('is counted up by one as a revision', async ({ signal }) => {
    const revision = 'deployment.kubernetes.io/revision';
    const before = { ...template('revised'), metadata: { labels: { app: 'revised', version: 'before' } } };
    const metadata = {
      namespace,
      name: 'revised-before',
      labels: { app: 'revised' },
      annotations: { [revision]: '4611686018427387905' },
    };
    const spec = { replicas: 0, selector: { matchLabels: { app: 'revised', version: 'before' } }, template: before };
    await client.create(ReplicaSets, { metadata, spec }, signal);
    await createDeployment('revised', template('revised'), signal);
    await eventually(
      async () => (await setsOf('revised', signal)).join() === '4611686018427387905,4611686018427387906',
      signal,
    );
    const live = await eventually(async () => {
      const found = await client.get(Deployments, keyOf({ metadata: { namespace, name: 'revised' } }), signal);
      return found.metadata.annotations?.[revision] !== undefined && found;
    }, signal);
    expect(live.metadata.annotations?.[revision]).toBe('4611686018427387906');
  });
});
