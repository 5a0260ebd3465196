import { describe, expect, test } from 'vitest';

import { Services, type Cached, type EndpointSlice, type Pod, type Service } from '../../pkg/api/index.ts';
import {
  endpointSlice,
  frozen,
  node,
  pod,
  runningStatus,
  service,
  type Described,
} from '../../test/support/builders.ts';
import { packEndpoints } from './packing.ts';
import { managedBy, planFamily, type Snapshot } from './plan.ts';
import { endpointOf, familiesOf } from './pod-endpoint.ts';

const zoned = frozen(node({ name: 'node', labels: { 'topology.kubernetes.io/zone': 'zone-a' } }));
const running = (name: string, ip: string, described: Described<Pod> = {}): Cached<Pod> =>
  frozen(
    pod({
      name,
      labels: { app: 'web' },
      status: runningStatus({ podIP: ip, podIPs: [{ ip }] }),
      ...described,
      spec: { nodeName: 'node', ...described.spec },
    }),
  );

function snapshot(fields: Partial<Snapshot> = {}): Snapshot {
  return {
    service: frozen(service({ name: 'web' })),
    family: 'IPv4',
    pods: [],
    nodes: new Map([['node', zoned]]),
    existing: [],
    maxPerSlice: 100,
    triggerTime: '2026-01-01T00:00:05Z',
    trafficDistribution: undefined,
    shares: undefined,
    hadHints: false,
    ...fields,
  };
}

const owner = service({ name: 'web' });
const labels = { 'kubernetes.io/service-name': 'web', 'endpointslice.kubernetes.io/managed-by': managedBy };
const http = [{ name: 'http', port: 8080, protocol: 'TCP' }];
function slice(name: string, fields: Partial<EndpointSlice> = {}, owned: Service = owner): Cached<EndpointSlice> {
  return frozen(endpointSlice({ name, labels, owner: { kind: Services, object: owned } }, { ports: http, ...fields }));
}

describe('the endpoint of a pod', () => {
  const rows = [
    { name: 'is ready and serving', pod: {}, service: {}, conditions: [true, true, false] },
    {
      name: 'is neither if its pod is not ready',
      pod: { ready: false },
      service: {},
      conditions: [false, false, false],
    },
    {
      name: 'is serving but not ready while its pod terminates',
      pod: { going: true },
      service: {},
      conditions: [false, true, true],
    },
    {
      name: 'is always ready with publishNotReadyAddresses',
      pod: { ready: false, going: true },
      service: { publishNotReadyAddresses: true },
      conditions: [true, false, true],
    },
  ];
  for (const {
    name,
    pod: state,
    service: spec,
    conditions: [ready, serving, terminating],
  } of rows) {
    test(name, () => {
      const going = 'going' in state ? { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } } : {};
      const isReady = !('ready' in state);
      const status = runningStatus({ ready: isReady });
      const found = endpointOf(running('a', '', { status, ...going }), zoned, frozen(service({ spec })), 'IPv4');
      expect(found).toMatchObject({ conditions: { ready, serving, terminating }, nodeName: 'node', zone: 'zone-a' });
    });
  }

  test('has only the addresses of the family', () => {
    const status = runningStatus({ podIPs: [{ ip: '10.0.0.1' }, { ip: 'FD00::1' }] });
    const found = (['IPv4', 'IPv6'] as const).map((family) =>
      endpointOf(running('a', '', { status }), zoned, owner, family),
    );
    expect(found.map((endpoint) => endpoint?.addresses)).toEqual([['10.0.0.1'], ['fd00::1']]);
    expect(endpointOf(running('a', '10.0.0.1'), zoned, owner, 'IPv6')).toBeUndefined();
  });

  test('has a hostname if its subdomain is the Service', () => {
    const found = ['web', 'other'].map((subdomain) =>
      endpointOf(running('a', '10.0.0.1', { spec: { hostname: 'zero', subdomain } }), zoned, owner, 'IPv4'),
    );
    expect(found.map((endpoint) => endpoint?.hostname)).toEqual(['zero', undefined]);
  });
});

describe('the families of a Service', () => {
  const rows = [
    { spec: { ipFamilies: ['IPv6', 'IPv4'] }, families: ['IPv4', 'IPv6'] },
    { spec: { ipFamilies: ['IPv6'] }, families: ['IPv6'] },
    { spec: { ipFamilies: undefined, clusterIP: 'fd00::1' }, families: ['IPv6'] },
    { spec: { ipFamilies: undefined, clusterIP: 'None' }, families: ['IPv4', 'IPv6'] },
  ];
  for (const { spec, families } of rows) {
    test(`of ${JSON.stringify(spec)} are ${families.join()}`, () => {
      expect(familiesOf(frozen(service({ spec })))).toEqual(families);
    });
  }
});

describe('planFamily', () => {
  test('writes labels, owner and the time of the change on a new slice', () => {
    const headless = frozen(
      service({ name: 'web', labels: { a: 'b', 'kubernetes.io/service-name': 'no' }, spec: { clusterIP: 'None' } }),
    );
    const { changes } = planFamily(snapshot({ service: headless, pods: [running('a', '10.0.0.1')] }));
    expect(changes.create).toMatchObject([
      {
        metadata: {
          generateName: 'web-',
          labels: { a: 'b', 'service.kubernetes.io/headless': '', ...labels },
          annotations: { 'endpoints.kubernetes.io/last-change-trigger-time': '2026-01-01T00:00:05Z' },
          ownerReferences: [{ kind: 'Service', name: 'web', controller: true, blockOwnerDeletion: true }],
        },
        ports: http,
        addressType: 'IPv4',
      },
    ]);
  });

  test('keeps an empty slice for a Service without endpoints', () => {
    const { changes } = planFamily(snapshot());
    expect(changes.create).toMatchObject([{ endpoints: [], ports: [] }]);
    const again = planFamily(snapshot({ existing: [slice('web-1', { ports: [] })] }));
    expect(again.changes).toEqual({ create: [], update: [], delete: [] });
  });

  test('fills the empty slice first', () => {
    const existing = [slice('web-1', { ports: [] })];
    const { changes } = planFamily(snapshot({ existing, pods: [running('a', '10.0.0.1')] }));
    expect(changes).toMatchObject({
      create: [],
      update: [{ metadata: { name: 'web-1', resourceVersion: '1' } }],
      delete: [],
    });
  });

  test('does not reuse slices of an earlier Service of the same name', () => {
    const earlier = service({ name: 'web', metadata: { uid: 'earlier' } });
    const { changes } = planFamily(
      snapshot({ existing: [slice('web-1', {}, earlier)], pods: [running('a', '10.0.0.1')] }),
    );
    expect([changes.create.length, changes.update.length, changes.delete.length]).toEqual([1, 0, 1]);
  });

  test('creates nothing for a terminating Service', () => {
    const going = frozen(service({ name: 'web', metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } }));
    expect(planFamily(snapshot({ service: going })).changes.create).toEqual([]);
  });

  test('skips pods of unknown nodes with a message', () => {
    const pods = [running('a', '10.0.0.1', { spec: { nodeName: 'gone' } }), running('b', '10.0.0.2')];
    const { changes, skipped } = planFamily(snapshot({ pods }));
    expect(skipped).toEqual(['skipping Pod a for Service default/web: Node gone Not Found']);
    expect(changes.create[0]?.endpoints?.map(({ targetRef }) => targetRef?.name)).toEqual(['b']);
    const all = frozen(service({ name: 'web', spec: { publishNotReadyAddresses: true } }));
    expect(planFamily(snapshot({ service: all, pods })).skipped).toEqual([]);
  });

  test('copies changed labels of the Service, and keeps other metadata of a slice', () => {
    const pods = [running('a', '10.0.0.1')];
    const [first] = planFamily(snapshot({ pods })).changes.create;
    const annotations = { note: 'kept', 'endpoints.kubernetes.io/last-change-trigger-time': 'old' };
    const existing = [
      frozen({
        ...slice('web-1', { endpoints: first?.endpoints ?? [] }),
        metadata: { ...slice('web-1').metadata, annotations },
      }),
    ] as Cached<EndpointSlice>[];
    expect(planFamily(snapshot({ pods, existing })).changes.update).toEqual([]);
    const relabelled = frozen(service({ name: 'web', labels: { tier: 'front' } }));
    const { update } = planFamily(snapshot({ service: relabelled, pods, existing, triggerTime: undefined })).changes;
    expect(update).toMatchObject([{ metadata: { labels: { tier: 'front', ...labels }, resourceVersion: '1' } }]);
    expect(update[0]?.metadata.annotations).toEqual({ note: 'kept' });
  });
});

describe('packEndpoints', () => {
  const endpoint = (name: string) => ({
    addresses: ['10.0.0.1'],
    targetRef: { kind: 'Pod', namespace: 'default', name },
  });
  const names = (text: string) => (text === '' ? [] : text.split(' ').map(endpoint));
  const rows = [
    {
      name: 'fills the fullest slice that is written anyway',
      before: ['a b x', 'c y'],
      desired: 'a b c d',
      after: ['a b d', 'c'],
    },
    {
      name: 'adds the rest to the slice where it fits best',
      before: ['a', 'b c'],
      desired: 'a b c d',
      after: ['b c d'],
    },
    {
      name: 'creates a new slice instead of updating two',
      before: ['a b', 'c d'],
      desired: 'a b c d e f',
      after: ['+e f'],
    },
    {
      name: 'does not update other slices when it creates full ones',
      before: ['a'],
      desired: 'a b c d e f',
      after: ['+b c d', 'a e f'],
    },
    { name: 'deletes empty slices', before: ['a', 'b'], desired: 'b', after: ['-a'] },
    { name: 'keeps half-empty slices while no endpoint is added', before: ['a', 'b'], desired: 'a b', after: [] },
    {
      name: 'keeps an endpoint of two slices in the first',
      before: ['a b', 'b c'],
      desired: 'a b c',
      after: ['c'],
    },
  ];
  for (const { name, before, desired, after } of rows) {
    test(name, () => {
      const existing = before.map((text, index) => slice(`web-${index}`, { endpoints: names(text) }));
      const packed = packEndpoints({
        existing,
        desired: names(desired),
        ports: http,
        maxPerSlice: 3,
        hasOldLabels: () => false,
      });
      const text = (
        endpoints:
          | readonly { readonly targetRef?: { readonly name?: string | undefined } | undefined }[]
          | null
          | undefined,
      ): string => (endpoints ?? []).map(({ targetRef }) => targetRef?.name ?? '').join(' ');
      const found = [
        ...packed.create.map(({ endpoints }) => `+${text(endpoints)}`),
        ...packed.update.map(({ endpoints }) => text(endpoints)),
        ...packed.remove.map(({ endpoints }) => `-${text(endpoints)}`),
      ];
      expect(found.toSorted()).toEqual(after.toSorted());
    });
  }
});
