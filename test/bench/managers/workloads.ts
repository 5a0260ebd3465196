import {
  Deployments,
  isBeingDeleted,
  Jobs,
  Namespaces,
  objectKey,
  PodDisruptionBudgets,
  Pods,
  Services,
  StatefulSets,
  type Pod,
} from '../../../pkg/api/index.ts';
import type { Stage } from './stage.ts';

/** One row of the table. Workloads of a list run one after the other in one namespace, and build on each other. */
export interface Workload {
  readonly name: string;
  run(stage: Stage, namespace: string): Promise<void>;
}

const container = (image: string): object => ({ name: 'app', image });
const template = (app: string, image: string): object => ({
  metadata: { labels: { app } },
  spec: { terminationGracePeriodSeconds: 1, containers: [container(image)] },
});

function deployment(name: string, replicas: number): object {
  return {
    metadata: { name, labels: { bench: 'deployment' } },
    spec: { replicas, selector: { matchLabels: { app: name } }, template: template(name, 'app:1') },
  };
}

function statefulSet(name: string, replicas: number): object {
  return {
    metadata: { name },
    spec: { replicas, serviceName: name, selector: { matchLabels: { app: name } }, template: template(name, 'app:1') },
  };
}

function job(name: string, pods: number): object {
  const { spec } = template('job', 'job:1') as { spec: object };
  const annotations = { 'hollow-node/finish-after': '0s' };
  return {
    metadata: { name },
    spec: {
      parallelism: pods,
      completions: pods,
      template: { metadata: { annotations }, spec: { ...spec, restartPolicy: 'Never' } },
    },
  };
}

const numbered = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i));
const inNamespace = (namespace: string, objects: readonly object[]): object[] =>
  objects.map((object) => {
    const { metadata } = object as { metadata: object };
    return { ...object, metadata: { ...metadata, namespace } };
  });

/** The pods of the large Deployment that nobody has deleted yet. */
async function listPods({ client, signal }: Stage, namespace: string): Promise<Pod[]> {
  const { items } = await client.listAll(Pods, { namespace, labelSelector: 'app=large' }, signal);
  return items.filter(({ metadata }) => !isBeingDeleted(metadata));
}

/** The work of a typical day in a cluster. `scale` scales all of it. */
export function dailyWork(scale: number): readonly Workload[] {
  const size = (count: number): number => Math.max(1, Math.round(count * scale));
  const large = size(1000);
  const many = size(100);
  return [
    {
      name: `one Deployment of ${large} pods`,
      async run(stage, namespace) {
        await stage.createAll(Deployments, inNamespace(namespace, [deployment('large', large)]));
        await stage.untilAvailable(namespace, 1);
      },
    },
    {
      name: `a Service over those ${large} pods`,
      async run(stage, namespace) {
        const spec = { selector: { app: 'large' }, ports: [{ port: 80 }] };
        await stage.createAll(Services, inNamespace(namespace, [{ metadata: { name: 'large' }, spec }]));
        await stage.untilReadyEndpoints(namespace, large);
      },
    },
    {
      name: `${size(200)} of those pods replaced`,
      async run(stage, namespace) {
        const pods = await listPods(stage, namespace);
        const victims = pods.slice(0, size(200));
        const addresses = new Set(victims.map(({ status }) => status?.podIP ?? ''));
        await Promise.all(
          victims.map(({ metadata }) =>
            stage.client.delete(Pods, objectKey(namespace, metadata.name), {}, stage.signal),
          ),
        );
        await stage.untilReadyEndpoints(namespace, large, addresses);
      },
    },
    {
      name: `a budget over those ${large} pods while ${size(200)} are replaced`,
      async run(stage, namespace) {
        const spec = { maxUnavailable: '10%', selector: { matchLabels: { app: 'large' } } };
        const pods = await listPods(stage, namespace);
        await stage.createAll(PodDisruptionBudgets, inNamespace(namespace, [{ metadata: { name: 'large' }, spec }]));
        await stage.untilHealthy(namespace, large);
        const victims = pods.slice(0, size(200)).map(({ metadata }) => metadata.name);
        await Promise.all(
          victims.map((name) => stage.client.delete(Pods, objectKey(namespace, name), {}, stage.signal)),
        );
        await stage.untilReplaced(namespace, { app: 'large', count: large, without: new Set(victims) });
        await stage.untilHealthy(namespace, large);
      },
    },
    {
      name: `${many} Deployments of 5 pods`,
      async run(stage, namespace) {
        await stage.createAll(
          Deployments,
          inNamespace(
            namespace,
            numbered(many, (i) => deployment(`small-${i}`, 5)),
          ),
        );
        await stage.untilAvailable(namespace, many + 1);
      },
    },
    {
      name: `rolling update of those ${many}`,
      async run(stage, namespace) {
        const body = { spec: { template: { spec: { containers: [container('app:2')] } } } };
        await Promise.all(
          numbered(many, (i) =>
            stage.client.patch(
              Deployments,
              objectKey(namespace, `small-${i}`),
              { type: 'strategic', body },
              stage.signal,
            ),
          ),
        );
        await stage.untilAvailable(namespace, many + 1);
      },
    },
    {
      name: `${many} StatefulSets of 5 pods`,
      async run(stage, namespace) {
        const sets = numbered(many, (i) => statefulSet(`ordered-${i}`, 5));
        await stage.createAll(StatefulSets, inNamespace(namespace, sets));
        await stage.untilOrdered(namespace, many);
      },
    },
    {
      name: `rolling update of those ${many} StatefulSets`,
      async run(stage, namespace) {
        const body = { spec: { template: { spec: { containers: [container('app:2')] } } } };
        const patch = { type: 'strategic', body } as const;
        await Promise.all(
          numbered(many, (i) =>
            stage.client.patch(StatefulSets, objectKey(namespace, `ordered-${i}`), patch, stage.signal),
          ),
        );
        await stage.untilOrdered(namespace, many);
      },
    },
    {
      name: `${many} Jobs of 5 pods`,
      async run(stage, namespace) {
        await stage.createAll(
          Jobs,
          inNamespace(
            namespace,
            numbered(many, (i) => job(`small-${i}`, 5)),
          ),
        );
        await stage.untilJobsComplete(namespace, many);
      },
    },
    {
      name: `${size(20)} Jobs of ${size(500)} pods`,
      async run(stage, namespace) {
        const jobs = numbered(size(20), (i) => job(`large-${i}`, size(500)));
        await stage.createAll(Jobs, inNamespace(namespace, jobs));
        await stage.untilJobsComplete(namespace, many + size(20));
      },
    },
    {
      name: 'the namespace with all of that deleted',
      async run(stage, namespace) {
        await stage.client.delete(Namespaces, objectKey(undefined, namespace), {}, stage.signal);
        await stage.untilGone(namespace);
      },
    },
  ];
}

/** A namespace with so many Deployments that a controller must not list all of them for each one. */
export function storm(scale: number): readonly Workload[] {
  const size = (count: number): number => Math.max(1, Math.round(count * scale));
  const count = size(3000);
  const pods = size(10_000);
  const replicas = (index: number): number =>
    Math.floor(((index + 1) * pods) / count) - Math.floor((index * pods) / count);
  return [
    {
      name: `${count} Deployments with ${pods} pods in one namespace`,
      async run(stage, namespace) {
        const all = numbered(count, (i) => deployment(`storm-${i}`, replicas(i)));
        await stage.createAll(Deployments, inNamespace(namespace, all));
        await stage.untilAvailable(namespace, count);
      },
    },
    {
      name: 'all of them updated at once',
      async run(stage, namespace) {
        const body = { spec: { template: { spec: { containers: [container('app:2')] } } } };
        const names = numbered(count, (i) => `storm-${i}`).values();
        const worker = async (): Promise<void> => {
          for (const name of names) {
            await stage.client.patch(
              Deployments,
              objectKey(namespace, name),
              { type: 'strategic', body },
              stage.signal,
            );
          }
        };
        await Promise.all(numbered(32, worker));
        await stage.untilAvailable(namespace, count);
      },
    },
  ];
}
