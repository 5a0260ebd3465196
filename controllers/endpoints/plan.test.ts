import { describe, expect, test } from 'vitest';

import type { Cached, Endpoints, EndpointSubset, Pod, Service } from '../../pkg/api/index.ts';
import { endpoints, frozen, pod, runningStatus, service, type Described } from '../../test/support/builders.ts';
import { truncateSubsets } from './capacity.ts';
import { planEndpoints } from './plan.ts';
import { computeSubsets } from './subsets.ts';

const web = frozen(service({ name: 'web' }));
const running = (name: string, ip: string, described: Described<Pod> = {}, ready = true): Cached<Pod> =>
  frozen(
    pod({
      name,
      labels: { app: 'web' },
      status: runningStatus({ ready, podIP: ip, podIPs: [{ ip }] }),
      ...described,
      spec: { nodeName: 'node', ...described.spec },
    }),
  );
const withPort = (name: string, containerPort: number, protocol = 'TCP'): Described<Pod> => ({
  spec: { containers: [{ name: 'app', ports: [{ name, containerPort, protocol }] }] },
});
const going = { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } };

/** `8080 | a b ! c` */
function describeSubsets(subsets: readonly Cached<EndpointSubset>[]): string[] {
  return subsets.map(({ addresses = [], notReadyAddresses = [], ports = [] }) => {
    const names = (list: typeof addresses): string[] => list.map(({ targetRef }) => targetRef?.name ?? '');
    const notReady = notReadyAddresses.length > 0 ? ['!', ...names(notReadyAddresses)] : [];
    return `${ports.map(({ name, port }) => (name === undefined ? port : `${name}:${port}`)).join()} | ${[...names(addresses), ...notReady].join(' ')}`;
  });
}

describe('computeSubsets', () => {
  const rows: { name: string; service?: Described<Service>; pods: Cached<Pod>[]; subsets: string[] }[] = [
    {
      name: 'tells ready from not ready',
      pods: [running('a', '10.0.0.1'), running('b', '10.0.0.2', {}, false)],
      subsets: ['http:8080 | a ! b'],
    },
    { name: 'leaves pods out that go', pods: [running('a', '10.0.0.1', going)], subsets: [] },
    {
      name: 'has all of them where the Service says so',
      service: { spec: { publishNotReadyAddresses: true } },
      pods: [running('a', '10.0.0.1', going), running('b', '10.0.0.2', {}, false)],
      subsets: ['http:8080 | a b'],
    },
    {
      name: 'keeps named ports of the same number apart',
      service: {
        spec: {
          ports: [
            { name: 'http', port: 80, targetPort: 'http' },
            { name: 'metrics', port: 81, targetPort: 'metrics' },
          ],
        },
      },
      pods: [
        running('a', '10.0.0.1', withPort('http', 8080)),
        running('b', '10.0.0.2', withPort('metrics', 8080)),
        running('c', '10.0.0.3', withPort('http', 8080)),
      ],
      subsets: ['http:8080 | a c', 'metrics:8080 | b'],
    },
    {
      name: 'keeps TCP and UDP of the same number apart',
      service: {
        spec: {
          ports: [
            { name: 'dns', port: 53, targetPort: 'dns', protocol: 'UDP' },
            { name: 'dns-tcp', port: 53, targetPort: 'dns', protocol: 'TCP' },
          ],
        },
      },
      pods: [
        running('a', '10.0.0.1', withPort('dns', 53, 'UDP')),
        running('b', '10.0.0.2', withPort('dns', 53, 'TCP')),
      ],
      subsets: ['dns-tcp:53 | b', 'dns:53 | a'],
    },
    {
      name: 'leaves pods out that have finished',
      pods: [running('a', '10.0.0.1', { status: { ...runningStatus(), phase: 'Failed' } })],
      subsets: [],
    },
    {
      name: 'leaves pods out that have no address in the family',
      service: { spec: { ipFamilies: ['IPv6'] } },
      pods: [running('a', '10.0.0.1')],
      subsets: [],
    },
    {
      name: 'takes the family of the cluster IP where none is said',
      service: { spec: { ipFamilies: undefined, clusterIP: 'fd00::1' } },
      pods: [running('a', 'fd00::2')],
      subsets: ['http:8080 | a'],
    },
    {
      name: 'has no pods for a Service without ports',
      service: { spec: { ports: [] } },
      pods: [running('a', '10.0.0.1')],
      subsets: [],
    },
    {
      name: 'has them all the same if that is headless',
      service: { spec: { ports: [], clusterIP: 'None' } },
      pods: [running('a', '10.0.0.1')],
      subsets: [' | a'],
    },
  ];
  for (const { name, service: described, pods, subsets } of rows) {
    test(name, () => {
      expect(describeSubsets(computeSubsets(frozen(service({ name: 'web', ...described })), pods))).toEqual(subsets);
    });
  }

  test('gives pods a hostname below the Service that they name', () => {
    const spec = { hostname: 'zero', subdomain: 'web', nodeName: 'node' };
    expect(computeSubsets(web, [running('a', '10.0.0.1', { spec })])[0]?.addresses).toEqual([
      {
        ip: '10.0.0.1',
        hostname: 'zero',
        nodeName: 'node',
        targetRef: { kind: 'Pod', namespace: 'default', name: 'a', uid: 'uid-pod-default-a' },
      },
    ]);
  });
});

describe('truncateSubsets', () => {
  const addresses = (count: number): EndpointSubset['addresses'] =>
    Array.from({ length: count }, (_, index) => ({ ip: `10.${index >> 16}.${(index >> 8) & 255}.${index & 255}` }));
  const subset = ([ready, notReady]: readonly [number, number]): EndpointSubset => ({
    addresses: addresses(ready),
    notReadyAddresses: addresses(notReady),
  });
  const rows: { name: string; before: [number, number][]; after: [number, number][] | undefined }[] = [
    { name: 'leaves a thousand alone', before: [[600, 400]], after: undefined },
    { name: 'drops what is not ready first', before: [[900, 200]], after: [[900, 100]] },
    { name: 'drops all of that before anything ready', before: [[1100, 200]], after: [[1000, 0]] },
    {
      name: 'takes from each subset in proportion',
      before: [
        [600, 10],
        [900, 0],
      ],
      after: [
        [400, 0],
        [600, 0],
      ],
    },
    {
      name: 'drops a subset for which rounding leaves nothing',
      before: [
        [667, 0],
        [667, 0],
        [1, 0],
      ],
      after: [
        [500, 0],
        [500, 0],
      ],
    },
    {
      name: 'lets the last subset have what rounding leaves',
      before: [
        [500, 0],
        [500, 0],
        [500, 0],
      ],
      after: [
        [334, 0],
        [334, 0],
        [332, 0],
      ],
    },
  ];
  for (const { name, before, after } of rows) {
    test(name, () => {
      const sizes = truncateSubsets(before.map(subset))?.map((each) => [
        each.addresses?.length ?? 0,
        each.notReadyAddresses?.length ?? 0,
      ]);
      expect(sizes).toEqual(after);
    });
  }
});

describe('planEndpoints', () => {
  const pods = [running('a', '10.0.0.1')];
  const plan = (current: Endpoints | undefined, fields: { service?: Cached<Service>; triggerTime?: string } = {}) =>
    planEndpoints({ service: web, pods, current: frozen(current), triggerTime: undefined, ...fields });
  const first = plan(undefined, { triggerTime: '2026-01-01T00:00:01Z' });
  const stored = (change: (object: Endpoints) => void = () => {}): Endpoints => {
    const object = endpoints(
      { name: 'web', labels: { ...first?.metadata.labels } },
      structuredClone({ subsets: first?.subsets ?? [] }),
    );
    change(object);
    return object;
  };

  test('creates them with labels and the time of the change', () => {
    expect(first?.metadata).toMatchObject({
      name: 'web',
      labels: { 'endpoints.kubernetes.io/managed-by': 'endpoint-controller' },
      annotations: { 'endpoints.kubernetes.io/last-change-trigger-time': '2026-01-01T00:00:01Z' },
    });
    expect(first?.metadata.uid).toBeUndefined();
  });

  const rows: { name: string; current: Endpoints; written: boolean }[] = [
    { name: 'what is there already', current: stored(), written: false },
    {
      name: 'what is there in another order',
      current: stored(({ subsets = [] }) => subsets.push({ ...subsets[0] })),
      written: false,
    },
    {
      name: 'what names the versions of pods',
      current: stored(({ subsets }) =>
        Object.assign(subsets?.[0]?.addresses?.[0]?.targetRef ?? {}, { resourceVersion: '7' }),
      ),
      written: false,
    },
    {
      name: 'a headless label too many',
      current: stored(({ metadata }) => Object.assign(metadata.labels ?? {}, { 'service.kubernetes.io/headless': '' })),
      written: false,
    },
    { name: 'a missing manager', current: stored(({ metadata }) => (metadata.labels = {})), written: true },
    {
      name: 'a label that the Service has not',
      current: stored(({ metadata }) => Object.assign(metadata.labels ?? {}, { x: 'y' })),
      written: true,
    },
    {
      name: 'a capacity that is not exceeded any more',
      current: stored(
        ({ metadata }) => (metadata.annotations = { 'endpoints.kubernetes.io/over-capacity': 'truncated' }),
      ),
      written: true,
    },
    { name: 'other addresses', current: stored((object) => (object.subsets = [])), written: true },
  ];
  for (const { name, current, written } of rows) {
    test(`${name} is ${written ? 'written over' : 'left alone'}`, () => {
      expect(plan(current) !== undefined).toBe(written);
    });
  }

  test('keeps what others have noted, and drops a time that is not of this change', () => {
    const noted = { note: 'kept', 'endpoints.kubernetes.io/last-change-trigger-time': 'old' };
    const written = plan(
      stored((object) => Object.assign(object, { subsets: [], metadata: { ...object.metadata, annotations: noted } })),
    );
    expect(written?.metadata).toMatchObject({
      uid: 'uid-endpoints-default-web',
      resourceVersion: '1',
      annotations: { note: 'kept' },
    });
    expect(written?.metadata.annotations).toEqual({ note: 'kept' });
  });

  test('writes truncated Endpoints once', () => {
    const many = Array.from({ length: 1100 }, (_, index) => running(`p-${index}`, `10.0.${index >> 8}.${index & 255}`));
    const truncated = planEndpoints({ service: web, pods: many, current: undefined, triggerTime: undefined });
    expect(truncated?.metadata.annotations).toEqual({ 'endpoints.kubernetes.io/over-capacity': 'truncated' });
    const { labels, annotations } = truncated?.metadata ?? {};
    const current = frozen(endpoints({ name: 'web', labels, annotations }, { subsets: truncated?.subsets }));
    expect(planEndpoints({ service: web, pods: many, current, triggerTime: undefined })).toBeUndefined();
  });
});
