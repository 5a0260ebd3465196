import { describe, expect, test } from 'vitest';

import {
  deployment,
  endpointSlice,
  node,
  pod,
  replicaSet,
  service,
  creationTime,
} from '../../test/support/builders.ts';
import { FakeCaches } from '../../test/support/fake-caches.ts';
import {
  Deployments,
  EndpointSlices,
  EndpointsKind,
  keyOf,
  metadataOf,
  Nodes,
  objectKey,
  Pods,
  ReplicaSets,
  Services,
  type Kind,
  type KubeObject,
} from '../api/index.ts';
import { composeObjectPage, findObject } from './object-page.ts';
import type { ObjectPage } from './protocol.ts';
import { formatWait } from './text.ts';

const web = deployment({ name: 'web' });
const set = replicaSet({ name: 'web-1', owner: { kind: Deployments, object: web } });
const first = pod({ name: 'web-1-a', owner: { kind: ReplicaSets, object: set } });
const front = service({ name: 'front' });
const toFront = { apiVersion: 'v1', kind: 'Service', name: 'front', uid: front.metadata.uid };
const slice = endpointSlice({ name: 'front-x', metadata: { ownerReferences: [toFront] } });

function fill(): FakeCaches {
  const caches = new FakeCaches();
  caches.set(metadataOf(Pods), { metadata: first.metadata });
  caches.set(Pods, first);
  caches.set(ReplicaSets, set);
  caches.set(Deployments, web);
  caches.set(Nodes, node({ name: 'node-1' }));
  caches.set(Services, front);
  caches.set(EndpointSlices, slice);
  caches.set(EndpointsKind);
  return caches;
}

function pageOf(kind: Kind, object: KubeObject, caches = fill()): ObjectPage {
  const { namespace, name } = object.metadata;
  const facts = { waits: [], history: [], events: [], recordedSinceMs: 0 };
  return composeObjectPage(caches, { kind, key: keyOf(object), namespace, name }, facts);
}

describe('findObject', () => {
  const rows = [
    { resource: 'deployments.apps', expected: { kind: Deployments, key: 'default/web', namespace: 'default' } },
    { resource: 'deployments', expected: { kind: Deployments } },
    { resource: 'deployment', expected: { kind: Deployments } },
    { resource: 'Deployment', expected: { kind: Deployments } },
    { resource: 'endpoints', expected: { kind: EndpointsKind } },
    { resource: 'nodes', expected: { kind: Nodes, key: objectKey(undefined, 'web'), namespace: undefined } },
  ];
  for (const { resource, expected } of rows) {
    test(resource, () => expect(findObject(fill(), resource, 'default', 'web')).toMatchObject(expected));
  }
  for (const resource of ['secrets', 'statefulsets.apps', 'deployments.extensions', '', '__proto__']) {
    test(`${resource || 'no name'} is none that is cached`, () =>
      expect(findObject(fill(), resource, 'default', 'web')).toBeUndefined());
  }
  test('a hyphen is no namespace', () =>
    expect(findObject(fill(), 'nodes', '-', 'node-1')).toMatchObject({ key: 'node-1', namespace: undefined }));
});

describe('the page', () => {
  const names = (items: readonly { readonly name: string }[]): readonly string[] => items.map(({ name }) => name);

  test('has the owners up to the root', () => {
    expect(names(pageOf(Pods, first).owners)).toEqual(['web-1', 'web']);
    expect(pageOf(Deployments, web).owners).toEqual([]);
  });

  test('has what the object owns, one level down', () => {
    expect(names(pageOf(Deployments, web).owned)).toEqual(['web-1']);
    expect(names(pageOf(ReplicaSets, set).owned)).toEqual(['web-1-a']);
    expect(names(pageOf(Services, front).owned)).toEqual(['front-x']);
  });

  test('does not take an object of the same name for the owner', () => {
    const caches = fill();
    caches.set(ReplicaSets, replicaSet({ name: 'web-1', metadata: { uid: 'another' } }));
    expect(pageOf(Pods, first, caches).owners).toEqual([]);
  });

  test('ends at owners that own each other', () => {
    const caches = new FakeCaches();
    const self = pod({ name: 'a' });
    const owned = replicaSet({ name: 'a' });
    const looped = replicaSet({ name: 'a', owner: { kind: ReplicaSets, object: owned } });
    caches.set(ReplicaSets, looped);
    expect(pageOf(ReplicaSets, looped, caches).owners).toHaveLength(8);
    expect(pageOf(Pods, self, caches).exists).toBe(false);
  });

  test('has at most 200 owned objects', () => {
    const caches = fill();
    const owner = { kind: ReplicaSets, object: set };
    caches.set(Pods, ...Array.from({ length: 300 }, (_, index) => pod({ name: `p-${index}`, owner })));
    expect(pageOf(ReplicaSets, set, caches).owned).toHaveLength(200);
  });

  test('has generations and conditions, whatever their fields are', () => {
    const caches = fill();
    const since = creationTime;
    const good = { type: 'Available', status: 'True', reason: 'r', message: 'm', lastTransitionTime: since };
    const odd = { type: 'Odd', status: 'False', reason: null, lastTransitionTime: 7 };
    const status = { observedGeneration: 2, conditions: [good, odd, null, 'text'] };
    caches.set(Services, { ...front, status } as never);
    expect(pageOf(Services, front, caches)).toMatchObject({
      generation: 1,
      observedGeneration: 2,
      conditions: [
        { type: 'Available', status: 'True', reason: 'r', message: 'm', since },
        { type: 'Odd', status: 'False', reason: '', message: '', since: '' },
      ],
    });
  });

  for (const status of [undefined, null, {}, { conditions: null }, { conditions: 'many', observedGeneration: null }]) {
    test(`may have a status of ${JSON.stringify(status) ?? 'undefined'}`, () => {
      const caches = fill();
      caches.set(Services, { ...front, status } as never);
      expect(pageOf(Services, front, caches)).toMatchObject({ exists: true, conditions: [] });
    });
  }

  test('says that an object is not in the cache', () => {
    const page = pageOf(Pods, pod({ name: 'none' }));
    expect(page).toMatchObject({ exists: false, state: 'ended', text: 'not in the cache', owned: [] });
  });
});

describe('a wait in words', () => {
  const rows = [
    { wait: { state: 'waiting', ms: 0, retries: 0 }, expected: 'in the queue of job' },
    { wait: { state: 'delayed', ms: 1500.4, retries: 3 }, expected: 'job syncs it in 1.5s, after 3 failures' },
    { wait: { state: 'delayed', ms: -2, retries: 0 }, expected: 'job syncs it in 0s' },
    { wait: { state: 'running', ms: 20_000, retries: 0 }, expected: 'job syncs it since 20s' },
  ] as const;
  for (const { wait, expected } of rows) {
    test(expected, () => expect(formatWait({ controller: 'job', ...wait })).toBe(expected));
  }
});
