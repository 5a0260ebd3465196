import { beforeEach, describe, expect, test } from 'vitest';

import { refusalOf, SandboxApi } from '../../../test/support/sandbox-api.ts';
import type { UntypedObject } from '../../api/index.ts';

let sandbox: SandboxApi;
beforeEach(() => {
  sandbox = new SandboxApi();
});

const ports = [{ port: 80 }];
const service = (spec: object = {}, name = 's') => ({
  metadata: { name },
  spec: { selector: { a: 'b' }, ports, ...spec },
});
const create = (spec?: object, name?: string) => sandbox.create('services', service(spec, name));

const defaults: { name: string; spec: object; expected: object; absent?: string }[] = [
  {
    name: 'a cluster IP and TCP',
    spec: {},
    expected: {
      type: 'ClusterIP',
      sessionAffinity: 'None',
      internalTrafficPolicy: 'Cluster',
      ports: [{ port: 80, targetPort: 80, protocol: 'TCP' }],
      ipFamilies: ['IPv4'],
      ipFamilyPolicy: 'SingleStack',
    },
    absent: 'externalTrafficPolicy',
  },
  {
    name: 'three hours of affinity by client IP',
    spec: { sessionAffinity: 'ClientIP' },
    expected: { sessionAffinityConfig: { clientIP: { timeoutSeconds: 10_800 } } },
  },
  {
    name: 'a node port when it is a NodePort',
    spec: { type: 'NodePort' },
    expected: { externalTrafficPolicy: 'Cluster', ports: [{ nodePort: 31_384 }] },
  },
  {
    name: 'no node port when its load balancer needs none',
    spec: { type: 'LoadBalancer', allocateLoadBalancerNodePorts: false },
    expected: { allocateLoadBalancerNodePorts: false },
    absent: 'ports[0].nodePort',
  },
  {
    name: 'no address when it is headless',
    spec: { clusterIP: 'None' },
    expected: { clusterIP: 'None', clusterIPs: ['None'], ipFamilyPolicy: 'SingleStack' },
  },
  {
    name: 'both families when it is headless without a selector',
    spec: { clusterIP: 'None', selector: undefined },
    expected: { ipFamilyPolicy: 'RequireDualStack', ipFamilies: ['IPv4', 'IPv6'] },
  },
  {
    name: 'no cluster IP when it is an external name',
    spec: { type: 'ExternalName', externalName: 'example.com', ports: undefined },
    expected: { externalName: 'example.com' },
    absent: 'clusterIP',
  },
];

describe('a Service gets', () => {
  for (const { name, spec, expected, absent = 'none' } of defaults) {
    test(name, () => {
      const created = create(spec)['spec'];
      expect(created).toMatchObject(expected);
      expect(created).not.toHaveProperty(absent);
    });
  }

  test('an address and a node port that no other Service has', () => {
    const read = (object: UntypedObject) => object['spec'] as { clusterIP: string; ports: { nodePort: number }[] };
    const first = read(create({ type: 'NodePort' }, 'a'));
    const second = read(create({ type: 'NodePort' }, 'b'));
    expect(second.clusterIP).not.toBe(first.clusterIP);
    expect(second.ports[0]?.nodePort).not.toBe(first.ports[0]?.nodePort);
  });
});

const refusals: { name: string; spec: object; expected: string[] }[] = [
  { name: 'no ports', spec: { ports: [] }, expected: ['spec.ports: Required value'] },
  {
    name: 'an unknown type',
    spec: { type: 'Magic' },
    expected: [
      'spec.type: Unsupported value: "Magic": supported values: "ClusterIP", "ExternalName", "LoadBalancer", "NodePort"',
    ],
  },
  {
    name: 'two ports without names',
    spec: { ports: [{ port: 80 }, { port: 81 }] },
    expected: ['spec.ports[0].name: Required value', 'spec.ports[1].name: Required value'],
  },
  {
    name: 'two ports of one name',
    spec: {
      ports: [
        { name: 'a', port: 80 },
        { name: 'a', port: 81 },
      ],
    },
    expected: ['spec.ports[1].name: Duplicate value: "a"'],
  },
  {
    name: 'a port name in capitals',
    spec: { ports: [{ name: 'HTTP', port: 80 }] },
    expected: ['spec.ports[0].name: Invalid value: "HTTP": a lowercase RFC 1123 label'],
  },
  {
    name: 'a port out of range',
    spec: { ports: [{ port: 0 }] },
    expected: [
      'spec.ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive',
      'spec.ports[0].targetPort: Invalid value: 0: must be between 1 and 65535, inclusive',
    ],
  },
  {
    name: 'an unknown protocol',
    spec: { ports: [{ port: 80, protocol: 'HTTP' }] },
    expected: ['spec.ports[0].protocol: Unsupported value: "HTTP": supported values: "SCTP", "TCP", "UDP"'],
  },
  {
    name: 'a headless NodePort',
    spec: { type: 'NodePort', clusterIP: 'None' },
    expected: ['spec.clusterIPs[0]: Invalid value: "None": may not be set to \'None\' for NodePort services'],
  },
  {
    name: 'an external name that is not a domain name',
    spec: { type: 'ExternalName', externalName: 'a b' },
    expected: ['spec.externalName: Invalid value: "a b": a lowercase RFC 1123 subdomain'],
  },
  {
    name: 'no external name',
    spec: { type: 'ExternalName' },
    expected: ['spec.externalName: Required value'],
  },
  {
    name: 'a bad selector',
    spec: { selector: { a: 'b c' } },
    expected: ['spec.selector: Invalid value: "b c": a valid label'],
  },
  {
    name: 'an unknown affinity',
    spec: { sessionAffinity: 'Cookie' },
    expected: ['spec.sessionAffinity: Unsupported value: "Cookie": supported values: "ClientIP", "None"'],
  },
];

describe('a Service is refused with', () => {
  for (const { name, spec, expected } of refusals) {
    test(name, () => {
      const refused = refusalOf(() => create(spec)).map((each) =>
        each.replace(/( RFC 1123 \w+| valid label) must .*/, '$1'),
      );
      expect(refused).toEqual(expected);
    });
  }

  test('an address of another Service', () => {
    create({ clusterIP: '10.96.1.1' }, 'a');
    expect(refusalOf(() => create({ clusterIP: '10.96.1.1' }, 'b'))[0]).toContain('provided IP is already allocated');
  });
});

describe('a Service', () => {
  test('may have a name that begins with a digit', () => expect(refusalOf(() => create({}, '1s'))).toEqual([]));
  test('may not have a name with a dot', () => expect(refusalOf(() => create({}, 'a.b'))).toHaveLength(1));

  test('keeps allocated values that an update leaves out', () => {
    const created = create({ type: 'NodePort' });
    const { spec: before } = created as { spec?: unknown };
    const spec = { type: 'NodePort', selector: { a: 'c' }, ports: [{ port: 80, protocol: 'TCP' }] };
    const updated = sandbox.update('services', { ...created, spec });
    const { clusterIP, ports: allocated } = before as { clusterIP: string; ports: object[] };
    expect(updated['spec']).toMatchObject({ clusterIP, ports: allocated });
  });

  test('may not change its cluster IP', () => {
    const created = create();
    const spec = { ...(created['spec'] as object), clusterIP: '10.96.9.9', clusterIPs: ['10.96.9.9'] };
    const refused = refusalOf(() => sandbox.update('services', { ...created, spec }));
    expect(refused).toEqual(['spec.clusterIPs[0]: Invalid value: ["10.96.9.9"]: may not change once set']);
  });

  test('loses its cluster IP when it becomes an external name', () => {
    const created = create();
    const spec = { type: 'ExternalName', externalName: 'example.com' };
    const updated = sandbox.update('services', { ...created, spec });
    expect(updated['spec']).not.toHaveProperty('clusterIP');
  });
});
