import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  CoreEvents,
  EndpointsKind,
  EndpointSlices,
  type Endpoint,
  type Endpoints,
  type EndpointSlice,
  type EndpointSubset,
} from '../../pkg/api/index.ts';
import { ClientBuilder, loadKubeconfig } from '../../pkg/client/index.ts';
import { systemClock } from '../../pkg/time/index.ts';
import { dumpState, type State } from '../support/compare-state.ts';
import {
  describeCounted,
  describeCountedEndpoints,
  lastStates,
  runEndpointsScenarios,
} from '../support/endpoints-scenarios.ts';
import { createNodes, EndpointsUser } from '../support/endpoints-user.ts';
import { compareWithGo, runWith, type Scenario } from '../support/side-by-side.ts';
import { useCluster } from './use-cluster.ts';

const cluster = useCluster({
  extraApiServerFlags: ['--service-cluster-ip-range=10.96.0.0/16,fd00:10:96::/112'],
});
const stop = new AbortController();
let clients: ClientBuilder;
let ours: State;
let go: State;

const scenario: Scenario = {
  controllers: ['endpoints-controller', 'endpointslice-controller', 'endpointslice-mirroring-controller'],
  flags: [
    '--kube-api-qps=500',
    '--kube-api-burst=500',
    '--max-endpoints-per-slice=10',
    '--mirroring-max-endpoints-per-subset=3',
  ],
  kinds: [EndpointsKind, EndpointSlices, CoreEvents],
  run: ({ client, namespace }, signal) => runEndpointsScenarios(new EndpointsUser(client, namespace, signal)),
};

beforeAll(async () => {
  const connection = await loadKubeconfig({ path: cluster().kubeconfig() }, systemClock);
  clients = new ClientBuilder({ connection, clock: systemClock, userAgent: 'endpoints-suite' });
  await createNodes(clients.clientFor('nodes'), stop.signal);
  ours = await runWith('ours', cluster(), scenario, stop.signal);
  go = await runWith('go', cluster(), scenario, stop.signal);
});

afterAll(() => {
  stop.abort();
  clients?.close();
});

function objectsOf(state: State, kind: string): unknown[] {
  return state.objects.flatMap((dumped) => (dumped.kind === kind ? [dumped.object] : []));
}

// What was dumped was listed by kind.
const slicesOf = (state: State): EndpointSlice[] => objectsOf(state, 'EndpointSlice') as EndpointSlice[];
const endpointsOf = (state: State): Endpoints[] => objectsOf(state, 'Endpoints') as Endpoints[];

describe('in the end', () => {
  for (const [name, wanted] of Object.entries(lastStates)) {
    if (name.startsWith('/')) {
      test(`the Endpoints of ${name.slice(1)} are as they should be`, () => {
        const found = endpointsOf(ours).filter(({ metadata }) => metadata.name === name.slice(1));
        expect(found.map(describeCountedEndpoints)).toEqual(wanted);
      });
    } else {
      test(`the slices of ${name} are as they should be`, () => {
        const found = slicesOf(ours).filter(({ metadata }) => metadata.labels?.['kubernetes.io/service-name'] === name);
        expect(found.map(describeCounted).sort()).toEqual([...wanted].sort());
      });
    }
  }
});

test('truncated addresses are marked on the Endpoints', () => {
  const huge = endpointsOf(ours).find(({ metadata }) => metadata.name === 'huge');
  expect(huge?.metadata.annotations).toMatchObject({ 'endpoints.kubernetes.io/over-capacity': 'truncated' });
});

test('the Go controller manager reaches the same end state', async () => {
  const ignore = [
    '*:metadata.generation', // counts the writes, and how many changes come together in one is chance
    'Event:*ClusterIPNotAllocated*', // the API server's own
  ];
  const done = [go];
  const runGo = async () => comparable(done.pop() ?? (await runWith('go', cluster(), scenario, stop.signal)));
  expect(await compareWithGo(comparable(ours), runGo, { ignore })).toEqual([]);
});

test('the Go controller manager changes nothing that ours has written', async ({ signal }) => {
  const now = await stateNow(ours, signal); // it ran its own scenario in the meantime
  // It writes truncated Endpoints again whenever it looks at them, with the time of that, but to the same contents. And it
  // takes hints away when it looks at a Service before it has counted the nodes, which is a race at its start.
  const isLeftAlone = (version: string): boolean => !/^Endpoints huge |^EndpointSlice topology-\w{5} /.test(version);
  expect(versionsOf(now).filter(isLeftAlone)).toEqual(versionsOf(ours).filter(isLeftAlone));
  const subsetsOf = (state: State) => endpointsOf(state).find(({ metadata }) => metadata.name === 'huge')?.subsets;
  expect(subsetsOf(now)).toEqual(subsetsOf(ours));
});

test('ours changes nothing that the Go controller manager has written', async ({ signal }) => {
  const run: Scenario['run'] = async ({ client, namespace }) => {
    const user = new EndpointsUser(client, namespace, signal);
    await user.service('last-in-line', { selector: { app: 'nobody' } });
    await user.untilSlices('last-in-line', (slices) => slices.length === 1);
    await user.untilEndpoints('last-in-line', () => true);
  };
  await runWith('ours', cluster(), { ...scenario, run }, signal);
  expect(versionsOf(await stateNow(go, signal))).toEqual(versionsOf(go));
});

function versionsOf({ objects }: State): string[] {
  const stored = objects.filter(({ kind }) => kind !== 'Event');
  return stored.map(({ kind, object: { metadata } }) => `${kind} ${metadata.name} ${metadata.resourceVersion}`).sort();
}

function stateNow({ namespace }: State, signal: AbortSignal): Promise<State> {
  return dumpState(clients.clientFor('reader'), { namespace, kinds: scenario.kinds }, signal);
}

/** Without random parts: the order of endpoints, their assignment to slices, and orders that depend on uids. */
function comparable(state: State): State {
  const objects = state.objects.map((dumped) => {
    const { kind, object } = dumped;
    if (kind === 'Endpoints') return { kind, object: { ...object, ...comparableEndpoints(object) } };
    if (kind !== 'EndpointSlice') return dumped;
    const slice = object as unknown as EndpointSlice;
    const { name } = object.metadata;
    // Slices of mirrored Endpoints lose their generateName at the first update.
    const metadata = { ...object.metadata, generateName: name.replace(/[^-]*$/, '') };
    return { kind, object: { ...object, metadata, endpoints: comparableList(slice) } };
  });
  return { ...state, objects };
}

function comparableList(slice: EndpointSlice): unknown[] | undefined {
  if (describeCounted(slice).endsWith('of many')) return [slice.endpoints?.length];
  const nameOf = ({ targetRef, addresses }: Endpoint): string => targetRef?.name ?? addresses.join();
  return slice.endpoints?.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
}

const triggerTimeAnnotation = 'endpoints.kubernetes.io/last-change-trigger-time';

function comparableEndpoints(endpoints: Endpoints): object {
  const { metadata } = endpoints;
  // A write without a new transition time drops the annotation. The number of syncs for the last pods of `many` is random,
  // and the Go binary writes truncated Endpoints in every sync.
  const { [triggerTimeAnnotation]: _byChance, ...annotations } = metadata.annotations ?? {};
  const untimed = { ...metadata, annotations };
  if (metadata.name === 'many') return { metadata: untimed };
  if (metadata.name === 'huge') return { metadata: untimed, subsets: describeCountedEndpoints(endpoints) };
  const portsOf = ({ ports = [] }: EndpointSubset): string => ports.map(({ port }) => port).join();
  const subsets = endpoints.subsets?.toSorted((a, b) => (portsOf(a) < portsOf(b) ? -1 : 1));
  return subsets === undefined ? {} : { subsets };
}
