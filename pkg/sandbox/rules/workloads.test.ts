import { beforeEach, describe, expect, test } from 'vitest';

import { refusalOf, SandboxApi } from '../../../test/support/sandbox-api.ts';

let sandbox: SandboxApi;
beforeEach(() => {
  sandbox = new SandboxApi();
});

const podSpec = { containers: [{ name: 'c', image: 'i:1' }] };
const template = { metadata: { labels: { a: 'b' } }, spec: podSpec };
const selector = { matchLabels: { a: 'b' } };
const workload = (spec: object = {}) => ({ metadata: { name: 'w' }, spec: { selector, template, ...spec } });
const withPodSpec = (more: object) => ({ template: { ...template, spec: { ...podSpec, ...more } } });
const rolling = (rollingUpdate: object) => ({ strategy: { type: 'RollingUpdate', rollingUpdate } });
const updating = (rollingUpdate: object) => ({ updateStrategy: { type: 'RollingUpdate', rollingUpdate } });
const claim = (name: string) => ({
  metadata: { name },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
});
const mount = (name: string) =>
  withPodSpec({
    containers: [{ ...podSpec.containers[0], volumeMounts: [{ name, mountPath: '/data' }] }],
  });

const defaults = [
  {
    name: 'a Deployment rolls a quarter of its pods at a time',
    resource: 'deployments.apps',
    spec: {},
    expected: {
      replicas: 1,
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '25%', maxSurge: '25%' } },
      revisionHistoryLimit: 10,
      progressDeadlineSeconds: 600,
    },
  },
  {
    name: 'a Deployment that recreates its pods has no rolling update',
    resource: 'deployments.apps',
    spec: { strategy: { type: 'Recreate' } },
    expected: { strategy: { type: 'Recreate' } },
    absent: 'strategy.rollingUpdate',
  },
  {
    name: 'a Deployment keeps zero replicas',
    resource: 'deployments.apps',
    spec: { replicas: 0 },
    expected: { replicas: 0 },
  },
  { name: 'a ReplicaSet has one replica', resource: 'replicasets.apps', spec: {}, expected: { replicas: 1 } },
  {
    name: 'a DaemonSet replaces one pod at a time, without surge',
    resource: 'daemonsets.apps',
    spec: {},
    expected: {
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } },
      revisionHistoryLimit: 10,
    },
  },
  {
    name: 'a DaemonSet that waits for deletes has no rolling update',
    resource: 'daemonsets.apps',
    spec: { updateStrategy: { type: 'OnDelete' } },
    expected: { updateStrategy: { type: 'OnDelete' } },
    absent: 'updateStrategy.rollingUpdate',
  },
  {
    name: 'a StatefulSet is ordered and keeps its claims',
    resource: 'statefulsets.apps',
    spec: {},
    expected: {
      replicas: 1,
      podManagementPolicy: 'OrderedReady',
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } },
      persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
      revisionHistoryLimit: 10,
    },
  },
  {
    name: 'a StatefulSet that names its update strategy gets no rolling update with it',
    resource: 'statefulsets.apps',
    spec: { updateStrategy: { type: 'RollingUpdate' } },
    expected: { updateStrategy: { type: 'RollingUpdate' } },
    absent: 'updateStrategy.rollingUpdate',
  },
  {
    name: 'a claim template of a StatefulSet is a pending claim of a file system',
    resource: 'statefulsets.apps',
    spec: { volumeClaimTemplates: [claim('data')] },
    expected: { volumeClaimTemplates: [{ spec: { volumeMode: 'Filesystem' }, status: { phase: 'Pending' } }] },
  },
  {
    name: 'a template on the network of its host gets no host ports: only its pods do',
    resource: 'deployments.apps',
    spec: withPodSpec({
      hostNetwork: true,
      containers: [{ ...podSpec.containers[0], ports: [{ containerPort: 80 }] }],
    }),
    expected: { template: { spec: { containers: [{ ports: [{ containerPort: 80 }] }] } } },
    absent: 'template.spec.containers[0].ports[0].hostPort',
  },
];

describe('defaults of workloads', () => {
  for (const { name, resource, spec, expected, absent = 'none' } of defaults) {
    test(name, () => {
      const created = sandbox.create(resource, workload(spec))['spec'];
      expect(created).toMatchObject(expected);
      expect(created).not.toHaveProperty(absent);
    });
  }

  test('a ReplicationController takes selector and labels from its template', () => {
    const created = sandbox.create('replicationcontrollers', { metadata: { name: 'w' }, spec: { template } });
    expect(created).toMatchObject({ metadata: { labels: { a: 'b' } }, spec: { selector: { a: 'b' }, replicas: 1 } });
  });
});

const negative = 'must be greater than or equal to 0';
const refusals: { name: string; resource: string; spec: object; expected: string[] }[] = [
  {
    name: 'a selector that does not match the labels of the template',
    resource: 'replicasets.apps',
    spec: { selector: { matchLabels: { x: 'y' } } },
    expected: ['spec.template.metadata.labels: Invalid value: {"a":"b"}: `selector` does not match template `labels`'],
  },
  {
    name: 'an absent selector',
    resource: 'deployments.apps',
    spec: { selector: undefined },
    expected: ['spec.selector: Required value'],
  },
  {
    name: 'an empty selector of a Deployment',
    resource: 'deployments.apps',
    spec: { selector: {} },
    expected: ['spec.selector: Invalid value: {}: empty selector is invalid for deployment'],
  },
  {
    name: 'an empty selector of a ReplicaSet, in the words that it shares with a Deployment',
    resource: 'replicasets.apps',
    spec: { selector: {} },
    expected: ['spec.selector: Invalid value: {}: empty selector is invalid for deployment'],
  },
  {
    name: 'an empty selector of a DaemonSet',
    resource: 'daemonsets.apps',
    spec: { selector: {} },
    expected: ['spec.selector: Invalid value: {}: empty selector is invalid for daemonset'],
  },
  {
    name: 'an empty selector of a StatefulSet',
    resource: 'statefulsets.apps',
    spec: { selector: {} },
    expected: ['spec.selector: Invalid value: {}: empty selector is invalid for statefulset'],
  },
  {
    name: 'a selector with an unknown operator',
    resource: 'deployments.apps',
    spec: { selector: { matchExpressions: [{ key: 'a', operator: 'Sometimes', values: ['b'] }] } },
    expected: ['spec.selector.matchExpressions[0].operator: Invalid value: "Sometimes": not a valid selector operator'],
  },
  {
    name: 'a selector that lists no values',
    resource: 'deployments.apps',
    spec: { selector: { matchExpressions: [{ key: 'a', operator: 'In' }] } },
    expected: [
      "spec.selector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
    ],
  },
  {
    name: 'a selector that lists values for a label that must exist',
    resource: 'deployments.apps',
    spec: { selector: { matchExpressions: [{ key: 'a', operator: 'Exists', values: ['b'] }] } },
    expected: [
      "spec.selector.matchExpressions[0].values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
    ],
  },
  {
    name: 'pods that are not restarted',
    resource: 'deployments.apps',
    spec: withPodSpec({ restartPolicy: 'Never' }),
    expected: ['spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"'],
  },
  {
    name: 'a deadline for the pods of a ReplicaSet',
    resource: 'replicasets.apps',
    spec: withPodSpec({ activeDeadlineSeconds: 5 }),
    expected: [
      'spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in ReplicaSet is not Supported',
    ],
  },
  {
    name: 'a negative number of replicas',
    resource: 'statefulsets.apps',
    spec: { replicas: -1 },
    expected: [`spec.replicas: Invalid value: -1: ${negative}`],
  },
  {
    name: 'a progress deadline that is not longer than minReadySeconds',
    resource: 'deployments.apps',
    spec: { progressDeadlineSeconds: 5, minReadySeconds: 5 },
    expected: ['spec.progressDeadlineSeconds: Invalid value: 5: must be greater than minReadySeconds'],
  },
  {
    name: 'an unknown strategy of a Deployment',
    resource: 'deployments.apps',
    spec: { strategy: { type: 'Sometimes' } },
    expected: [
      'spec.strategy: Unsupported value: {"Type":"Sometimes","RollingUpdate":null}: supported values: "Recreate", "RollingUpdate"',
    ],
  },
  {
    name: 'a rolling update of a Deployment that recreates its pods',
    resource: 'deployments.apps',
    spec: { strategy: { type: 'Recreate', rollingUpdate: { maxSurge: 1 } } },
    expected: ["spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is 'Recreate'"],
  },
  {
    name: 'a rolling update with neither surge nor unavailable pods',
    resource: 'deployments.apps',
    spec: rolling({ maxUnavailable: 0, maxSurge: '0%' }),
    expected: ['spec.strategy.rollingUpdate.maxUnavailable: Invalid value: 0: may not be 0 when `maxSurge` is 0'],
  },
  {
    name: 'more than 100% unavailable pods',
    resource: 'deployments.apps',
    spec: rolling({ maxUnavailable: '101%' }),
    expected: ['spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "101%": must not be greater than 100%'],
  },
  {
    name: 'a negative surge',
    resource: 'deployments.apps',
    spec: rolling({ maxSurge: -1 }),
    expected: [`spec.strategy.rollingUpdate.maxSurge: Invalid value: -1: ${negative}`],
  },
  {
    name: 'a surge that is neither a number nor a percentage',
    resource: 'deployments.apps',
    spec: rolling({ maxSurge: 'some' }),
    expected: [
      "spec.strategy.rollingUpdate.maxSurge: Invalid value: \"some\": a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')",
    ],
  },
  {
    name: 'a DaemonSet with both surge and unavailable pods',
    resource: 'daemonsets.apps',
    spec: updating({ maxUnavailable: 1, maxSurge: 1 }),
    expected: [
      'spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: 1: may not be set when maxUnavailable is non-zero',
    ],
  },
  {
    name: 'a DaemonSet with neither surge nor unavailable pods',
    resource: 'daemonsets.apps',
    spec: updating({ maxUnavailable: 0, maxSurge: 0 }),
    expected: ['spec.updateStrategy.rollingUpdate.maxUnavailable: Required value: cannot be 0 when maxSurge is 0'],
  },
  {
    name: 'an unknown update strategy of a DaemonSet',
    resource: 'daemonsets.apps',
    spec: { updateStrategy: { type: 'Never' } },
    expected: [
      'spec.updateStrategy: Unsupported value: {"Type":"Never","RollingUpdate":null}: supported values: "RollingUpdate", "OnDelete"',
    ],
  },
  {
    name: 'an unknown pod management policy',
    resource: 'statefulsets.apps',
    spec: { podManagementPolicy: 'Random' },
    expected: ["spec.podManagementPolicy: Invalid value: \"Random\": must be 'OrderedReady' or 'Parallel'"],
  },
  {
    name: 'a negative partition',
    resource: 'statefulsets.apps',
    spec: updating({ partition: -1 }),
    expected: [`spec.updateStrategy.rollingUpdate.partition: Invalid value: -1: ${negative}`],
  },
  {
    name: 'a rolling update of a StatefulSet that waits for deletes',
    resource: 'statefulsets.apps',
    spec: { updateStrategy: { type: 'OnDelete', rollingUpdate: { partition: 1 } } },
    expected: [
      'spec.updateStrategy.rollingUpdate: Invalid value: {"Partition":1,"MaxUnavailable":null}: only allowed for updateStrategy \'RollingUpdate\'',
    ],
  },
  {
    name: 'an unknown policy for claims',
    resource: 'statefulsets.apps',
    spec: { persistentVolumeClaimRetentionPolicy: { whenScaled: 'Keep' } },
    expected: [
      'spec.persistentVolumeClaimRetentionPolicy.whenScaled: Unsupported value: "Keep": supported values: "Retain", "Delete"',
    ],
  },
  {
    name: 'a negative first ordinal',
    resource: 'statefulsets.apps',
    spec: { ordinals: { start: -1 } },
    expected: [`spec.ordinals.start: Invalid value: -1: ${negative}`],
  },
  {
    name: 'a mount of a volume that does not exist',
    resource: 'deployments.apps',
    spec: mount('data'),
    expected: ['spec.template.spec.containers[0].volumeMounts[0].name: Not found: "data"'],
  },
];

describe('validation of workloads refuses', () => {
  for (const { name, resource, spec, expected } of refusals) {
    test(name, () => expect(refusalOf(() => sandbox.create(resource, workload(spec)))).toEqual(expected));
  }

  test('a StatefulSet whose name is not valid in pod names', () => {
    const body = { ...workload(), metadata: { name: 'a.b' } };
    expect(refusalOf(() => sandbox.create('statefulsets.apps', body))[0]).toContain('a lowercase RFC 1123 label');
  });

  test('a ReplicationController without a template', () => {
    const body = { metadata: { name: 'w' }, spec: { selector: { a: 'b' } } };
    expect(refusalOf(() => sandbox.create('replicationcontrollers', body))).toEqual(['spec.template: Required value']);
  });
});

describe('validation of workloads accepts', () => {
  test('a mount of a claim template in a StatefulSet', () => {
    const spec = { ...mount('data'), volumeClaimTemplates: [claim('data')] };
    expect(refusalOf(() => sandbox.create('statefulsets.apps', workload(spec)))).toEqual([]);
  });
});

const updates = [
  { name: 'a Deployment its replicas', resource: 'deployments.apps', change: { replicas: 3 }, expected: [] },
  {
    name: 'a Deployment its selector',
    resource: 'deployments.apps',
    change: {
      selector: { matchLabels: { a: 'b', c: 'd' } },
      template: { ...template, metadata: { labels: { a: 'b', c: 'd' } } },
    },
    expected: ['spec.selector: Invalid value: {"matchLabels":{"a":"b","c":"d"}}: field is immutable'],
  },
  {
    name: 'a StatefulSet its template',
    resource: 'statefulsets.apps',
    change: withPodSpec({ hostNetwork: true }),
    expected: [],
  },
  {
    name: 'a StatefulSet its minReadySeconds',
    resource: 'statefulsets.apps',
    change: { minReadySeconds: 3, revisionHistoryLimit: 2, ordinals: { start: 2 } },
    expected: [],
  },
  {
    name: 'a StatefulSet its service',
    resource: 'statefulsets.apps',
    change: { serviceName: 'other' },
    expected: [
      "spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden",
    ],
  },
];

describe('an update', () => {
  for (const { name, resource, change, expected } of updates) {
    test(`${expected.length === 0 ? 'may' : 'may not'} change of ${name}`, () => {
      const created = sandbox.create(resource, workload());
      const changed = { ...created, spec: { ...(created['spec'] as object), ...change } };
      expect(refusalOf(() => sandbox.update(resource, changed))).toEqual(expected);
    });
  }
});

const statusRows = [
  {
    name: 'more ready replicas than replicas',
    status: { replicas: 1, readyReplicas: 2 },
    field: 'readyReplicas: Invalid value: 2: cannot be greater than status.replicas',
  },
  {
    name: 'more available than ready replicas',
    status: { replicas: 2, readyReplicas: 1, availableReplicas: 2 },
    field: 'availableReplicas: Invalid value: 2: cannot be greater than readyReplicas',
  },
  { name: 'fewer than none', status: { replicas: -1 }, field: `replicas: Invalid value: -1: ${negative}` },
];

describe('a status update refuses', () => {
  for (const resource of ['deployments.apps', 'replicasets.apps']) {
    for (const { name, status, field } of statusRows) {
      test(`${name}, of ${resource}`, () => {
        const created = sandbox.create(resource, workload());
        const refused = refusalOf(() => sandbox.update(resource, { ...created, status }, 'status'));
        expect(refused).toContain(`status.${field}`);
      });
    }
  }
});
