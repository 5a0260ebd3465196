import { describe, expect, test } from 'vitest';

import type { Cached, EndpointSlice, Node, Pod, Unsaved } from '../../pkg/api/index.ts';
import { portMapKey, portResolver } from '../../pkg/endpoints/index.ts';
import { frozen, node, pod, runningStatus, service } from '../../test/support/builders.ts';
import { seededRandom } from '../../test/support/random.ts';
import { planFamily, type Plan, type Snapshot } from './plan.ts';

const web = frozen(
  service({ name: 'web', spec: { ports: [{ name: 'http', port: 80, protocol: 'TCP', targetPort: 'http' }] } }),
);
const onlyNode: Cached<Node> = frozen(node({ name: 'node', labels: { 'topology.kubernetes.io/zone': 'zone-a' } }));

function podOf(index: number, containerPort: number, ready: boolean): Cached<Pod> {
  const ip = `10.0.${index >> 8}.${index & 255}`;
  const containers = [{ name: 'app', image: 'example', ports: [{ name: 'http', containerPort }] }];
  return frozen(
    pod({
      name: `pod-${index}`,
      labels: { app: 'web' },
      spec: { containers, nodeName: 'node' },
      status: runningStatus({ ready, podIP: ip, podIPs: [{ ip }] }),
    }),
  );
}

/** A Service, its pods and its stored slices. */
class World {
  readonly pods = new Map<number, Cached<Pod>>();
  readonly maxPerSlice: number;
  slices: readonly Cached<EndpointSlice>[] = [];
  #next = 0;

  constructor(maxPerSlice: number) {
    this.maxPerSlice = maxPerSlice;
  }

  plan(fields: Partial<Snapshot> = {}): Plan {
    return planFamily({
      service: web,
      family: 'IPv4',
      pods: [...this.pods.values()],
      nodes: new Map([[onlyNode.metadata.name, onlyNode]]),
      existing: this.slices,
      maxPerSlice: this.maxPerSlice,
      triggerTime: undefined,
      trafficDistribution: undefined,
      shares: undefined,
      hadHints: false,
      ...fields,
    });
  }

  apply({ changes }: Plan): void {
    const gone = new Set(changes.delete.map(({ metadata }) => metadata.name));
    const byName = new Map(this.slices.map((slice) => [slice.metadata.name, slice]));
    for (const name of gone) byName.delete(name);
    for (const slice of [...changes.update, ...changes.create]) {
      const name = slice.metadata.name ?? `web-${(this.#next += 1)}`;
      byName.set(name, stored(slice, name));
    }
    this.slices = [...byName.values()];
  }
}

function stored(slice: Unsaved<EndpointSlice>, name: string): Cached<EndpointSlice> {
  const saved = { uid: `uid-${name}`, resourceVersion: '1', creationTimestamp: '' };
  const metadata = { ...slice.metadata, ...saved, name };
  return frozen(structuredClone({ ...slice, metadata }));
}

/** Adds and removes pods, changes their readiness, and replaces pods by pods with another port number. */
function churn({ pods }: World, random: () => number, nextIndex: () => number): void {
  const changes = 1 + Math.floor(random() * random() * 40);
  for (let count = 0; count < changes; count += 1) {
    const known = [...pods.keys()];
    const index = known[Math.floor(random() * known.length)];
    const dice = random();
    const containerPort = random() < 0.85 ? 8080 : 9090;
    if (dice < 0.45 || index === undefined) {
      const added = nextIndex();
      pods.set(added, podOf(added, containerPort, random() < 0.7));
    } else if (dice < 0.8) pods.delete(index);
    else pods.set(index, podOf(index, containerPort, random() < 0.5));
  }
}

describe('with random changes of pods', () => {
  for (const [seed, maxPerSlice] of [
    [1, 1],
    [2, 3],
    [3, 10],
    [4, 100],
  ] as const) {
    test(`endpoints stay in slices of at most ${maxPerSlice}, with no more writes than necessary`, () => {
      const random = seededRandom(seed);
      const world = new World(maxPerSlice);
      let index = 0;
      for (let step = 0; step < 150; step += 1) {
        churn(world, random, () => (index += 1));
        const before = world.slices;
        const plan = world.plan();
        expectFewWrites(plan, before, world);
        world.apply(plan);
        expectExactly(world);
        const { create, update, delete: remove } = world.plan().changes;
        expect([create, update, remove], 'a second look finds nothing to do').toEqual([[], [], []]);
      }
    });
  }
});

/** Every pod is in one slice, that of its ports; none is over the limit, and none is empty but the placeholder. */
function expectExactly({ pods, slices, maxPerSlice }: World): void {
  const portsOf = portResolver(web);
  const wanted = [...pods.values()].map((each) => `${each.metadata.name} ${portsOf(each).key}`);
  const found = slices.flatMap(({ endpoints, ports }) =>
    (endpoints ?? []).map(({ targetRef }) => `${targetRef?.name ?? ''} ${portMapKey(ports)}`),
  );
  expect(found.toSorted()).toEqual(wanted.toSorted());
  const sizes = slices.map(({ endpoints }) => endpoints?.length ?? 0);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(maxPerSlice);
  expect(sizes.every((size) => size > 0) || (pods.size === 0 && slices.length === 1)).toBe(true);
}

/** The policy: slices whose endpoints change are written, new ones fill those first, and what is left one more or new ones. */
function expectFewWrites({ changes, added }: Plan, before: readonly Cached<EndpointSlice>[], world: World): void {
  const portsOf = portResolver(web);
  const wanted = new Map(
    [...world.pods.values()].map((each) => [`${each.metadata.name} ${portsOf(each).key}`, isReady(each)]),
  );
  const touched = before.filter(({ endpoints, ports }) => {
    const names = (endpoints ?? []).map(({ targetRef, conditions }) => ({
      id: `${targetRef?.name ?? ''} ${portMapKey(ports)}`,
      ready: conditions?.ready,
    }));
    return names.length === 0 || names.some(({ id, ready }) => wanted.get(id) !== ready);
  }).length;
  const portMaps = 2;
  const writes = changes.create.length + changes.update.length + changes.delete.length;
  const placeholder = 1;
  expect(writes).toBeLessThanOrEqual(touched + Math.ceil(added / world.maxPerSlice) + portMaps + placeholder);
  const room = (slice: Unsaved<EndpointSlice>): number => world.maxPerSlice - (slice.endpoints?.length ?? 0);
  const roomy = changes.create.filter((slice) => room(slice) > 0).length;
  expect(roomy, 'new slices are full, but for the last of each combination of ports').toBeLessThanOrEqual(portMaps);
}

const isReady = ({ status }: Cached<Pod>): boolean =>
  status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') === true;

test('one changed pod of five thousand is one write', () => {
  const world = new World(100);
  for (let index = 0; index < 5000; index += 1) world.pods.set(index, podOf(index, 8080, true));
  world.apply(world.plan());
  expect(world.slices).toHaveLength(50);
  world.pods.set(1234, podOf(1234, 8080, false));
  const { create, update, delete: remove } = world.plan().changes;
  expect([create.length, update.length, remove.length]).toEqual([0, 1, 0]);
});
