import { describe, expect, test } from 'vitest';

import { configMap, frozen } from '../../test/support/builders.ts';
import { configMapName, planPublication } from './publication.ts';

describe('planPublication', () => {
  const described = { 'kubernetes.io/description': 'by hand' };
  const rows = [
    { name: 'keeps a ConfigMap that is up to date', annotations: described, data: { 'ca.crt': 'CA' }, changes: false },
    { name: 'replaces other certificates', annotations: described, data: { 'ca.crt': 'other' }, changes: true },
    {
      name: 'removes other data',
      annotations: described,
      data: { 'ca.crt': 'CA', x: 'y' },
      changes: true,
    },
    { name: 'restores missing certificates', annotations: described, data: {}, changes: true },
    {
      name: 'restores a missing description',
      annotations: undefined,
      data: { 'ca.crt': 'CA' },
      changes: true,
    },
    {
      name: 'replaces an empty description',
      annotations: { 'kubernetes.io/description': '' },
      data: { 'ca.crt': 'CA' },
      changes: true,
    },
  ];
  for (const { name, annotations, data, changes } of rows) {
    test(name, () => {
      const present = frozen(configMap({ name: configMapName, namespace: 'team', annotations }, data));
      const planned = planPublication('team', present, 'CA');
      expect(planned !== undefined).toBe(changes);
      if (planned === undefined) return;
      expect(planned.data).toEqual({ 'ca.crt': 'CA' });
      expect(planned.metadata.resourceVersion).toBe('1');
      expect(planned.metadata.annotations?.['kubernetes.io/description']).toMatch(/^Contains a CA bundle/);
    });
  }

  test('creates a ConfigMap with a description', () => {
    expect(planPublication('team', undefined, 'CA')).toEqual({
      metadata: {
        namespace: 'team',
        name: 'kube-root-ca.crt',
        annotations: { 'kubernetes.io/description': expect.stringMatching(/^Contains a CA bundle .* clusters\.$/) },
      },
      data: { 'ca.crt': 'CA' },
    });
  });

  test('keeps annotations and labels of others', () => {
    const present = configMap({ name: configMapName, labels: { a: 'b' }, annotations: { c: 'd' } });
    expect(planPublication('default', frozen(present), 'CA')?.metadata).toMatchObject({
      labels: { a: 'b' },
      annotations: { c: 'd' },
    });
  });
});
