import { beforeEach, describe, expect, test } from 'vitest';

import { refusalOf, SandboxApi } from '../../../test/support/sandbox-api.ts';

let sandbox: SandboxApi;
beforeEach(() => {
  sandbox = new SandboxApi();
});

const named = (more: object = {}, name = 'x') => ({ metadata: { name }, ...more });
const encoded = (text: string): string => Buffer.from(text).toString('base64');
const rbac = 'rbac.authorization.k8s.io';

const defaults: { name: string; resource: string; body: object; expected: object }[] = [
  {
    name: 'a Namespace its name as a label, and the finalizer that empties it',
    resource: 'namespaces',
    body: named(),
    expected: {
      metadata: { labels: { 'kubernetes.io/metadata.name': 'x' } },
      spec: { finalizers: ['kubernetes'] },
      status: { phase: 'Active' },
    },
  },
  {
    name: 'a Node the not-ready taint',
    resource: 'nodes',
    body: named(),
    expected: { spec: { taints: [{ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }] } },
  },
  {
    name: 'a Node its capacity as what it can allocate',
    resource: 'nodes',
    body: named({ status: { capacity: { cpu: '4' } } }),
    expected: { status: { capacity: { cpu: '4' }, allocatable: { cpu: '4' } } },
  },
  {
    name: 'a Secret the type Opaque, and its stringData as data',
    resource: 'secrets',
    body: named({ stringData: { a: 'b' }, data: { a: encoded('old'), c: encoded('d') } }),
    expected: { type: 'Opaque', data: { a: encoded('b'), c: encoded('d') } },
  },
  {
    name: 'a PersistentVolume its policy and its protection',
    resource: 'persistentvolumes',
    body: named({ spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/x' } } }),
    expected: {
      metadata: { finalizers: ['kubernetes.io/pv-protection'] },
      spec: { persistentVolumeReclaimPolicy: 'Retain', volumeMode: 'Filesystem', hostPath: { type: '' } },
      status: { phase: 'Pending' },
    },
  },
  {
    name: 'a PersistentVolumeClaim its mode and its protection',
    resource: 'persistentvolumeclaims',
    body: named({ spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } }),
    expected: {
      metadata: { finalizers: ['kubernetes.io/pvc-protection'] },
      spec: { volumeMode: 'Filesystem' },
      status: { phase: 'Pending' },
    },
  },
  {
    name: 'an EndpointSlice names and protocols of its ports',
    resource: 'endpointslices.discovery.k8s.io',
    body: named({ addressType: 'IPv4', endpoints: [], ports: [{ port: 80 }] }),
    expected: { ports: [{ name: '', port: 80, protocol: 'TCP' }] },
  },
  {
    name: 'Endpoints protocols of their ports',
    resource: 'endpoints',
    body: named({ subsets: [{ addresses: [{ ip: '10.0.0.1' }], ports: [{ port: 80 }] }] }),
    expected: { subsets: [{ ports: [{ port: 80, protocol: 'TCP' }] }] },
  },
  {
    name: 'a RoleBinding the group of its role and of its users, and none for accounts',
    resource: `rolebindings.${rbac}`,
    body: named({
      roleRef: { kind: 'Role', name: 'r' },
      subjects: [
        { kind: 'User', name: 'u' },
        { kind: 'ServiceAccount', name: 'a', namespace: 'default' },
      ],
    }),
    expected: { roleRef: { apiGroup: rbac }, subjects: [{ apiGroup: rbac }, { kind: 'ServiceAccount', name: 'a' }] },
  },
  {
    name: 'a NetworkPolicy both directions when it has a rule for egress',
    resource: 'networkpolicies.networking.k8s.io',
    body: named({ spec: { podSelector: {}, egress: [{ ports: [{ port: 53 }] }] } }),
    expected: { spec: { policyTypes: ['Ingress', 'Egress'], egress: [{ ports: [{ protocol: 'TCP' }] }] } },
  },
  {
    name: 'a StorageClass deletion and immediate binding',
    resource: 'storageclasses.storage.k8s.io',
    body: named({ provisioner: 'example.com/p' }),
    expected: { reclaimPolicy: 'Delete', volumeBindingMode: 'Immediate' },
  },
  {
    name: 'a claim its finalizer, after those of others',
    resource: 'persistentvolumeclaims',
    body: { metadata: { name: 'kept', finalizers: ['example.com/keep'] }, spec: {} },
    expected: { metadata: { finalizers: ['example.com/keep', 'kubernetes.io/pvc-protection'] } },
  },
  {
    name: 'a VolumeAttributesClass its finalizer',
    resource: 'volumeattributesclasses.storage.k8s.io',
    body: named({ driverName: 'example.com' }),
    expected: { metadata: { finalizers: ['kubernetes.io/vac-protection'] } },
  },
  {
    name: 'a VolumeAttachment a status that says nothing',
    resource: 'volumeattachments.storage.k8s.io',
    body: named({
      spec: { attacher: 'example.com', nodeName: 'a', source: { persistentVolumeName: 'v' } },
      status: { attached: true },
    }),
    expected: { status: { attached: false } },
  },
  {
    name: 'a CSIDriver what drivers mostly do',
    resource: 'csidrivers.storage.k8s.io',
    body: named({ spec: { attachRequired: false } }),
    expected: {
      spec: {
        attachRequired: false,
        podInfoOnMount: false,
        storageCapacity: false,
        fsGroupPolicy: 'ReadWriteOnceWithFSType',
        volumeLifecycleModes: ['Persistent'],
        requiresRepublish: false,
        seLinuxMount: false,
      },
    },
  },
  {
    name: 'a PriorityClass preemption',
    resource: 'priorityclasses.scheduling.k8s.io',
    body: named({ value: 5 }),
    expected: { preemptionPolicy: 'PreemptLowerPriority' },
  },
];

describe('the server gives', () => {
  for (const { name, resource, body, expected } of defaults) {
    test(name, () => expect(sandbox.create(resource, body)).toMatchObject(expected));
  }
});

const tooLarge = 'x'.repeat(1024 * 1024 + 1);
const refusals: { name: string; resource: string; body: object; expected: string[] }[] = [
  {
    name: 'a Namespace with a dot in its name',
    resource: 'namespaces',
    body: named({}, 'a.b'),
    expected: ['metadata.name: Invalid value: "a.b"'],
  },
  {
    name: 'a ConfigMap with a slash in a key',
    resource: 'configmaps',
    body: named({ data: { 'a/b': '' } }),
    expected: ['data[a/b]: Invalid value: "a/b"'],
  },
  {
    name: 'a ConfigMap with a key twice',
    resource: 'configmaps',
    body: named({ data: { a: '' }, binaryData: { a: '' } }),
    expected: ['data[a]: Invalid value: "a"'],
  },
  {
    name: 'a ConfigMap of more than a mebibyte',
    resource: 'configmaps',
    body: named({ data: { a: tooLarge } }),
    expected: ['[]: Too long'],
  },
  {
    name: 'a Secret of more than a mebibyte',
    resource: 'secrets',
    body: named({ data: { a: encoded(tooLarge) } }),
    expected: ['data: Too long'],
  },
  {
    name: 'a token Secret without an account',
    resource: 'secrets',
    body: named({ type: 'kubernetes.io/service-account-token' }),
    expected: ['metadata.annotations[kubernetes.io/service-account.name]: Required value'],
  },
  {
    name: 'a TLS Secret without a certificate',
    resource: 'secrets',
    body: named({ type: 'kubernetes.io/tls', data: { 'tls.key': encoded('k') } }),
    expected: ['data[tls.crt]: Required value'],
  },
  {
    name: 'a Role with a slash in its name',
    resource: `roles.${rbac}`,
    body: named({}, 'a/b'),
    expected: ['metadata.name: Invalid value: "a/b"'],
  },
  {
    name: 'a Lease with a duration of zero',
    resource: 'leases.coordination.k8s.io',
    body: named({ spec: { leaseDurationSeconds: 0, leaseTransitions: -1 } }),
    expected: ['spec.leaseDurationSeconds: Invalid value: 0', 'spec.leaseTransitions: Invalid value: -1'],
  },
  {
    name: 'a Lease with a preferred holder and no strategy',
    resource: 'leases.coordination.k8s.io',
    body: named({ spec: { preferredHolder: 'h' } }),
    expected: ['spec.preferredHolder: Forbidden'],
  },
  {
    name: 'a disruption budget with both bounds',
    resource: 'poddisruptionbudgets.policy',
    body: named({ spec: { minAvailable: 1, maxUnavailable: 1 } }),
    expected: ['spec: Invalid value: {"maxUnavailable":1,"minAvailable":1}'],
  },
  {
    name: 'a disruption budget of more than 100%',
    resource: 'poddisruptionbudgets.policy',
    body: named({ spec: { minAvailable: '120%' } }),
    expected: ['spec.minAvailable: Invalid value: "120%"'],
  },
  {
    name: 'a disruption budget with a negative bound',
    resource: 'poddisruptionbudgets.policy',
    body: named({ spec: { maxUnavailable: -1 } }),
    expected: ['spec.maxUnavailable: Invalid value: -1'],
  },
  {
    name: 'a disruption budget with an unknown eviction policy',
    resource: 'poddisruptionbudgets.policy',
    body: named({ spec: { unhealthyPodEvictionPolicy: 'Never' } }),
    expected: ['spec.unhealthyPodEvictionPolicy: Unsupported value: "Never"'],
  },
];

describe('the server refuses', () => {
  for (const { name, resource, body, expected } of refusals) {
    test(name, () => {
      const refused = refusalOf(() => sandbox.create(resource, body));
      expect(
        refused.map((each) =>
          each.replace(/(: (Invalid|Unsupported) value: .*?|Too long|Forbidden): [a-zA-Z'].*$/, '$1'),
        ),
      ).toEqual(expected);
    });
  }
});

const updates: { name: string; resource: string; body: object; change: object; fields: string[] }[] = [
  {
    name: 'the data of a ConfigMap',
    resource: 'configmaps',
    body: { data: { a: '1' } },
    change: { data: { a: '2' } },
    fields: [],
  },
  {
    name: 'the data of an immutable ConfigMap',
    resource: 'configmaps',
    body: { data: { a: '1' }, immutable: true },
    change: { data: { a: '2' } },
    fields: ['data'],
  },
  {
    name: 'the order of the data of an immutable ConfigMap',
    resource: 'configmaps',
    body: { data: { a: '1', b: '2' }, immutable: true },
    change: { data: { b: '2', a: '1' } },
    fields: [],
  },
  {
    name: 'that a Secret is immutable',
    resource: 'secrets',
    body: { immutable: true },
    change: { immutable: false },
    fields: ['immutable'],
  },
  { name: 'the type of a Secret', resource: 'secrets', body: {}, change: { type: 'x' }, fields: ['type'] },
  {
    name: 'the role of a binding',
    resource: `rolebindings.${rbac}`,
    body: { roleRef: { kind: 'Role', name: 'r' } },
    change: { roleRef: { kind: 'Role', name: 's' } },
    fields: ['roleRef'],
  },
  {
    name: 'the address type of an EndpointSlice',
    resource: 'endpointslices.discovery.k8s.io',
    body: { addressType: 'IPv4', endpoints: [] },
    change: { addressType: 'IPv6' },
    fields: ['addressType'],
  },
];

describe('an update', () => {
  for (const { name, resource, body, change, fields } of updates) {
    test(`${fields.length === 0 ? 'may' : 'may not'} change ${name}`, () => {
      const created = sandbox.create(resource, named(body));
      const refused = refusalOf(() => sandbox.update(resource, { ...created, ...change }));
      expect(refused.map((each) => each.split(':')[0])).toEqual(fields);
    });
  }

  test('cannot remove the finalizer of a Namespace, which only the finalize subresource can', () => {
    const created = sandbox.create('namespaces', named());
    const changed = { ...created, spec: { finalizers: [] } };
    expect(sandbox.update('namespaces', changed)['spec']).toEqual({ finalizers: ['kubernetes'] });
    expect(sandbox.update('namespaces', changed, 'finalize')['spec']).toEqual({});
  });
});
