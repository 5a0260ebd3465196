import { beforeAll, describe, expect, test } from 'vitest';
import { ControllerRevisions, DaemonSets, ExactInteger, Pods, type Pod } from '../../pkg/api/index.ts';
import type { Client } from '../../pkg/client/index.ts';
import { podSettingNames } from '../../pkg/hollow/index.ts';
import { newRevision, revisionHashLabel } from '../../pkg/revisions/index.ts';
import { kubectl, startGoControllerManager } from '../cluster/index.ts';
import { DaemonSetUser } from '../support/daemonset-user.ts';
import { eventually } from '../support/eventually.ts';
import { followObjects } from '../support/follow-objects.ts';
import { startManager } from '../support/manager.ts';
import { parsePrometheusText, sampleValue } from '../support/prometheus-text.ts';
import { createNamespace, useCluster } from './use-cluster.ts';
import { useNodes } from './use-nodes.ts';

const cluster = useCluster();
const nodes = useNodes(cluster, { nodes: 6, podStopDelayMs: 0 });
const goFlags = ['--controllers=daemonset-controller', '--leader-elect=false'];
const flags = [...goFlags, '--use-service-account-credentials=true'];
let client: Client;

beforeAll(() => {
  ({ client } = nodes());
});

async function userOf(name: string, signal: AbortSignal): Promise<DaemonSetUser> {
  const user = new DaemonSetUser(client, await createNamespace(cluster()), signal);
  await user.giveNodes(name, nodes().hollow.nodeNames);
  return user;
}

describe('with our controller', () => {
  test('kubectl rollout shows status and history, goes back and restarts', async ({ signal }) => {
    await using _manager = await startManager(cluster(), flags);
    const user = await userOf('web', signal);
    const run = (...args: string[]): Promise<string> => kubectl(cluster(), ['-n', user.namespace, ...args]);
    const imageNow = (): Promise<string> =>
      run('get', 'daemonset', 'web', '-o', 'jsonpath={.spec.template.spec.containers[0].image}');
    const rolledOut = async (): Promise<void> => {
      expect(await run('rollout', 'status', 'daemonset/web')).toContain('daemon set "web" successfully rolled out');
    };

    const updateStrategy = { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '50%' } };
    const cause = 'kubernetes.io/change-cause';
    await user.daemonSet('web', { updateStrategy, ownAnnotations: { [cause]: 'the <beginning>' } });
    await rolledOut();
    await run('annotate', 'daemonset/web', `${cause}=the second`, '--overwrite');
    await run('set', 'image', 'daemonset/web', 'main=two');
    await rolledOut();
    const history = await run('rollout', 'history', 'daemonset/web');
    expect(history).toMatch(/^1 +the <beginning>$/m);
    expect(history).toMatch(/^2 +the second$/m);
    expect(await run('rollout', 'history', 'daemonset/web', '--revision=1')).toMatch(/Image:\s+one/);
    await run('rollout', 'undo', 'daemonset/web');
    await rolledOut();
    expect(await imageNow()).toBe('one');
    expect(await run('rollout', 'history', 'daemonset/web')).toMatch(/^3 +the <beginning>$/m);
    await run('rollout', 'undo', 'daemonset/web', '--to-revision=2');
    await rolledOut();
    expect(await imageNow()).toBe('two');
    await run('rollout', 'restart', 'daemonset/web');
    await rolledOut();
    expect(await run('rollout', 'history', 'daemonset/web', '--revision=5')).toContain('restartedAt');
    expect(await run('get', 'daemonset', 'web', '--no-headers')).toMatch(/^web +6 +6 +6 +6 +6 /);
  });

  test('a rollout keeps to maxUnavailable, and a surge to one pod per node', async ({ signal }) => {
    await using manager = await startManager(cluster(), flags);
    const user = await userOf('web', signal);
    await user.daemonSet('web', { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 2 } } });
    await user.untilDaemonsRun('web', 6);
    const isUp = ({ metadata, status }: Pod): boolean =>
      metadata.deletionTimestamp === undefined &&
      status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') === true;
    const selection = { namespace: user.namespace, labelSelector: 'app=web' };
    const follow = () =>
      followObjects(client, Pods, selection, (pods) => ({ pods: pods.length, up: pods.filter(isUp).length }));
    const replaced = await follow();
    await user.update('web', 'two', { [podSettingNames.readyAfter]: '100ms' });
    await user.untilDaemonsRun('web', 6);
    await replaced.end();
    expect(Math.min(...replaced.seen.map(({ up }) => up))).toBe(4);

    await user.patch(DaemonSets, 'web', {
      spec: { updateStrategy: { rollingUpdate: { maxUnavailable: 0, maxSurge: 2 } } },
    });
    const surged = await follow();
    await user.update('web', 'three');
    await user.untilDaemonsRun('web', 6);
    await surged.end();
    expect(Math.min(...surged.seen.map(({ up }) => up))).toBe(6);
    expect(Math.max(...surged.seen.map(({ up }) => up))).toBeLessThanOrEqual(8);
    const { body } = await manager.get('/metrics');
    expect(body).toMatch(/daemonset_controller_stale_sync_skips_total\{group="",resource="pods"\} \d+/);
    expect(body).toContain('workqueue_depth{name="daemonset-node-updates"} 0');
  });
});

test('a revision gets another name if its own is in use', async ({ signal }) => {
  const user = await userOf('web', signal);
  const owner = await user.daemonSet('web');
  const described = { kind: DaemonSets, owner, revision: 1n, collisionCount: undefined, hashLabel: revisionHashLabel };
  const { name = '' } = newRevision({ ...described, integers: 'int64' }).metadata;
  const stranger = { metadata: { namespace: user.namespace, name }, revision: 7, data: { other: true } };
  await client.create(ControllerRevisions, stranger, signal);
  await using _manager = await startManager(cluster(), flags);
  const { status } = await user.untilDaemonsRun('web', 6);
  expect(status?.collisionCount).toBe(1);
  const [own, ...others] = await user.revisionsOf('web');
  expect([own?.revision, own?.metadata.name === name, others.length]).toEqual([1, false, 0]);
});

describe('between the Go controller and ours', () => {
  /** Once this queue is empty, every DaemonSet has been synced. */
  async function lookedAtAll(url: string, daemonSets: number): Promise<boolean> {
    const { body } = await cluster().request({ path: `${url}/metrics` });
    const metrics = parsePrometheusText(String(body));
    const of = (metric: string): number => sampleValue(metrics, metric, { name: 'daemonset' }) ?? 0;
    return of('workqueue_work_duration_seconds_count') >= daemonSets && of('workqueue_depth') === 0;
  }

  async function versions(user: DaemonSetUser): Promise<string[]> {
    const { namespace, signal } = user;
    const lists = await Promise.all(
      [DaemonSets, ControllerRevisions, Pods].map((kind) => client.listAll(kind as typeof Pods, { namespace }, signal)),
    );
    return lists.flatMap(({ items }) => items).map(({ metadata }) => `${metadata.name} ${metadata.resourceVersion}`);
  }

  /** A DaemonSet with a history, whose template has everything that Go serialises in its own way. */
  async function deploy(user: DaemonSetUser, name: string): Promise<void> {
    const annotations = { '10': 'ten', '2': 'two', '1.5': 'x', odd: '<a> & "b"\u2028\u0001é', '9': '' };
    const tolerationSeconds = ExactInteger.of('9007199254740993') as unknown as number;
    const volumes = [{ name: 'v', csi: { driver: 'd', volumeAttributes: { 'a<b&c': '1', '10': '', '9': '' } } }];
    await user.daemonSet(name, {
      annotations,
      minReadySeconds: 1,
      pod: {
        nodeSelector: {},
        volumes,
        tolerations: [{ operator: 'Exists', effect: 'NoExecute', tolerationSeconds }],
      },
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '100%' } },
    });
    await user.untilDaemonsRun(name, 6);
    await user.update(name, 'two');
    await user.untilDaemonsRun(name, 6);
    await user.update(name, 'one');
    await user.untilDaemonsRun(name, 6);
    await eventually(
      async () => (await user.revisionsOf(name)).map(({ revision }) => revision).join() === '2,3',
      user.signal,
    );
  }

  test('a change of managers changes nothing, in either direction', async ({ signal }) => {
    const user = await userOf('anyone', signal);
    const { process } = await startGoControllerManager(cluster(), goFlags);
    await deploy(user, 'by-go');
    await process.stop();
    const byGo = await versions(user);
    {
      await using manager = await startManager(cluster(), flags);
      await eventually(() => lookedAtAll(manager.baseUrl, 1), signal);
      expect(await versions(user)).toEqual(byGo);
      await deploy(user, 'by-ours');
      await manager.stop();
    }
    const byBoth = await versions(user);
    const again = await startGoControllerManager(cluster(), goFlags);
    await eventually(() => lookedAtAll(again.url, 2), signal);
    expect(await versions(user)).toEqual(byBoth);
    await again.process.stop();
  });
});
