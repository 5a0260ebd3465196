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
const terminating = { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } };

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
      name: 'separates ready and not ready addresses',
      pods: [running('a', '10.0.0.1'), running('b', '10.0.0.2', {}, false)],
      subsets: ['http:8080 | a ! b'],
    },
    { name: 'skips terminating pods', pods: [running('a', '10.0.0.1', terminating)], subsets: [] },
    {
      name: 'includes all pods with publishNotReadyAddresses',
      service: { spec: { publishNotReadyAddresses: true } },
      pods: [running('a', '10.0.0.1', terminating), running('b', '10.0.0.2', {}, false)],
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
      name: 'skips finished pods',
      pods: [running('a', '10.0.0.1', { status: { ...runningStatus(), phase: 'Failed' } })],
      subsets: [],
    },
    {
      name: 'skips pods without an address of the family',
      service: { spec: { ipFamilies: ['IPv6'] } },
      pods: [running('a', '10.0.0.1')],
      subsets: [],
    },
    {
      name: 'uses the family of the cluster IP without ipFamilies',
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
      name: 'has pods for a headless Service without ports',
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

  test('sets the hostname of pods whose subdomain is the Service', () => {
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
    { name: 'keeps a thousand addresses', before: [[600, 400]], after: undefined },
    { name: 'drops addresses that are not ready first', before: [[900, 200]], after: [[900, 100]] },
    { name: 'drops all addresses that are not ready before ready ones', before: [[1100, 200]], after: [[1000, 0]] },
    {
      name: 'truncates each subset in proportion',
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
      name: 'drops a subset that is empty after rounding',
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
      name: 'truncates the last subset by the rest',
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
    { name: 'an equal object', current: stored(), written: false },
    {
      name: 'an equal object in another order',
      current: stored(({ subsets = [] }) => subsets.push({ ...subsets[0] })),
      written: false,
    },
    {
      name: 'an object with resource versions of pods',
      current: stored(({ subsets }) =>
        Object.assign(subsets?.[0]?.addresses?.[0]?.targetRef ?? {}, { resourceVersion: '7' }),
      ),
      written: false,
    },
    {
      name: 'an extra headless label',
      current: stored(({ metadata }) => Object.assign(metadata.labels ?? {}, { 'service.kubernetes.io/headless': '' })),
      written: false,
    },
    { name: 'a missing managed-by label', current: stored(({ metadata }) => (metadata.labels = {})), written: true },
    {
      name: 'a label that the Service does not have',
      current: stored(({ metadata }) => Object.assign(metadata.labels ?? {}, { x: 'y' })),
      written: true,
    },
    {
      name: 'an outdated over-capacity annotation',
      current: stored(
        ({ metadata }) => (metadata.annotations = { 'endpoints.kubernetes.io/over-capacity': 'truncated' }),
      ),
      written: true,
    },
    { name: 'other addresses', current: stored((object) => (object.subsets = [])), written: true },
  ];
  for (const { name, current, written } of rows) {
    test(`${name} is ${written ? 'updated' : 'not updated'}`, () => {
      expect(plan(current) !== undefined).toBe(written);
    });
  }

  test('keeps other annotations, and drops an outdated trigger time', () => {
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
