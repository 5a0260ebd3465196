import { describe, expect, test } from 'vitest';

import type { PodTemplateSpec } from '../../pkg/api/index.ts';
import { frozen } from '../../test/support/builders.ts';
import { isSameTemplate } from './template-form.ts';

const base = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'app', image: 'one' }] } };
const withSpec = (spec: object) => ({ ...base, spec: { ...base.spec, ...spec } });
const withContainer = (fields: object) => withSpec({ containers: [{ ...base.spec.containers[0], ...fields }] });

describe('isSameTemplate', () => {
  const rows = [
    { name: 'equal templates', other: base, expected: true },
    {
      name: 'a time that is null',
      other: { ...base, metadata: { ...base.metadata, creationTimestamp: null } },
      expected: true,
    },
    { name: 'an empty list', other: withContainer({ env: [] }), expected: true },
    { name: 'an empty map', other: withSpec({ nodeSelector: {} }), expected: true },
    { name: 'the empty resources of a container', other: withContainer({ resources: {} }), expected: true },
    {
      name: 'a default written out',
      other: withSpec({ dnsPolicy: 'ClusterFirst', securityContext: {} }),
      expected: true,
    },
    { name: 'another image', other: withContainer({ image: 'two' }), expected: false },
    { name: 'an empty object that is no map', other: withSpec({ affinity: {} }), expected: false },
    { name: 'the empty resources of the pod', other: withSpec({ resources: {} }), expected: false },
    {
      name: 'another label',
      other: { ...base, metadata: { labels: { app: 'web', constructor: 'x' } } },
      expected: false,
    },
  ];
  for (const { name, other, expected } of rows) {
    test(name, () => {
      expect(isSameTemplate(frozen(other as PodTemplateSpec), frozen(base))).toBe(expected);
      expect(isSameTemplate(frozen(base), frozen(other as PodTemplateSpec))).toBe(expected);
    });
  }
});
