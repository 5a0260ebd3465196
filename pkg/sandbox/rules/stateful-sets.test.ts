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
