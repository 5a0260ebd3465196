/**
 * Runs an example in a sandbox with nodes and Kubernetes' own controllers, and prints what happens until Ctrl-C.
 *
 *     npm run example sample-controller
 */
import { helloController } from '../examples/hello/controller.ts';
import { namespaceTtlController } from '../examples/namespace-ttl/controller.ts';
import { fooController } from '../examples/sample-controller/controller.ts';
import { Foos } from '../examples/sample-controller/foo.ts';
import { ConfigMaps, CoreEvents, Namespaces, type ResourceClient } from '../index.ts';
import { stopOnSignals } from '../pkg/manager/index.ts';
import { startTestCluster, type TestClusterOptions } from '../testing.ts';

interface Example extends Pick<TestClusterOptions, 'controllers' | 'resources'> {
  /** Creates something for the controller to work on. */
  start(client: ResourceClient): Promise<unknown>;
  /** Commands to try. */
  readonly commands: readonly string[];
}

const namespace = 'default';
const examples: Readonly<Record<string, Example>> = {
  hello: {
    controllers: [helloController],
    start: (client) => client.create(ConfigMaps, { metadata: { namespace, name: 'ada', labels: { greet: 'Ada' } } }),
    commands: ['kubectl get configmap ada -o yaml', 'kubectl label configmap ada greet=Grace --overwrite'],
  },
  'sample-controller': {
    controllers: [fooController],
    resources: [Foos],
    start: (client) =>
      client.create(Foos, { metadata: { namespace, name: 'example' }, spec: { deploymentName: 'web', replicas: 2 } }),
    commands: ['kubectl get foos,deployments,pods', 'kubectl scale deployment web --replicas=5; kubectl get pods -w'],
  },
  'namespace-ttl': {
    controllers: [namespaceTtlController],
    start: (client) =>
      client.create(Namespaces, {
        metadata: { name: 'preview', annotations: { 'namespace-ttl.example.com/expires-after': '3s' } },
      }),
    commands: [
      'kubectl get namespaces -w',
      'kubectl annotate namespace default namespace-ttl.example.com/expires-after=7d',
    ],
  },
};
const kubernetes = [
  'deployment-controller',
  'replicaset-controller',
  'namespace-controller',
  'garbage-collector-controller',
];

const name = process.argv[2] ?? '';
const example = Object.hasOwn(examples, name) ? examples[name] : undefined;
if (example === undefined) {
  console.error(`usage: npm run example NAME, where NAME is one of ${Object.keys(examples).join(', ')}`);
  process.exit(2);
}
using stop = stopOnSignals();
await using cluster = await startTestCluster({
  server: 'sandbox',
  nodes: 2,
  resources: example.resources,
  controllers: [...(example.controllers ?? []), ...kubernetes],
});
await example.start(cluster.client);
console.log(`\nIn another terminal:\n\n  export KUBECONFIG=${cluster.kubeconfig}`);
for (const command of example.commands) console.log(`  ${command}`);
console.log('\nEvents, until Ctrl-C:\n');
try {
  const from = { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan', allowWatchBookmarks: true } as const;
  for await (const event of cluster.client.raw.watch(CoreEvents, from, stop.signal)) {
    if (event.type !== 'ADDED') continue;
    const { involvedObject, reason, message } = event.object;
    console.log(`  ${involvedObject.kind} ${involvedObject.name}: ${reason}: ${message}`);
  }
} catch (error) {
  if (!stop.signal.aborted) throw error;
}
