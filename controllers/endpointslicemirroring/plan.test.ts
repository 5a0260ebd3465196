import { describe, expect, test } from 'vitest';

import { type Cached, type Endpoints, type EndpointSlice, type EndpointSubset } from '../../pkg/api/index.ts';
import { endpoints, endpointSlice, frozen } from '../../test/support/builders.ts';
import { computeDesired } from './desired.ts';
import { isMirrored, managedBy, planMirror, type MirrorPlan } from './plan.ts';

const ports = [{ name: 'http', port: 80, protocol: 'TCP' }];
const addresses = (...ips: readonly string[]): EndpointSubset['addresses'] => ips.map((ip) => ({ ip }));
const source = (subsets: EndpointSubset[], metadata: Parameters<typeof endpoints>[0] = {}): Cached<Endpoints> =>
  frozen(endpoints({ name: 'web', ...metadata }, { subsets }));

function plan(object: Cached<Endpoints>, existing: readonly Cached<EndpointSlice>[] = [], max = 1000): MirrorPlan {
  return planMirror(object, computeDesired(object, max), existing);
}

/** The slices of a plan as stored objects. */
function stored({ changes }: MirrorPlan): Cached<EndpointSlice>[] {
  return [...changes.update, ...changes.create].map((slice, index) => {
    const built = endpointSlice({ name: slice.metadata.name ?? `web-${index}` });
    return frozen(
      structuredClone({ ...slice, metadata: { ...built.metadata, ...slice.metadata, name: built.metadata.name } }),
    ) as Cached<EndpointSlice>;
  });
}

const counts = ({ changes }: MirrorPlan): number[] => [
  changes.create.length,
  changes.update.length,
  changes.delete.length,
];

describe('computeDesired', () => {
  test('separates families and ports, and formats addresses canonically', () => {
    const { groups } = computeDesired(
      source([
        { addresses: addresses('10.0.0.1', '2001:DB8::0:1'), ports },
        { notReadyAddresses: addresses('10.0.0.2'), ports: [{ port: 53, protocol: 'UDP' }] },
      ]),
      1000,
    );
    const found = [...groups.values()].map(({ family, portMap, endpoints: members }) =>
      [
        family,
        portMap.ports[0]?.port,
        ...members.values().map(({ addresses: [ip], conditions }) => `${ip ?? ''} ${conditions?.ready}`),
      ].join(' '),
    );
    expect(found.toSorted()).toEqual([
      'IPv4 53 10.0.0.2 false',
      'IPv4 80 10.0.0.1 true',
      'IPv6 53',
      'IPv6 80 2001:db8::1 true',
    ]);
  });

  const rows = [
    {
      name: 'nothing is skipped below the limit',
      ready: ['10.0.0.1'],
      notReady: ['10.0.0.2'],
      max: 2,
      invalid: 0,
      skipped: 0,
    },
    {
      name: 'addresses that are not ready are skipped first',
      ready: ['10.0.0.1', '10.0.0.2'],
      notReady: ['10.0.0.3'],
      max: 2,
      invalid: 0,
      skipped: 1,
    },
    {
      name: 'invalid addresses are skipped and counted separately',
      ready: ['nowhere', '10.0.0.2'],
      notReady: [],
      max: 5,
      invalid: 1,
      skipped: 1,
    },
  ];
  for (const { name, ready, notReady, max, invalid, skipped } of rows) {
    test(name, () => {
      const subset = { addresses: addresses(...ready), notReadyAddresses: addresses(...notReady), ports };
      expect(computeDesired(source([subset]), max)).toMatchObject({ invalid, skipped });
    });
  }
});

describe('planMirror', () => {
  const web = source([{ addresses: addresses('10.0.0.1', '10.0.0.2'), ports }], {
    labels: { team: 'a' },
    annotations: {
      note: 'kept',
      'endpoints.kubernetes.io/last-change-trigger-time': 'now',
      'kubectl.kubernetes.io/last-applied-configuration': '{}',
    },
  });

  test('creates a slice with labels, annotations and owner of the Endpoints', () => {
    const { changes } = plan(web);
    expect(changes.create).toMatchObject([
      {
        metadata: {
          generateName: 'web-',
          labels: {
            team: 'a',
            'kubernetes.io/service-name': 'web',
            'endpointslice.kubernetes.io/managed-by': managedBy,
          },
          ownerReferences: [{ kind: 'Endpoints', name: 'web', controller: true }],
        },
        addressType: 'IPv4',
      },
    ]);
    expect(changes.create[0]?.metadata.annotations).toEqual({ note: 'kept' });
  });

  test('does not update a slice that is right', () => {
    expect(counts(plan(web, stored(plan(web))))).toEqual([0, 0, 0]);
  });

  const rows: { name: string; after: Cached<Endpoints>; counts: number[] }[] = [
    {
      name: 'other addresses are an update',
      after: source([{ addresses: addresses('10.0.0.1'), ports }], {
        labels: { team: 'a' },
        annotations: { note: 'kept' },
      }),
      counts: [0, 1, 0],
    },
    {
      name: 'other labels are an update',
      after: source([{ addresses: addresses('10.0.0.1', '10.0.0.2'), ports }], {
        labels: { team: 'b' },
        annotations: { note: 'kept' },
      }),
      counts: [0, 1, 0],
    },
    {
      name: 'other annotations are an update',
      after: source([{ addresses: addresses('10.0.0.1', '10.0.0.2'), ports }], { labels: { team: 'a' } }),
      counts: [0, 1, 0],
    },
    {
      name: 'other ports recycle the slice',
      after: source([{ addresses: addresses('10.0.0.1'), ports: [{ port: 81 }] }]),
      counts: [0, 1, 0],
    },
    {
      name: 'another family creates a slice',
      after: source([{ addresses: addresses('fd00::1'), ports }]),
      counts: [1, 0, 1],
    },
    { name: 'without addresses there is no slice', after: source([]), counts: [0, 0, 1] },
    {
      name: 'recreated Endpoints own their slice',
      after: source([{ addresses: addresses('10.0.0.1', '10.0.0.2'), ports }], {
        labels: { team: 'a' },
        annotations: { note: 'kept' },
        metadata: { uid: 'other' },
      }),
      counts: [0, 1, 0],
    },
  ];
  for (const { name, after, counts: wanted } of rows) {
    test(name, () => expect(counts(plan(after, stored(plan(web))))).toEqual(wanted));
  }

  test('one slice for each combination is enough', () => {
    const [first] = stored(plan(web));
    const second = frozen({ ...first, metadata: { ...first?.metadata, name: 'web-9' } }) as Cached<EndpointSlice>;
    expect(counts(plan(web, first === undefined ? [] : [first, second]))).toEqual([0, 0, 1]);
  });

  test('nothing is created for terminating Endpoints', () => {
    const leaving = source([{ addresses: addresses('10.0.0.1'), ports }], {
      metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' },
    });
    expect(counts(plan(leaving))).toEqual([0, 0, 0]);
  });
});

describe('isMirrored', () => {
  test('is false with the skip-mirror label and for leader election', () => {
    const all = [
      source([]),
      source([], { labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' } }),
      source([], { annotations: { 'control-plane.alpha.kubernetes.io/leader': '{}' } }),
    ];
    expect(all.map(isMirrored)).toEqual([true, false, false]);
  });
});
