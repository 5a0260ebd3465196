import { beforeEach, describe, expect, test } from 'vitest';

import { refusalOf, SandboxApi } from '../../../test/support/sandbox-api.ts';

let sandbox: SandboxApi;
beforeEach(() => {
  sandbox = new SandboxApi();
});

const container = { name: 'c', image: 'i:1' };
const pod = (spec: object = {}, name = 'p') => ({ metadata: { name }, spec: { containers: [container], ...spec } });
const inContainer = (more: object) => ({ containers: [{ ...container, ...more }] });
const gibibyte = { cpu: '1', memory: '1Gi' };

const defaults: { name: string; spec: object; expected: object }[] = [
  {
    name: 'restarts, thirty seconds to stop, and the default scheduler',
    spec: {},
    expected: {
      restartPolicy: 'Always',
      dnsPolicy: 'ClusterFirst',
      terminationGracePeriodSeconds: 30,
      schedulerName: 'default-scheduler',
      enableServiceLinks: true,
      securityContext: {},
    },
  },
  {
    name: 'a pull for every start of an image without a tag',
    spec: inContainer({ image: 'registry:5000/i' }),
    expected: inContainer({ image: 'registry:5000/i', imagePullPolicy: 'Always' }),
  },
  {
    name: 'a pull when absent for an image with a tag',
    spec: inContainer({ image: 'i:2' }),
    expected: inContainer({ image: 'i:2', imagePullPolicy: 'IfNotPresent' }),
  },
  {
    name: 'a pull when absent for an image with a digest',
    spec: inContainer({ image: 'i@sha256:abc' }),
    expected: inContainer({ image: 'i@sha256:abc', imagePullPolicy: 'IfNotPresent' }),
  },
  {
    name: 'a pull for every start of the latest image, with a digest or without',
    spec: inContainer({ image: 'i:latest@sha256:abc' }),
    expected: inContainer({ image: 'i:latest@sha256:abc', imagePullPolicy: 'Always' }),
  },
  {
    name: 'requests equal to its limits',
    spec: inContainer({ resources: { limits: gibibyte, requests: { cpu: '500m' } } }),
    expected: inContainer({ resources: { limits: gibibyte, requests: { cpu: '500m', memory: '1Gi' } } }),
  },
  {
    name: 'host ports on the network of its host',
    spec: { hostNetwork: true, ...inContainer({ ports: [{ containerPort: 80 }] }) },
    expected: inContainer({ ports: [{ containerPort: 80, hostPort: 80, protocol: 'TCP' }] }),
  },
  {
    name: 'a probe every ten seconds that fails after three',
    spec: inContainer({ readinessProbe: { httpGet: { port: 80 } } }),
    expected: inContainer({
      readinessProbe: {
        httpGet: { path: '/', port: 80, scheme: 'HTTP' },
        timeoutSeconds: 1,
        periodSeconds: 10,
        successThreshold: 1,
        failureThreshold: 3,
      },
    }),
  },
  {
    name: 'an empty directory for a volume without a source',
    spec: { volumes: [{ name: 'v' }] },
    expected: { volumes: [{ name: 'v', emptyDir: {} }, {}] },
  },
  {
    name: 'modes for the files of a secret',
    spec: { volumes: [{ name: 'v', secret: { secretName: 's' } }] },
    expected: { volumes: [{ secret: { defaultMode: 0o644 } }, {}] },
  },
  {
    name: 'five minutes on a node that is not ready or unreachable',
    spec: {},
    expected: {
      tolerations: [
        { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 },
        { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 },
      ],
    },
  },
  {
    name: 'no more tolerations when it tolerates everything',
    spec: { tolerations: [{ operator: 'Exists' }] },
    expected: { tolerations: [{ operator: 'Exists' }] },
  },
  {
    name: 'the priority of its class',
    spec: { priorityClassName: 'system-node-critical' },
    expected: { priority: 2_000_001_000, preemptionPolicy: 'PreemptLowerPriority' },
  },
  {
    name: 'a token of its service account',
    spec: {},
    expected: {
      serviceAccountName: 'default',
      serviceAccount: 'default',
      ...inContainer({
        volumeMounts: [{ mountPath: '/var/run/secrets/kubernetes.io/serviceaccount', readOnly: true }],
      }),
    },
  },
];

describe('a pod gets', () => {
  for (const { name, spec, expected } of defaults) {
    test(name, () => expect(sandbox.create('pods', pod(spec))['spec']).toMatchObject(expected));
  }

  test('no token when it asks for none', () => {
    const created = sandbox.create('pods', pod({ automountServiceAccountToken: false }));
    expect(created['spec']).not.toHaveProperty('volumes');
  });

  test('the gate as the reason why it is not scheduled', () => {
    const created = sandbox.create('pods', pod({ schedulingGates: [{ name: 'example.com/g' }] }));
    expect(created['status']).toMatchObject({
      conditions: [{ type: 'PodScheduled', status: 'False', reason: 'SchedulingGated' }],
    });
  });
});

const classes = [
  { name: 'BestEffort without requests and limits', resources: {}, expected: 'BestEffort' },
  { name: 'Burstable with a request', resources: { requests: { cpu: '1' } }, expected: 'Burstable' },
  { name: 'Burstable with a limit of one resource', resources: { limits: { cpu: '1' } }, expected: 'Burstable' },
  { name: 'Guaranteed with limits of both', resources: { limits: gibibyte }, expected: 'Guaranteed' },
  {
    name: 'Burstable when a request is below its limit',
    resources: { limits: gibibyte, requests: { cpu: '500m' } },
    expected: 'Burstable',
  },
  {
    name: 'BestEffort with requests of other resources alone',
    resources: { requests: { 'ephemeral-storage': '1Gi' } },
    expected: 'BestEffort',
  },
];

describe('a pod is', () => {
  for (const { name, resources, expected } of classes) {
    test(name, () => {
      const { status } = sandbox.create('pods', pod(inContainer({ resources })));
      expect(status).toMatchObject({ phase: 'Pending', qosClass: expected });
    });
  }
});

const refusals: { name: string; spec: object; expected: string[] }[] = [
  { name: 'no containers', spec: { containers: [] }, expected: ['spec.containers: Required value'] },
  {
    name: 'two containers of one name',
    spec: { containers: [container, container] },
    expected: ['spec.containers[1].name: Duplicate value: "c"'],
  },
  {
    name: 'a container without an image',
    spec: { containers: [{ name: 'c' }] },
    expected: ['spec.containers[0].image: Required value'],
  },
  {
    name: 'a port out of range',
    spec: inContainer({ ports: [{ containerPort: 65_536 }] }),
    expected: [
      'spec.containers[0].ports[0].containerPort: Invalid value: 65536: must be between 1 and 65535, inclusive',
    ],
  },
  {
    name: 'two volumes of one name',
    spec: { volumes: [{ name: 'v' }, { name: 'v' }] },
    expected: ['spec.volumes[1].name: Duplicate value: "v"'],
  },
  {
    name: 'a mount of an init container without a volume',
    spec: { initContainers: [{ ...container, name: 'i', volumeMounts: [{ name: 'x', mountPath: '/x' }] }] },
    expected: ['spec.initContainers[0].volumeMounts[0].name: Not found: "x"'],
  },
  {
    name: 'two mounts at one path',
    spec: {
      volumes: [{ name: 'v' }],
      ...inContainer({
        volumeMounts: [
          { name: 'v', mountPath: '/x' },
          { name: 'v', mountPath: '/x' },
        ],
      }),
    },
    expected: ['spec.containers[0].volumeMounts[1].mountPath: Invalid value: "/x": must be unique'],
  },
  {
    name: 'an unknown restart policy',
    spec: { restartPolicy: 'Sometimes' },
    expected: ['spec.restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "OnFailure", "Never"'],
  },
  {
    name: 'a priority class that does not exist',
    spec: { priorityClassName: 'x' },
    expected: ['pods "p" is forbidden: no PriorityClass with name x was found'],
  },
  {
    name: 'a service account that does not exist',
    spec: { serviceAccountName: 'x' },
    expected: ['pods "p" is forbidden: error looking up service account default/x: serviceaccount "x" not found'],
  },
];

describe('a pod is refused with', () => {
  for (const { name, spec, expected } of refusals) {
    test(name, () => expect(refusalOf(() => sandbox.create('pods', pod(spec)))).toEqual(expected));
  }
});

const gated = { schedulingGates: [{ name: 'example.com/g' }] };
const toleration = { key: 'a', operator: 'Exists' };
const updates: { name: string; from?: object; change: (spec: Record<string, unknown>) => object; field?: string }[] = [
  {
    name: 'the image of a container',
    change: ({ containers }) => ({ containers: [{ ...(containers as object[])[0], image: 'i:2' }] }),
  },
  {
    name: 'the command of a container',
    change: ({ containers }) => ({ containers: [{ ...(containers as object[])[0], command: ['x'] }] }),
    field: 'spec',
  },
  {
    name: 'the number of containers',
    change: ({ containers }) => ({
      containers: [...(containers as object[]), { name: 'd', image: 'i', imagePullPolicy: 'Always' }],
    }),
    field: 'spec.containers',
  },
  { name: 'the deadline, from none to one', change: () => ({ activeDeadlineSeconds: 5 }) },
  {
    name: 'the deadline to a later one',
    from: { activeDeadlineSeconds: 5 },
    change: () => ({ activeDeadlineSeconds: 6 }),
    field: 'spec.activeDeadlineSeconds',
  },
  {
    name: 'the deadline to none',
    from: { activeDeadlineSeconds: 5 },
    change: () => ({ activeDeadlineSeconds: undefined }),
    field: 'spec.activeDeadlineSeconds',
  },
  {
    name: 'tolerations by adding one',
    change: ({ tolerations }) => ({ tolerations: [...(tolerations as object[]), toleration] }),
  },
  {
    name: 'tolerations by removing one',
    from: { tolerations: [toleration] },
    change: ({ tolerations }) => ({ tolerations: (tolerations as object[]).slice(1) }),
    field: 'spec.tolerations',
  },
  { name: 'gates by removing one', from: gated, change: () => ({ schedulingGates: undefined }) },
  { name: 'gates by adding one', change: () => gated, field: 'spec.schedulingGates[0].name' },
  {
    name: 'the node selector of a gated pod by adding to it',
    from: { ...gated, nodeSelector: { a: 'b' } },
    change: () => ({ nodeSelector: { a: 'b', c: 'd' } }),
  },
  {
    name: 'the node selector of a gated pod by changing it',
    from: { ...gated, nodeSelector: { a: 'b' } },
    change: () => ({ nodeSelector: { a: 'c' } }),
    field: 'spec.nodeSelector',
  },
  { name: 'the node selector of any other pod', change: () => ({ nodeSelector: { a: 'b' } }), field: 'spec' },
];

describe('an update of a pod', () => {
  for (const { name, from, change, field } of updates) {
    test(`${field === undefined ? 'may' : 'may not'} change ${name}`, () => {
      const created = sandbox.create('pods', pod(from));
      const spec = created['spec'] as Record<string, unknown>;
      const changed = { ...created, spec: { ...spec, ...change(spec) } };
      const refused = refusalOf(() => sandbox.update('pods', changed));
      expect(refused.map((each) => each.split(':')[0])).toEqual(field === undefined ? [] : [field]);
    });
  }

  test('of the status keeps the owners and the class of service', () => {
    const created = sandbox.create('pods', pod());
    const ownerReferences = [{ apiVersion: 'v1', kind: 'Node', name: 'n', uid: 'u' }];
    const changed = { ...created, metadata: { ...created.metadata, ownerReferences }, status: { phase: 'Running' } };
    const updated = sandbox.update('pods', changed, 'status');
    expect(updated.metadata.ownerReferences).toBeUndefined();
    expect(updated['status']).toMatchObject({ phase: 'Running', qosClass: 'BestEffort' });
  });
});
