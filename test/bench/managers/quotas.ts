import { objectKey, Pods, ResourceQuotas } from '../../../pkg/api/index.ts';
import type { ManagerName } from './manager-process.ts';
import { measureWork, type Conditions, type Measurement } from './measure.ts';
import type { Stage } from './stage.ts';

const hard = { pods: '1000', 'count/pods': '1000', 'requests.cpu': '1k', 'limits.memory': '10Ti', configmaps: '100' };

function pod(namespace: string, name: string): object {
  const size = { cpu: '100m', memory: '128Mi' };
  const containers = [{ name: 'app', image: 'app:1', resources: { requests: size, limits: size } }];
  // No node runs it, so that only the managers have work.
  return {
    metadata: { namespace, name },
    spec: { schedulerName: 'none', nodeSelector: { nowhere: 'true' }, containers },
  };
}

/** Until the quotas of all namespaces have this number of pods in total. */
async function untilCounted(stage: Stage, quotas: number, pods: number): Promise<void> {
  await stage.until(ResourceQuotas, undefined, (found) => {
    const used = found.map(({ status }) => Number(status?.used?.['pods'] ?? Number.NaN));
    return used.length === quotas && used.reduce((sum, count) => sum + count, 0) === pods;
  });
}

/** Many namespaces with a quota each, in which pods come and go. */
export async function measureQuotas(manager: ManagerName, conditions: Conditions): Promise<Measurement[]> {
  const size = (count: number): number => Math.max(2, Math.round(count * conditions.scale));
  const [namespaces, pods] = [size(500), size(10_000)];
  const names: string[] = [];
  const work = [
    {
      name: `${namespaces} namespaces with quotas`,
      async run(stage: Stage) {
        while (names.length < namespaces) names.push(await stage.createNamespace());
        const quotas = names.map((namespace) => ({ metadata: { namespace, name: 'limits' }, spec: { hard } }));
        await stage.createAll(ResourceQuotas, quotas);
        await untilCounted(stage, namespaces, 0);
      },
    },
    {
      name: `${pods} pods in them`,
      async run(stage: Stage) {
        const all = Array.from({ length: pods }, (_, i) => pod(names[i % namespaces] ?? '', `pod-${i}`));
        await stage.createAll(Pods, all);
        await untilCounted(stage, namespaces, pods);
      },
    },
    {
      name: 'half of those pods replaced',
      async run(stage: Stage) {
        const replaced = Array.from({ length: Math.floor(pods / 2) }, (_, i) => i).values();
        const worker = async (): Promise<void> => {
          for (const i of replaced) {
            const namespace = names[i % namespaces] ?? '';
            await stage.client.delete(Pods, objectKey(namespace, `pod-${i}`), {}, stage.signal);
            await stage.createAll(Pods, [pod(namespace, `new-${i}`)]);
          }
        };
        await Promise.all(Array.from({ length: 32 }, worker));
        await untilCounted(stage, namespaces, pods);
      },
    },
  ];
  // The Go binary corrects what it has counted too early with the next full resync, by default after five minutes.
  const flags = [...conditions.flags, '--resource-quota-sync-period=30s'];
  return measureWork(manager, work, { ...conditions, flags, nodes: 1 });
}
