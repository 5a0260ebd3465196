import { describe, expect, test } from 'vitest';

import { configMap, frozen } from '../../test/support/builders.ts';
import { configMapName, planPublication } from './publication.ts';

describe('planPublication', () => {
  const described = { 'kubernetes.io/description': 'by hand' };
  const rows = [
    { name: 'leaves the right one alone', annotations: described, data: { 'ca.crt': 'CA' }, changes: false },
    { name: 'replaces other certificates', annotations: described, data: { 'ca.crt': 'other' }, changes: true },
    {
      name: 'takes more than the certificates out',
      annotations: described,
      data: { 'ca.crt': 'CA', x: 'y' },
      changes: true,
    },
    { name: 'puts what was taken out back', annotations: described, data: {}, changes: true },
    {
      name: 'describes what has lost its description',
      annotations: undefined,
      data: { 'ca.crt': 'CA' },
      changes: true,
    },
    {
      name: 'describes what has an empty description',
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

  test('makes a new one, with a description', () => {
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
