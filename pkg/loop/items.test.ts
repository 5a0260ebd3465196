import { describe, expect, test } from 'vitest';

import {
  configMap,
  creationTime,
  deployment,
  endpointSlice,
  frozen,
  node,
  pod,
  replicaSet,
  replicationController,
  runningStatus,
  secret,
  service,
} from '../../test/support/builders.ts';
import {
  ConfigMaps,
  Deployments,
  EndpointSlices,
  metadataOf,
  Namespaces,
  Nodes,
  Pods,
  ReplicaSets,
  ReplicationControllers,
  resourceName,
  Secrets,
  Services,
  type Cached,
  type Kind,
  type KubeObject,
} from '../api/index.ts';
import { isShown, itemOf, shownKinds } from './items.ts';
import type { Filter, Item } from './protocol.ts';

const owner = { kind: ReplicaSets, object: replicaSet({ name: 'web-1' }) };
const reference = { apiVersion: 'v1', kind: 'Service', name: 'web', uid: 'uid-service-default-web' };
const target = (uid?: string): object => ({ addresses: ['10.0.0.1'], targetRef: { kind: 'Pod', name: 'a', uid } });

const rows: readonly {
  readonly name: string;
  readonly kind: Kind;
  readonly object: object;
  readonly expected: Item;
}[] = [
  {
    name: 'a pod has its owner and its node',
    kind: Pods,
    object: pod({ name: 'web-1-a', owner, spec: { nodeName: 'node-1' }, status: runningStatus() }),
    expected: {
      id: 'uid-pod-default-web-1-a',
      kind: 'Pod',
      resource: 'pods',
      namespace: 'default',
      name: 'web-1-a',
      owner: 'uid-replicaset-default-web-1',
      state: 'good',
      text: 'ready',
      node: 'node-1',
    },
  },
  {
    name: 'a pod without owner and node has neither field',
    kind: Pods,
    object: pod({ name: 'a' }),
    expected: {
      id: 'uid-pod-default-a',
      kind: 'Pod',
      resource: 'pods',
      namespace: 'default',
      name: 'a',
      state: 'busy',
      text: 'pending',
    },
  },
  {
    name: 'a node has no namespace',
    kind: Nodes,
    object: node({ name: 'node-1' }),
    expected: { id: 'uid-node-node-1', kind: 'Node', resource: 'nodes', name: 'node-1', state: 'good', text: 'ready' },
  },
  {
    name: 'a slice belongs to its Service, and has the uids of its pods',
    kind: EndpointSlices,
    object: {
      ...endpointSlice({ name: 'web-x', metadata: { ownerReferences: [reference] } }),
      endpoints: [target('uid-1'), target(), { addresses: [], targetRef: null }, {}],
    },
    expected: {
      id: 'uid-endpointslice-default-web-x',
      kind: 'EndpointSlice',
      resource: 'endpointslices.discovery.k8s.io',
      namespace: 'default',
      name: 'web-x',
      owner: 'uid-service-default-web',
      state: 'good',
      text: '4 of 4 ready',
      targets: ['uid-1'],
    },
  },
  {
    name: 'a ReplicationController is shown like a ReplicaSet',
    kind: ReplicationControllers,
    object: replicationController({ name: 'a' }),
    expected: {
      id: 'uid-replicationcontroller-default-a',
      kind: 'ReplicationController',
      resource: 'replicationcontrollers',
      namespace: 'default',
      name: 'a',
      state: 'busy',
      text: '0 of 1 ready',
    },
  },
];

const cached = (object: object): Cached<KubeObject> => frozen(object) as Cached<KubeObject>;

describe('itemOf', () => {
  for (const { name, kind, object, expected } of rows) {
    test(name, () => expect(itemOf(kind, cached(object))).toEqual(expected));
  }

  const plainRows = [
    { name: 'exists', kind: ConfigMaps, object: configMap(), state: 'good', text: 'exists' },
    {
      name: 'is told with its phase',
      kind: Namespaces,
      object: { ...configMap(), status: { phase: 'Active' } },
      state: 'good',
      text: 'Active',
    },
    {
      name: 'may have a status of null',
      kind: ConfigMaps,
      object: { ...configMap(), status: null },
      state: 'good',
      text: 'exists',
    },
    {
      name: 'may have a phase of null',
      kind: ConfigMaps,
      object: { ...configMap(), status: { phase: null } },
      state: 'good',
      text: 'exists',
    },
    {
      name: 'is terminating',
      kind: ConfigMaps,
      object: configMap({ metadata: { deletionTimestamp: creationTime } }),
      state: 'busy',
      text: 'terminating',
    },
    {
      name: 'has no details if only its metadata is cached',
      kind: metadataOf(Pods),
      object: { metadata: pod().metadata },
      state: 'good',
      text: 'exists',
    },
  ];
  for (const { name, kind, object, state, text } of plainRows) {
    test(`an object of any kind ${name}`, () => expect(itemOf(kind, cached(object))).toMatchObject({ state, text }));
  }

  test('the contents of a Secret are no part of its item', () => {
    const item = itemOf(Secrets, cached(secret({ name: 'a' }, { data: { key: 'c2VzYW1l' } })));
    expect(JSON.stringify(item)).not.toContain('c2VzYW1l');
    expect(item.name).toBe('a');
  });
});

test('owners come before what they own, each kind once', () => {
  const resources = shownKinds.map(({ kind }) => resourceName(kind));
  expect(new Set(resources).size).toBe(resources.length);
  const place = (kind: Kind): number => resources.indexOf(resourceName(kind));
  for (const [before, after] of [
    [Deployments, ReplicaSets],
    [ReplicaSets, Pods],
    [Services, EndpointSlices],
    [Nodes, Pods],
  ] as const) {
    expect(place(before)).toBeLessThan(place(after));
  }
});

const filters: readonly { readonly filter: Filter; readonly shown: readonly string[] }[] = [
  { filter: {}, shown: ['node-1', 'web', 'api', 'web-a'] },
  { filter: { namespace: '', kind: '', name: '' }, shown: ['node-1', 'web', 'api', 'web-a'] },
  { filter: { namespace: 'shop' }, shown: ['node-1', 'api', 'web-a'] },
  { filter: { namespace: 'none' }, shown: ['node-1'] },
  { filter: { kind: 'Deployment' }, shown: ['web', 'api'] },
  { filter: { kind: 'deployment' }, shown: [] },
  { filter: { name: 'web' }, shown: ['web', 'web-a'] },
  { filter: { namespace: 'shop', kind: 'Deployment', name: 'a' }, shown: ['api'] },
];

describe('isShown', () => {
  const objects: readonly (readonly [Kind, KubeObject])[] = [
    [Nodes, node({ name: 'node-1' })],
    [Deployments, deployment({ name: 'web' })],
    [Deployments, deployment({ name: 'api', namespace: 'shop' })],
    [Pods, pod({ name: 'web-a', namespace: 'shop' })],
  ];
  for (const { filter, shown } of filters) {
    test(`${JSON.stringify(filter)} shows ${shown.join(', ') || 'nothing'}`, () => {
      const passed = objects.filter(([kind, object]) => isShown(kind, cached(object), filter));
      expect(passed.map(([, { metadata }]) => metadata.name)).toEqual(shown);
    });
  }
  test('a Service is found by the start of its name', () =>
    expect(isShown(Services, cached(service({ name: 'web' })), { name: 'we' })).toBe(true));
});
