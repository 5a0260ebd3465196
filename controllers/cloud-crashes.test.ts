import { describe, expect, test } from 'vitest';

import { Nodes, objectKey, Services, type Kind } from '../pkg/api/index.ts';
import { CrashingController, writeFaults, type WriteFault } from '../test/support/crash-at-writes.ts';
import { RecordingCloud } from '../test/support/recording-cloud.ts';
import { cloudControllers } from './cloud.ts';

const { signal } = new AbortController();
const uninitialised = { key: 'node.cloudprovider.kubernetes.io/uninitialized', effect: 'NoSchedule' };
const notReady = { conditions: [{ type: 'Ready', status: 'Unknown' }] };

interface Scenario {
  readonly controller: string;
  /** What users do, in steps; the controller works after each. */
  readonly steps: readonly ((server: CrashingController['server'], cloud: RecordingCloud) => unknown)[];
}

const spec = { type: 'LoadBalancer', ports: [{ port: 80 }] };
const service = (name: string) => ({ metadata: { namespace: 'a', name }, spec });

const scenarios: readonly Scenario[] = [
  {
    controller: 'service-lb-controller',
    steps: [
      (server) => ['kept', 'changed', 'deleted'].map((name) => server.seed(Services, service(name))),
      (server) =>
        server.patch(
          Services,
          objectKey('a', 'changed'),
          { type: 'merge', body: { spec: { type: 'ClusterIP' } } },
          signal,
        ),
      (server) => server.delete(Services, objectKey('a', 'deleted'), {}, signal),
      (server) => server.seed(Nodes, { metadata: { name: 'n' }, spec: {} }),
    ],
  },
  {
    controller: 'node-route-controller',
    steps: [
      (server) => server.seed(Nodes, { metadata: { name: 'a' }, spec: { podCIDRs: ['10.0.1.0/24'] } }),
      (_, cloud) => void cloud.routesOfCloud.push({ targetNode: 'gone', destinationCidr: '10.0.9.0/24' }),
      (server) => server.seed(Nodes, { metadata: { name: 'b' }, spec: { podCIDRs: ['10.0.2.0/24'] } }),
    ],
  },
  {
    controller: 'cloud-node-controller',
    steps: [
      (_, cloud) =>
        void cloud.metadata.set('a', {
          providerId: 'x://1',
          zone: 'z',
          nodeAddresses: [{ type: 'InternalIP', address: '10.0.0.1' }],
        }),
      (server) => server.seed(Nodes, { metadata: { name: 'a' }, spec: { taints: [uninitialised] } }),
      (server) =>
        server.seed(Nodes, { metadata: { name: 'b', labels: { 'beta.kubernetes.io/instance-type': 'l' } }, spec: {} }),
    ],
  },
  {
    controller: 'cloud-node-lifecycle-controller',
    steps: [
      (_, cloud) => void cloud.machines.set('off', 'off').set('gone', 'gone'),
      (server) =>
        ['off', 'gone', 'on'].map((name) => server.seed(Nodes, { metadata: { name }, spec: {}, status: notReady })),
      (_, cloud) => void cloud.machines.delete('off'),
      (server) => {
        const body = { status: { conditions: [{ type: 'Ready', status: 'True' }] } };
        return server.patch(Nodes, objectKey(undefined, 'off'), { type: 'merge', subresource: 'status', body }, signal);
      },
    ],
  },
];

/** The objects without the fields that every write or every run changes. */
function stateOf(server: CrashingController['server'], kind: Kind): unknown {
  const isFleeting = /^(resourceVersion|uid|last\w+Time)$/;
  const keep = (name: string, value: unknown): unknown => (isFleeting.test(name) ? undefined : value);
  return JSON.parse(JSON.stringify(server.stored(kind), keep));
}

async function play({ controller, steps }: Scenario, fault?: { readonly at: number; readonly kind: WriteFault }) {
  const cloud = new RecordingCloud();
  const all = cloudControllers(cloud, { clusterCidrs: ['10.0.0.0/16'] });
  const create = () => all.filter(({ name }) => name === controller);
  await using run = new CrashingController(create, fault);
  for (const step of steps) {
    await step(run.server, cloud);
    await run.work();
  }
  const end = {
    services: stateOf(run.server, Services),
    nodes: stateOf(run.server, Nodes),
    balancers: Object.fromEntries(cloud.balancers),
    routes: new Set(cloud.routesOfCloud.map(({ targetNode, destinationCidr }) => `${targetNode} ${destinationCidr}`)),
  };
  return { end, writes: run.writes };
}

for (const scenario of scenarios) {
  describe(`${scenario.controller} reaches the same end state`, () => {
    for (const kind of writeFaults) {
      test(`whichever write meets a ${kind}`, async () => {
        const { end, writes } = await play(scenario);
        expect(writes).toBeGreaterThan(1);
        for (let at = 0; at < writes; at += 1) {
          expect((await play(scenario, { at, kind })).end, `at write ${at}`).toEqual(end);
        }
      });
    }
  });
}
