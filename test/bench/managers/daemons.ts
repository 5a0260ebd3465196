import { DaemonSets, objectKey, type DaemonSet } from '../../../pkg/api/index.ts';
import type { ManagerName } from './manager-process.ts';
import { measureWork, type Conditions, type Measurement } from './measure.ts';
import type { Stage } from './stage.ts';

function daemonSet(namespace: string, name: string): object {
  const containers = [{ name: 'app', image: 'app:1' }];
  const template = { metadata: { labels: { app: name } }, spec: { terminationGracePeriodSeconds: 1, containers } };
  const updateStrategy = { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '10%' } };
  return {
    metadata: { namespace, name },
    spec: { selector: { matchLabels: { app: name } }, template, updateStrategy },
  };
}

interface Wanted {
  readonly sets: number;
  readonly nodes: number;
  readonly generation?: number | undefined;
}

/** Until this many DaemonSets, in this generation, have an available pod of their newest template on every node. */
function untilRolledOut(stage: Stage, namespace: string, wanted: Wanted): Promise<void> {
  const { generation = 1 } = wanted;
  const isRolledOut = ({ status }: DaemonSet): boolean =>
    status?.observedGeneration === generation &&
    status?.updatedNumberScheduled === wanted.nodes &&
    status.numberAvailable === wanted.nodes;
  return stage.until(DaemonSets, namespace, (found) => found.filter(isRolledOut).length === wanted.sets);
}

/** Many DaemonSets on many nodes, and the update of one on many more. */
export async function measureDaemons(manager: ManagerName, conditions: Conditions): Promise<Measurement[]> {
  const size = (count: number): number => Math.max(2, Math.round(count * conditions.scale));
  const many = { sets: size(100), nodes: size(100) };
  const one = { sets: 1, nodes: size(500) };
  const created = await measureWork(
    manager,
    [
      {
        name: `${many.sets} DaemonSets on ${many.nodes} nodes`,
        async run(stage, namespace) {
          const sets = Array.from({ length: many.sets }, (_, index) => daemonSet(namespace, `daemon-${index}`));
          await stage.createAll(DaemonSets, sets);
          await untilRolledOut(stage, namespace, many);
        },
      },
    ],
    { ...conditions, nodes: many.nodes },
  );
  const updated = await measureWork(
    manager,
    [
      {
        name: `one DaemonSet on ${one.nodes} nodes`,
        async run(stage, namespace) {
          await stage.createAll(DaemonSets, [daemonSet(namespace, 'daemon')]);
          await untilRolledOut(stage, namespace, one);
        },
      },
      {
        name: `rolling update of it, a tenth at a time`,
        async run(stage, namespace) {
          const body = { spec: { template: { spec: { containers: [{ name: 'app', image: 'app:2' }] } } } };
          const key = objectKey(namespace, 'daemon');
          const { metadata } = await stage.client.patch(DaemonSets, key, { type: 'strategic', body }, stage.signal);
          await untilRolledOut(stage, namespace, { ...one, generation: metadata.generation });
        },
      },
    ],
    { ...conditions, nodes: one.nodes },
  );
  return [...created, ...updated];
}
