import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  CoreEvents,
  type Deployment,
  Deployments,
  type Pod,
  Pods,
  type ReplicaSet,
  ReplicaSets,
} from '../../pkg/api/index.ts';
import type { Client } from '../../pkg/client/index.ts';
import { podSettingNames } from '../../pkg/hollow/index.ts';
import { kubectl, startGoControllerManager } from '../cluster/index.ts';
import { eventually } from '../support/eventually.ts';
import { followObjects } from '../support/follow-objects.ts';
import { type Manager, startManager } from '../support/manager.ts';
import { parsePrometheusText, sampleValue } from '../support/prometheus-text.ts';
import { conditionsOf, WorkloadUser } from '../support/workload-user.ts';
import { createNamespace, useCluster } from './use-cluster.ts';
import { useNodes } from './use-nodes.ts';

const cluster = useCluster();
const nodes = useNodes(cluster, { nodes: 3, podStopDelayMs: 0 });
let client: Client;

beforeAll(() => {
  ({ client } = nodes());
});

const flags = [
  '--controllers=deployment-controller,replicaset-controller',
  '--leader-elect=false',
  '--use-service-account-credentials=true',
];

const revision = 'deployment.kubernetes.io/revision';
const slowly = { [podSettingNames.readyAfter]: '1s', [podSettingNames.stopAfter]: '500ms' };
const gently = { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 2, maxUnavailable: 1 } } };
const byRevision = (a: ReplicaSet, b: ReplicaSet): number =>
  Number(a.metadata.annotations?.[revision]) - Number(b.metadata.annotations?.[revision]);

describe('with our controllers', () => {
  let manager: Manager;

  beforeEach(async () => {
    manager = await startManager(cluster(), flags);
  });

  afterEach(async () => {
    await manager.kill();
  });

  test('kubectl rolls out, pauses, resumes, goes back, restarts and scales', async () => {
    const namespace = await createNamespace(cluster());
    const run = (...args: string[]): Promise<string> => kubectl(cluster(), ['-n', namespace, ...args]);
    const imageNow = (): Promise<string> =>
      run('get', 'deployment', 'web', '-o', 'jsonpath={.spec.template.spec.containers[0].image}');
    const rolledOut = async (): Promise<void> => {
      expect(await run('rollout', 'status', 'deployment/web')).toContain('deployment "web" successfully rolled out');
    };

    await run('create', 'deployment', 'web', '--image=one', '--replicas=3');
    await run('annotate', 'deployment/web', 'kubernetes.io/change-cause=the beginning');
    await rolledOut();
    await run('set', 'image', 'deployment/web', 'one=two');
    await run('annotate', 'deployment/web', 'kubernetes.io/change-cause=the second', '--overwrite');
    await rolledOut();
    const history = await run('rollout', 'history', 'deployment/web');
    expect(history).toMatch(/^1 +the beginning$/m);
    expect(history).toMatch(/^2 +the second$/m);
    expect(await run('rollout', 'history', 'deployment/web', '--revision=1')).toMatch(/Image:\s+one/);

    await run('rollout', 'undo', 'deployment/web');
    await rolledOut();
    expect(await imageNow()).toBe('one');
    expect(await run('rollout', 'history', 'deployment/web')).toMatch(/^3 +the beginning$/m);
    await run('rollout', 'undo', 'deployment/web', '--to-revision=2');
    await rolledOut();
    expect(await imageNow()).toBe('two');

    await run('rollout', 'pause', 'deployment/web');
    await run('set', 'image', 'deployment/web', 'one=three');
    await run('scale', 'deployment/web', '--replicas=4');
    await run('wait', 'deployment/web', '--for=jsonpath={.status.availableReplicas}=4', '--timeout=-1s');
    await expect(run('rollout', 'undo', 'deployment/web')).rejects.toThrow('paused');
    expect(await run('get', 'pods', '-o', 'jsonpath={.items[*].spec.containers[0].image}')).toBe('two two two two');
    await run('rollout', 'resume', 'deployment/web');
    await rolledOut();

    await run('rollout', 'restart', 'deployment/web');
    await rolledOut();
    expect(await run('rollout', 'history', 'deployment/web', '--revision=6')).toContain('restartedAt');
    await run('scale', 'deployment/web', '--replicas=2', '--current-replicas=4');
    // Not `rollout status`: it is content with more replicas than wanted.
    await run('wait', 'deployment/web', '--for=jsonpath={.status.replicas}=2', '--timeout=-1s');
    expect(await run('get', 'deployment', 'web', '--no-headers')).toMatch(/^web +2\/2 +2 +2 /);
    expect(await run('describe', 'deployment', 'web')).toMatch(/Available\s+True\s+MinimumReplicasAvailable/);
  });

  test('kubectl rollout status fails when the deadline has passed', async ({ signal }) => {
    const user = new WorkloadUser(client, await createNamespace(cluster()), signal);
    await user.deployment('web', { progressDeadlineSeconds: 2, annotations: { [podSettingNames.neverReady]: 'true' } });
    const status = kubectl(cluster(), ['-n', user.namespace, 'rollout', 'status', 'deployment/web']);
    await expect(status).rejects.toThrow('deployment "web" exceeded its progress deadline');
  });

  test('a rollout never has more pods than its surge allows, nor fewer available than it must', async ({ signal }) => {
    const user = new WorkloadUser(client, await createNamespace(cluster()), signal);
    await user.deployment('web', { replicas: 6, ...gently });
    await user.untilRolledOut('web');
    const sum = (sets: readonly ReplicaSet[], count: (set: ReplicaSet) => number | undefined): number =>
      sets.reduce((total, set) => total + (count(set) ?? 0), 0);
    const selection = { namespace: user.namespace, labelSelector: 'app=web' };
    const sizes = await followObjects(client, ReplicaSets, selection, (sets) => ({
      pods: sum(sets, ({ spec }) => spec.replicas),
      available: sum(sets, ({ status }) => status?.availableReplicas),
    }));
    await user.rollOut('web', 'two', { [podSettingNames.readyAfter]: '200ms' });
    await user.untilRolledOut('web');
    await sizes.end();
    expect(Math.max(...sizes.seen.map(({ pods }) => pods))).toBe(8);
    expect(Math.min(...sizes.seen.map(({ available }) => available))).toBe(5);
  });

  test('Recreate never runs old and new pods at the same time', async ({ signal }) => {
    const user = new WorkloadUser(client, await createNamespace(cluster()), signal);
    const strategy = { type: 'Recreate' };
    await user.deployment('web', { replicas: 3, strategy, annotations: { [podSettingNames.stopAfter]: '1s' } });
    await user.untilRolledOut('web');
    const isOver = ({ status }: Pod): boolean => status?.phase === 'Failed' || status?.phase === 'Succeeded';
    const selection = { namespace: user.namespace, labelSelector: 'app=web' };
    const images = await followObjects(client, Pods, selection, (pods) => {
      const present = pods.filter((pod) => !isOver(pod)).map(({ spec }) => spec.containers[0]?.image ?? '');
      return [...new Set(present)].sort().join();
    });
    await user.rollOut('web', 'two');
    await user.untilRolledOut('web');
    await images.end();
    expect(new Set(images.seen)).toEqual(new Set(['one', '', 'two']));
  });
});

describe('between the Go controllers and ours', () => {
  const goFlags = ['--controllers=deployment-controller,replicaset-controller', '--leader-elect=false'];

  /** Both values of the metrics' label. Once this queue is empty, every object has been synced. */
  async function lookedAtAll(url: string, deployments: number): Promise<boolean> {
    const { body } = await cluster().request({ path: `${url}/metrics` });
    const metrics = parsePrometheusText(String(body));
    const of = (metric: string, name: string): number => sampleValue(metrics, metric, { name }) ?? 0;
    return (
      of('workqueue_work_duration_seconds_count', 'deployment') >= deployments &&
      of('workqueue_work_duration_seconds_count', 'replicaset') >= deployments &&
      of('workqueue_depth', 'deployment') + of('workqueue_depth', 'replicaset') === 0
    );
  }

  async function versions(namespace: string, signal: AbortSignal): Promise<string[]> {
    const lists = await Promise.all(
      [Deployments, ReplicaSets, Pods].map((kind) => client.listAll(kind as typeof Pods, { namespace }, signal)),
    );
    return lists.flatMap(({ items }) => items).map(({ metadata }) => `${metadata.name} ${metadata.resourceVersion}`);
  }

  async function deployEach(user: WorkloadUser, prefix: string): Promise<void> {
    const [plain, back, paused, recreated] = ['plain', 'back', 'paused', 'recreated'].map(
      (name) => `${prefix}-${name}`,
    );
    if (plain === undefined || back === undefined || paused === undefined || recreated === undefined) return;
    await user.deployment(plain, { replicas: 2, ownAnnotations: { note: 'x' }, minReadySeconds: 1 });
    await user.deployment(back, { replicas: 1 });
    await user.deployment(paused, { replicas: 1 });
    await user.deployment(recreated, { replicas: 1, strategy: { type: 'Recreate' } });
    for (const name of [plain, back, paused, recreated]) await user.untilRolledOut(name);
    for (const name of [back, recreated]) await user.rollOut(name, 'two');
    for (const name of [back, recreated]) await user.untilRolledOut(name);
    await user.rollOut(back, 'one');
    await user.until(Deployments, back, ({ metadata }) => metadata.annotations?.[revision] === '3');
    await user.untilRolledOut(back);
    await user.patch(Deployments, paused, { spec: { paused: true } });
    const isSaid = (reason: string) => (deployment: Deployment) =>
      deployment.status?.observedGeneration === deployment.metadata.generation &&
      conditionsOf(deployment).some((condition) => condition.endsWith(` ${reason}`));
    await user.until(Deployments, paused, isSaid('DeploymentPaused'));
    for (const name of [plain, back, recreated]) await user.until(Deployments, name, isSaid('NewReplicaSetAvailable'));
  }

  test('a change of managers after a rollout changes nothing, in either direction', async ({ signal }) => {
    const user = new WorkloadUser(client, await createNamespace(cluster()), signal);
    const { process } = await startGoControllerManager(cluster(), goFlags);
    await deployEach(user, 'go');
    await process.stop();
    const byGo = await versions(user.namespace, signal);
    {
      await using manager = await startManager(cluster(), flags);
      await eventually(() => lookedAtAll(manager.baseUrl, 4), signal);
      expect(await versions(user.namespace, signal)).toEqual(byGo);
      await deployEach(user, 'ours');
      await manager.stop();
    }
    const byBoth = await versions(user.namespace, signal);
    const again = await startGoControllerManager(cluster(), goFlags);
    await eventually(() => lookedAtAll(again.url, 8), signal);
    expect(await versions(user.namespace, signal)).toEqual(byBoth);
    await again.process.stop();
  });

  async function untilHalfway(user: WorkloadUser, name: string): Promise<void> {
    await user.until(Deployments, name, ({ metadata, status }) => {
      const isCurrent = status?.observedGeneration === metadata.generation;
      return isCurrent && [3, 4, 5].includes(status?.updatedReplicas ?? 0);
    });
  }

  /** The ReplicaSets that are left after the rollout. */
  async function traces(user: WorkloadUser, name: string): Promise<object> {
    const { metadata } = await user.untilRolledOut(name);
    const sets = (await user.setsOf(name)).sort(byRevision);
    const newest = sets.at(-1)?.metadata.labels?.['pod-template-hash'];
    const pods = await user.pods(name);
    const { items } = await client.listAll(CoreEvents, { namespace: user.namespace }, user.signal);
    const begun = items.filter(
      ({ involvedObject, message }) => involvedObject.name === name && message?.includes(' from 0 to ') === true,
    );
    return {
      generation: metadata.generation,
      revision: metadata.annotations?.[revision],
      sizes: sets.map(({ spec }) => spec.replicas),
      newPods: pods.filter((pod) => pod.metadata.labels?.['pod-template-hash'] === newest).length,
      begun: begun.length,
    };
  }

  /** The first one, and one more: no rollout started twice. */
  const oneRollout = { generation: 2, revision: '2', sizes: [0, 8], newPods: 8, begun: 2 };

  test('a rollout that one manager starts is finished by the other, and not started again', async ({ signal }) => {
    const user = new WorkloadUser(client, await createNamespace(cluster()), signal);
    const { process } = await startGoControllerManager(cluster(), goFlags);
    for (const name of ['begun-by-go', 'begun-by-us']) {
      await user.deployment(name, { replicas: 8, ...gently, annotations: slowly });
    }
    for (const name of ['begun-by-go', 'begun-by-us']) await user.untilRolledOut(name);
    await user.rollOut('begun-by-go', 'two');
    await untilHalfway(user, 'begun-by-go');
    await process.kill();
    {
      await using manager = await startManager(cluster(), flags);
      expect(await traces(user, 'begun-by-go')).toEqual(oneRollout);
      await user.rollOut('begun-by-us', 'two');
      await untilHalfway(user, 'begun-by-us');
      await manager.kill();
    }
    const again = await startGoControllerManager(cluster(), goFlags);
    expect(await traces(user, 'begun-by-us')).toEqual(oneRollout);
    await again.process.stop();
  });
});
