import { ControllerRevisions, Pods, StatefulSets } from '../../pkg/api/index.ts';
import { ClientBuilder, loadKubeconfig } from '../../pkg/client/index.ts';
import { systemClock } from '../../pkg/time/index.ts';
import type { Cluster } from '../cluster/index.ts';
import { createNamespace } from '../suites/use-cluster.ts';
import { startEither, type ManagerName } from './side-by-side.ts';
import { StatefulSetUser } from './stateful-set-user.ts';

/** The objects that must not change when another controller manager takes over. */
export interface Kept {
  /** Names and uids. */
  readonly pods: readonly string[];
  /** Names, numbers and uids. */
  readonly revisions: readonly string[];
}

const controllers = ['statefulset-controller'];

/** One manager creates and updates StatefulSets; then the other takes over and syncs each. */
export async function handOver(
  cluster: Cluster,
  { from, to, signal }: { readonly from: ManagerName; readonly to: ManagerName; readonly signal: AbortSignal },
): Promise<{ readonly before: Kept; readonly after: Kept }> {
  const connection = await loadKubeconfig({ path: cluster.kubeconfig() }, systemClock);
  const clients = new ClientBuilder({ connection, clock: systemClock, userAgent: 'hand-over' });
  try {
    const namespace = await createNamespace(cluster, `${from}-${to}`);
    const user = new StatefulSetUser(clients.clientFor('user'), namespace, signal);
    const odd = { annotations: { '10': '<a & b>', '9': 'line\u2028separator', constructor: 'x' } };
    const stopFirst = await startEither(from, cluster, { controllers });
    await Promise.all([user.statefulSet('plain', { replicas: 2 }), user.statefulSet('odd', { replicas: 2, ...odd })]);
    for (const name of ['plain', 'odd']) {
      await user.untilSettled(name, 2);
      await user.update(name, 'two');
      await user.untilSettled(name, 2);
    }
    await stopFirst();
    const before = await readKept(user);
    const stopSecond = await startEither(to, cluster, { controllers });
    // An observed generation shows that it has synced the set.
    for (const name of ['plain', 'odd']) await user.change(name, { minReadySeconds: 1 });
    for (const name of ['plain', 'odd']) await user.untilSettled(name, 2);
    const after = await readKept(user);
    await stopSecond();
    for (const name of ['plain', 'odd']) await user.delete(StatefulSets, name);
    return { before, after };
  } finally {
    clients.close();
  }
}

async function readKept({ client, namespace, signal }: StatefulSetUser): Promise<Kept> {
  const pods = await client.listAll(Pods, { namespace }, signal);
  const revisions = await client.listAll(ControllerRevisions, { namespace }, signal);
  return {
    pods: pods.items.map(({ metadata }) => `${metadata.name} ${metadata.uid}`).sort(),
    revisions: revisions.items.map(({ metadata, revision }) => `${metadata.name} ${revision} ${metadata.uid}`).sort(),
  };
}
