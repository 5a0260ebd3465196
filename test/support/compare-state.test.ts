import { describe, expect, test } from 'vitest';
import {
  CoreEvents,
  type Deployment,
  Deployments,
  EndpointSlices,
  Jobs,
  PodGroups,
  Pods,
  type ReplicaSet,
  ReplicaSets,
  Services,
  type UntypedObject,
  Workloads,
} from '../../pkg/api/index.ts';
import { build, deployment, endpointSlice, job, pod, replicaSet, runningStatus, service } from './builders.ts';
import { compareStates, dumped, type State } from './compare-state.ts';
import type { DumpedObject } from './compare-symbols.ts';

/** All values that are random or set by the server in a run. */
interface Chance {
  readonly namespace: string;
  readonly hashes: readonly [string, string];
  readonly suffixes: readonly string[];
  readonly uid: number;
  readonly time: string;
  readonly ip: string;
  readonly node: string;
  readonly zone: string;
}

const first: Chance = {
  namespace: 'test-1a2b',
  hashes: ['5d8f7b6c9', '7c9d8b5f4'],
  suffixes: ['x7k2p', 'm4n5b', 'q8w9r'],
  uid: 1,
  time: '2026-01-01T00:00:00Z',
  ip: '10.128.0.',
  node: 'hollow-node-1',
  zone: 'zone-a',
};
const second: Chance = {
  namespace: 'test-9f8e',
  hashes: ['84bcd6fd5', '6f6f6f6f6'],
  suffixes: ['zzzzz', 'b2c4d', 'aaaaa'],
  uid: 2,
  time: '2026-02-03T04:05:06Z',
  ip: '10.129.7.',
  node: 'hollow-node-17',
  zone: 'zone-c',
};

/** A Deployment in the middle of a rollout: two ReplicaSets, three pods, a Service with its slice, events. */
function rollout(chance: Chance): State {
  const { namespace, hashes, suffixes, time } = chance;
  let created = 0;
  const meta = () => ({
    uid: `0000000${chance.uid}-0000-4000-8000-${String(++created).padStart(12, '0')}`,
    resourceVersion: String(created * chance.uid),
    creationTimestamp: time,
  });
  const web = deployment({
    name: 'web',
    namespace,
    metadata: meta(),
    status: {
      replicas: 3,
      conditions: [
        {
          type: 'Progressing',
          status: 'True',
          reason: 'ReplicaSetUpdated',
          message: `ReplicaSet "web-${hashes[1]}" is progressing.`,
          lastUpdateTime: time,
        },
        { type: 'Available', status: 'True', lastTransitionTime: time },
      ],
    },
  });
  const sets = hashes.map((hash, index) => ownedSet(web, hash, index + 1, meta()));
  const pods = suffixes.map((suffix, index) => {
    const owner = sets[index === 0 ? 0 : 1] ?? web;
    const hash = hashes[index === 0 ? 0 : 1];
    const podIP = `${chance.ip}${index + 1}`;
    return pod({
      name: `${owner.metadata.name}-${suffix}`,
      namespace,
      labels: { app: 'web', 'pod-template-hash': hash, 'topology.kubernetes.io/zone': chance.zone },
      owner: { kind: ReplicaSets, object: owner },
      metadata: { ...meta(), generateName: `${owner.metadata.name}-` },
      spec: { nodeName: chance.node, volumes: [{ name: `kube-api-access-${suffix}` }] },
      status: { ...runningStatus(), podIP, podIPs: [{ ip: podIP }], startTime: time },
    });
  });
  const clusterIP = `10.96.0.${chance.uid}`;
  const svc = service({ name: 'web', namespace, metadata: meta(), spec: { clusterIP, clusterIPs: [clusterIP] } });
  const slice = endpointSlice(
    {
      name: `web-${suffixes[2]}`,
      namespace,
      metadata: { ...meta(), generateName: 'web-' },
      owner: { kind: Services, object: svc },
    },
    {
      endpoints: pods
        .map(({ metadata, status }) => ({
          addresses: [status?.podIP ?? ''],
          nodeName: chance.node,
          targetRef: { kind: 'Pod', name: metadata.name, uid: metadata.uid },
        }))
        .toSorted((a, b) => (a.targetRef.name < b.targetRef.name ? -1 : 1)),
    },
  );
  const event = (about: UntypedObject | Deployment | ReplicaSet, reason: string, message: string, count = 1) =>
    build(
      CoreEvents,
      { name: `${about.metadata.name}.${suffixes[0]}${reason}${count}`, namespace, metadata: meta() },
      {
        type: 'Normal',
        reason,
        message,
        count,
        involvedObject: { kind: about.kind, name: about.metadata.name, uid: about.metadata.uid, namespace },
        source: { component: 'some-controller' },
        firstTimestamp: time,
      },
    );
  const [oldSet = web] = sets;
  return {
    namespace,
    objects: [
      dumped(Deployments, web),
      ...sets.map((set) => dumped(ReplicaSets, set)),
      ...pods.map((each) => dumped(Pods, each)),
      dumped(Services, svc),
      dumped(EndpointSlices, slice),
      dumped(CoreEvents, event(web, 'ScalingReplicaSet', `Scaled up replica set web-${hashes[1]} from 0 to 2`)),
      dumped(CoreEvents, event(web, 'ScalingReplicaSet', `Scaled down replica set web-${suffixes[1]}99 from 1 to 0`)),
      dumped(CoreEvents, event(oldSet, 'SuccessfulDelete', `Deleted pod: web-${hashes[0]}-${suffixes[1]}`, chance.uid)),
    ],
  };
}

function ownedSet(owner: Deployment, hash: string, revision: number, metadata: object): ReplicaSet {
  const labels = { app: 'web', 'pod-template-hash': hash };
  return replicaSet({
    name: `web-${hash}`,
    namespace: owner.metadata.namespace,
    labels,
    annotations: { 'deployment.kubernetes.io/revision': String(revision) },
    owner: { kind: Deployments, object: owner },
    metadata,
    spec: { selector: { matchLabels: labels }, replicas: revision },
  });
}

type Path = readonly (string | number)[];

/** Every leaf of an object. */
function* leavesOf(value: unknown, path: Path = []): Generator<{ readonly path: Path; readonly leaf: unknown }> {
  if (typeof value !== 'object' || value === null) yield { path, leaf: value };
  else if (Array.isArray(value)) for (const [index, item] of value.entries()) yield* leavesOf(item, [...path, index]);
  else for (const [name, field] of Object.entries(value)) yield* leavesOf(field, [...path, name]);
}

/** Another value for a leaf, or no value. */
function othersThan(leaf: unknown): unknown[] {
  if (typeof leaf === 'number') return [leaf + 1, undefined];
  return [typeof leaf === 'boolean' ? !leaf : 'something else', undefined];
}

/** A copy in which one leaf has another value or is absent. */
function changed(value: unknown, [step, ...rest]: Path, leaf: unknown): unknown {
  if (step === undefined) return leaf;
  if (Array.isArray(value)) {
    const items = value.map((item, index) => (index === step ? changed(item, rest, leaf) : item));
    return items.filter((item) => item !== undefined);
  }
  const fields = Object.entries({ ...(value as object) }).map(([name, field]) => [
    name,
    name === step ? changed(field, rest, leaf) : field,
  ]);
  return Object.fromEntries(fields.filter(([, field]) => field !== undefined));
}

function withObject(state: State, index: number, object: unknown): State {
  const objects = state.objects.map((dumped, at): DumpedObject =>
    at === index ? { ...dumped, object: object as UntypedObject } : dumped,
  );
  return { ...state, objects };
}

describe('compareStates', () => {
  const state = rollout(first);

  test('finds no difference between a state and itself', () => {
    expect(compareStates(state, state, { eventCounts: true })).toEqual([]);
  });

  test('finds no difference between two runs that differ in names, uids, times, addresses and order', () => {
    const other = rollout(second);
    expect(compareStates(state, { ...other, objects: other.objects.toReversed() })).toEqual([]);
  });

  test('counts events when asked to', () => {
    expect(compareStates(state, rollout(second), { eventCounts: true })).toEqual([
      'Event ReplicaSet web-{hash:1} Normal SuccessfulDelete (some-controller) Deleted pod: web-{hash:1}-{random}: a 1 times, b 2 times',
    ]);
  });

  test('counts a combined event as one of the events that it combines', () => {
    const index = state.objects.findIndex(({ kind }) => kind === 'Event');
    const event = state.objects[index];
    const message = `(combined from similar events): ${String(event?.object['message'])}`;
    const others = { ...event?.object, message, reportingComponent: '' }; // its name is in the source only
    const repeated = { ...state, objects: [...state.objects, { ...event, object: others }] };
    expect(compareStates(state, repeated as State)).toEqual([]);
  });

  test('names the object and the path of a difference', () => {
    const other = rollout(second);
    const index = other.objects.findIndex(({ kind }) => kind === 'ReplicaSet');
    const scaled = changed(other.objects[index]?.object, ['spec', 'replicas'], 7);
    expect(compareStates(state, withObject(other, index, scaled), { names: ['ours', 'go'] })).toEqual([
      'ReplicaSet web-{hash:1}: spec.replicas: ours 1, go 7',
    ]);
  });

  test('names a condition by its type', () => {
    const other = rollout(second);
    const index = other.objects.findIndex(({ kind }) => kind === 'Deployment');
    const doubtful = changed(other.objects[index]?.object, ['status', 'conditions', 1, 'status'], 'False');
    expect(compareStates(state, withObject(other, index, doubtful))).toEqual([
      'Deployment web: status.conditions[type=Available].status: a "True", b "False"',
    ]);
  });

  test('reports every missing object', () => {
    const other = rollout(second);
    for (const [index, { kind }] of other.objects.entries()) {
      const fewer = { ...other, objects: other.objects.filter((_, at) => at !== index) };
      expect({ kind, differences: compareStates(state, fewer).length > 0 }).toEqual({ kind, differences: true });
    }
  });

  test('reports every field that has another value or is gone, whichever object it is in', () => {
    const other = rollout(second);
    const changes = other.objects.flatMap(({ kind, object }, index) =>
      [...leavesOf(object)]
        .filter(({ path }) => !isLeftToChance(kind, path))
        .flatMap(({ path, leaf }) => othersThan(leaf).map((value) => ({ kind, object, index, path, value }))),
    );
    const silent = changes
      .filter(({ object, index, path, value }) => {
        const edited = withObject(other, index, changed(object, path, value));
        return compareStates(state, edited).length === 0;
      })
      .map(({ kind, path, value }) => `${kind} ${path.join('.')} ${String(value)}`);
    expect(changes.length).toBeGreaterThan(500);
    expect(silent).toEqual([]);
  });

  test('ignores the given paths, and no others', () => {
    const other = rollout(second);
    const index = other.objects.findIndex(({ kind }) => kind === 'ReplicaSet');
    const object = other.objects[index]?.object;
    const scaled = changed(changed(object, ['spec', 'replicas'], 7), ['metadata', 'generation'], 5);
    const differences = compareStates(state, withObject(other, index, scaled), { ignore: ['*:metadata.generation'] });
    expect(differences).toEqual(['ReplicaSet web-{hash:1}: spec.replicas: a 1, b 7']);
  });

  test('numbers hashed names within their kind, whatever the order of the hashes', () => {
    const gang = (workload: string, group: string): State => {
      const owner = job({ name: 'gang' });
      const ofJob = { kind: Jobs, object: owner };
      const template = { workload: { workloadName: workload, podGroupTemplateName: 'gang' } };
      const spec = { podGroupTemplateRef: template, schedulingPolicy: {} };
      return {
        namespace: 'default',
        objects: [
          dumped(Jobs, owner),
          dumped(Workloads, build(Workloads, { name: workload, owner: ofJob }, { spec: { podGroupTemplates: [] } })),
          dumped(PodGroups, build(PodGroups, { name: group, owner: ofJob }, { spec })),
        ],
      };
    };
    expect(compareStates(gang('gang-111', 'gang-222'), gang('gang-444', 'gang-333'))).toEqual([]);
  });

  test('distinguishes the pods of two ReplicaSets', () => {
    const other = rollout(second);
    const index = other.objects.findIndex(({ kind }) => kind === 'Pod');
    const newer = other.objects.filter(({ kind }) => kind === 'ReplicaSet')[1]?.object.metadata;
    const object = other.objects[index]?.object;
    const stolen = changed(
      changed(object, ['metadata', 'ownerReferences', 0, 'uid'], newer?.uid),
      ['metadata', 'ownerReferences', 0, 'name'],
      newer?.name,
    );
    expect(compareStates(state, withObject(other, index, stolen))).not.toEqual([]);
  });
});

/** Fields that may differ. Other tests cover how they are compared. */
function isLeftToChance(kind: string, path: Path): boolean {
  const [section, field] = path;
  if (section === 'metadata' && ['name', 'uid', 'resourceVersion'].includes(String(field))) return true;
  if (section === 'spec' && field === 'nodeName') return true;
  if (kind === 'Pod' && path[2] === 'topology.kubernetes.io/zone') return true;
  if (kind !== 'Event') return false;
  return (
    section === 'metadata' ||
    ['count', 'firstTimestamp', 'apiVersion', 'kind'].includes(String(section)) ||
    (section === 'involvedObject' && (field === 'uid' || field === 'namespace'))
  );
}
