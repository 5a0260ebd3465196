import { describe, expect, test } from 'vitest';

import type { UntypedObject } from '../../api/index.ts';
import { refusalOf, SandboxApi } from '../../../test/support/sandbox-api.ts';

const gate = 'MaxUnavailableStatefulSet';
const resource = 'statefulsets.apps';
const selector = { matchLabels: { a: 'b' } };
const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'one' }] } };
const described = { serviceName: 's', selector, template };

const withStrategy = (rollingUpdate: object) => ({
  metadata: { name: 's' },
  spec: { ...described, updateStrategy: { type: 'RollingUpdate', rollingUpdate } },
});
const strategyOf = ({ spec }: UntypedObject): unknown =>
  (spec as { updateStrategy: { rollingUpdate?: unknown } }).updateStrategy.rollingUpdate;

describe('maxUnavailable of a StatefulSet', () => {
  const rows: { name: string; gates: string[]; given: object; stored: object }[] = [
    { name: 'is dropped', gates: [], given: { maxUnavailable: 2 }, stored: { partition: 0 } },
    { name: 'is dropped before it is validated', gates: [], given: { maxUnavailable: 0 }, stored: { partition: 0 } },
    {
      name: 'is kept with the gate on',
      gates: [gate],
      given: { maxUnavailable: '50%', partition: 1 },
      stored: { maxUnavailable: '50%', partition: 1 },
    },
    { name: 'is 1 by default with the gate on', gates: [gate], given: {}, stored: { maxUnavailable: 1, partition: 0 } },
  ];
  for (const { name, gates, given, stored } of rows) {
    test(name, () => {
      const sandbox = new SandboxApi({ featureGates: gates });
      expect(strategyOf(sandbox.create(resource, withStrategy(given)))).toEqual(stored);
    });

    test(`${name}, by an update`, () => {
      const sandbox = new SandboxApi({ featureGates: gates });
      const created = sandbox.create(resource, { metadata: { name: 's' }, spec: described });
      const updated = sandbox.update(resource, { ...created, spec: withStrategy(given).spec });
      expect(strategyOf(updated)).toEqual(stored);
    });
  }

  test('is validated with the gate on', () => {
    const sandbox = new SandboxApi({ featureGates: [gate] });
    const problem = 'spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: 0: cannot be 0';
    expect(refusalOf(() => sandbox.create(resource, withStrategy({ maxUnavailable: 0 })))).toEqual([problem]);
  });

  test('can be changed with the gate off if the stored object has it', () => {
    const before = new SandboxApi({ featureGates: [gate] });
    const created = before.create(resource, withStrategy({ maxUnavailable: 2 }));
    const after = new SandboxApi({ store: before.store });
    const updated = after.update(resource, { ...created, spec: withStrategy({ maxUnavailable: 3 }).spec });
    expect(strategyOf(updated)).toEqual({ maxUnavailable: 3, partition: 0 });
  });

  test('is absent with OnDelete, whatever the gate', () => {
    const sandbox = new SandboxApi({ featureGates: [gate] });
    const spec = { ...described, updateStrategy: { type: 'OnDelete' } };
    expect(strategyOf(sandbox.create(resource, { metadata: { name: 's' }, spec }))).toBeUndefined();
  });
});

const claimSpec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
const withTemplate = (spec: object) => ({
  metadata: { name: 's' },
  spec: { ...described, volumeClaimTemplates: [{ metadata: { name: 'data' }, spec }] },
});

describe('a claim template of a StatefulSet', () => {
  test('has the version and the kind of claims', () => {
    const created = new SandboxApi().create(resource, withTemplate(claimSpec));
    expect(created['spec']).toMatchObject({
      volumeClaimTemplates: [{ apiVersion: 'v1', kind: 'PersistentVolumeClaim' }],
    });
  });

  const field = 'spec.volumeClaimTemplates[0].spec';
  const storage = `${field}.resources[storage]`;
  const rows: { name: string; spec: object; problems: string[] }[] = [
    {
      name: 'must not be empty',
      spec: {},
      problems: [
        `${field}.accessModes: Required value: at least 1 access mode is required`,
        `${storage}: Required value`,
      ],
    },
    {
      name: 'must have a known mode',
      spec: { ...claimSpec, accessModes: ['Sometimes'] },
      problems: [
        `${field}.accessModes: Unsupported value: "Sometimes": supported values: "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"`,
      ],
    },
    {
      name: 'must not combine the mode of a single pod with another',
      spec: { ...claimSpec, accessModes: ['ReadWriteOncePod', 'ReadWriteOnce'] },
      problems: [`${field}.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes`],
    },
    {
      name: 'must have a size',
      spec: { ...claimSpec, resources: { requests: { storage: '0' } } },
      problems: [`${storage}: Invalid value: "0": must be greater than zero`],
    },
    {
      name: 'must have a known volume mode',
      spec: { ...claimSpec, volumeMode: 'Tape' },
      problems: [`${field}.volumeMode: Unsupported value: "Tape": supported values: "Block", "Filesystem"`],
    },
  ];
  for (const { name, spec, problems } of rows) {
    test(name, () => {
      expect(refusalOf(() => new SandboxApi().create(resource, withTemplate(spec)))).toEqual(problems);
    });
  }
});

describe('the service name of a StatefulSet', () => {
  test('is a DNS label, or absent', () => {
    const named = (serviceName: string) => ({ metadata: { name: 's' }, spec: { ...described, serviceName } });
    const [problem = ''] = refusalOf(() => new SandboxApi().create(resource, named('Not.A.Label')));
    expect(problem).toMatch(/^spec.serviceName: Invalid value: "Not.A.Label": a lowercase RFC 1123 label must/);
    expect(new SandboxApi().create(resource, named('')).metadata.name).toBe('s');
  });
});

describe('the status of a StatefulSet', () => {
  const good = { replicas: 3, readyReplicas: 2, availableReplicas: 2, currentReplicas: 3, collisionCount: 1 };
  const more = 'cannot be greater than status.replicas';
  const rows: { name: string; status: object; problems: string[] }[] = [
    {
      name: 'has no negative counts',
      status: { ...good, updatedReplicas: -1 },
      problems: ['status.updatedReplicas: Invalid value: -1: must be greater than or equal to 0'],
    },
    {
      name: 'counts no more pods of a kind than pods',
      status: { ...good, currentReplicas: 4, updatedReplicas: 5 },
      problems: [
        `status.currentReplicas: Invalid value: 4: ${more}`,
        `status.updatedReplicas: Invalid value: 5: ${more}`,
      ],
    },
    {
      name: 'counts no more available than ready pods',
      status: { ...good, availableReplicas: 3 },
      problems: ['status.availableReplicas: Invalid value: 3: cannot be greater than status.readyReplicas'],
    },
    {
      name: 'counts collisions upwards',
      status: { ...good, collisionCount: 0 },
      problems: ['status.collisionCount: Invalid value: 0: cannot be decremented'],
    },
  ];
  for (const { name, status, problems } of rows) {
    test(name, () => {
      const sandbox = new SandboxApi();
      const created = sandbox.create(resource, { metadata: { name: 's' }, spec: described });
      const stored = sandbox.update(resource, { ...created, status: good }, 'status');
      expect(refusalOf(() => sandbox.update(resource, { ...stored, status }, 'status'))).toEqual(problems);
    });
  }
});
