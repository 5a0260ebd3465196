import { describe, expect, test } from 'vitest';

import { Services, type Cached, type Service } from '../../pkg/api/index.ts';
import type { LoadBalancerStatus } from '../../pkg/cloud/index.ts';
import { build, frozen } from '../../test/support/builders.ts';
import { cleanupFinalizer, needsCleanup, needsUpdate, showsStatus, wantsLoadBalancer } from './service-rules.ts';

type Changes = { readonly spec?: Service['spec']; readonly metadata?: Partial<Service['metadata']> };

function service({ spec = {}, metadata = {} }: Changes = {}): Cached<Service> {
  const ports = [{ name: 'http', port: 80, nodePort: 30_080, protocol: 'TCP' }];
  const built = build<Service>(Services, { namespace: 'a', name: 'web' }, { spec: {} });
  return frozen({
    ...built,
    metadata: { ...built.metadata, ...metadata },
    spec: { type: 'LoadBalancer', ports, ...spec },
  });
}

describe('wantsLoadBalancer', () => {
  const rows = [
    { name: 'a Service of type LoadBalancer does', spec: {}, expected: true },
    { name: 'one with a class has that of another controller', spec: { loadBalancerClass: 'x' }, expected: false },
    { name: 'another type does not', spec: { type: 'NodePort' }, expected: false },
  ];
  for (const { name, spec, expected } of rows) {
    test(name, () => expect(wantsLoadBalancer(service({ spec }))).toBe(expected));
  }
});

describe('needsCleanup', () => {
  const finalizers = [cleanupFinalizer];
  const deletionTimestamp = '2026-01-01T00:00:00Z';
  const rows: readonly { name: string; changes: Changes; expected: boolean }[] = [
    { name: 'not without the finalizer', changes: { metadata: { deletionTimestamp } }, expected: false },
    { name: 'not while it is wanted', changes: { metadata: { finalizers } }, expected: false },
    { name: 'while it is being deleted', changes: { metadata: { finalizers, deletionTimestamp } }, expected: true },
    {
      name: 'once it has another type',
      changes: { metadata: { finalizers }, spec: { type: 'ClusterIP' } },
      expected: true,
    },
    {
      name: 'not because of a class, which cannot be changed',
      changes: { metadata: { finalizers }, spec: { loadBalancerClass: 'x' } },
      expected: false,
    },
  ];
  for (const { name, changes, expected } of rows) {
    test(name, () => expect(needsCleanup(service(changes))).toBe(expected));
  }
});

describe('needsUpdate', () => {
  const port = { name: 'http', port: 80, nodePort: 30_080, protocol: 'TCP' };
  const rows: readonly { name: string; before?: Changes; after: Changes; expected: boolean }[] = [
    { name: 'no change', after: {}, expected: false },
    { name: 'a label', after: { metadata: { labels: { a: 'b' } } }, expected: false },
    { name: 'the finalizer', after: { metadata: { finalizers: [cleanupFinalizer] } }, expected: false },
    { name: 'an annotation', after: { metadata: { annotations: { a: 'b' } } }, expected: true },
    { name: 'annotations that are absent and empty', after: { metadata: { annotations: {} } }, expected: false },
    { name: 'the uid', after: { metadata: { uid: 'v' } }, expected: true },
    { name: 'the type', after: { spec: { type: 'ClusterIP' } }, expected: true },
    {
      name: 'anything without a load balancer',
      before: { spec: { type: 'ClusterIP' } },
      after: { spec: { type: 'NodePort', externalIPs: ['192.0.2.1'] } },
      expected: false,
    },
    { name: 'source ranges', after: { spec: { loadBalancerSourceRanges: ['10.0.0.0/8'] } }, expected: true },
    { name: 'a port', after: { spec: { ports: [{ ...port, port: 81 }] } }, expected: true },
    { name: 'one more port', after: { spec: { ports: [port, { ...port, port: 81 }] } }, expected: true },
    { name: 'a node port', after: { spec: { ports: [{ ...port, nodePort: 30_081 }] } }, expected: true },
    { name: 'a target port', after: { spec: { ports: [{ ...port, targetPort: 'web' }] } }, expected: true },
    {
      name: 'the protocol of an application',
      after: { spec: { ports: [{ ...port, appProtocol: 'h2' }] } },
      expected: true,
    },
    { name: 'session affinity', after: { spec: { sessionAffinity: 'ClientIP' } }, expected: true },
    {
      name: 'the time-out of session affinity',
      after: { spec: { sessionAffinityConfig: { clientIP: { timeoutSeconds: 5 } } } },
      expected: true,
    },
    { name: 'the requested address', after: { spec: { loadBalancerIP: '203.0.113.9' } }, expected: true },
    { name: 'external addresses', after: { spec: { externalIPs: ['192.0.2.1'] } }, expected: true },
    { name: 'the traffic policy', after: { spec: { externalTrafficPolicy: 'Local' } }, expected: true },
    { name: 'the port of health checks', after: { spec: { healthCheckNodePort: 30_000 } }, expected: true },
    {
      name: 'a second family',
      before: { spec: { ipFamilies: ['IPv4'] } },
      after: { spec: { ipFamilies: ['IPv4', 'IPv6'] } },
      expected: true,
    },
    { name: 'the selector', after: { spec: { selector: { app: 'other' } } }, expected: false },
  ];
  for (const { name, before, after, expected } of rows) {
    test(`${name}: ${expected ? 'yes' : 'no'}`, () =>
      expect(needsUpdate(service(before), service(after))).toBe(expected));
  }
});

describe('showsStatus', () => {
  const rows: readonly { name: string; shown?: LoadBalancerStatus; wanted: LoadBalancerStatus; expected: boolean }[] = [
    { name: 'no status for no address', wanted: {}, expected: true },
    { name: 'an empty list for no address', shown: { ingress: [] }, wanted: {}, expected: true },
    {
      name: 'an address with the mode that the server sets',
      shown: { ingress: [{ ip: '1.1.1.1', ipMode: 'VIP' }] },
      wanted: { ingress: [{ ip: '1.1.1.1' }] },
      expected: true,
    },
    {
      name: 'another mode',
      shown: { ingress: [{ ip: '1.1.1.1', ipMode: 'VIP' }] },
      wanted: { ingress: [{ ip: '1.1.1.1', ipMode: 'Proxy' }] },
      expected: false,
    },
    {
      name: 'another address',
      shown: { ingress: [{ ip: '1.1.1.1' }] },
      wanted: { ingress: [{ ip: '2.2.2.2' }] },
      expected: false,
    },
    {
      name: 'a host name',
      shown: { ingress: [{ hostname: 'x' }] },
      wanted: { ingress: [{ hostname: 'x' }] },
      expected: true,
    },
    { name: 'an address too many', shown: { ingress: [{ ip: '1.1.1.1' }] }, wanted: {}, expected: false },
  ];
  for (const { name, shown, wanted, expected } of rows) {
    test(`${name}: ${expected ? 'yes' : 'no'}`, () => {
      const status = shown === undefined ? {} : { loadBalancer: shown };
      expect(showsStatus(frozen({ ...service(), status }), wanted)).toBe(expected);
    });
  }
});
