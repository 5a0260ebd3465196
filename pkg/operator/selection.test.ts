import { describe, expect, test } from 'vitest';

import { exclusionFrom } from './selection.ts';

describe('exclusionFrom', () => {
  const object = {
    metadata: { namespace: 'a', name: 'one', labels: { app: 'web', tier: 'front' } },
    type: 'Opaque',
    spec: { replicas: 2 },
  };
  const rows = [
    { name: 'no selection', scope: {}, expected: undefined },
    { name: 'its namespace', scope: { namespace: 'a' }, expected: undefined },
    {
      name: 'another namespace',
      scope: { namespace: 'b' },
      expected: 'it is in the namespace a, and only b is watched',
    },
    { name: 'its labels', scope: { labelSelector: 'app=web,tier in (front,back)' }, expected: undefined },
    {
      name: 'labels that it lacks',
      scope: { labelSelector: 'app=web,tier=back,team=red' },
      expected: 'it lacks the label tier=back, team=red of the selection',
    },
    {
      name: 'a label that it must not have',
      scope: { labelSelector: '!app' },
      expected: 'its labels do not match the selection !app',
    },
    { name: 'its fields', scope: { fieldSelector: 'type=Opaque,spec.replicas==2,type!=tls' }, expected: undefined },
    {
      name: 'another value of a field',
      scope: { fieldSelector: 'type=tls' },
      expected: 'its field type is Opaque, and the selection is type=tls',
    },
    {
      name: 'a value that a field must not have',
      scope: { fieldSelector: 'metadata.name!=one' },
      expected: 'its field metadata.name is one, and the selection is metadata.name!=one',
    },
    {
      name: 'a field that is not set',
      scope: { fieldSelector: 'spec.nodeName=n' },
      expected: 'its field spec.nodeName is not set, and the selection is spec.nodeName=n',
    },
    {
      name: 'the zero value of a field that is not set',
      scope: { fieldSelector: 'spec.hostNetwork=false' },
      expected: undefined,
    },
    {
      name: 'a field that it may have',
      scope: { fieldSelector: 'spec.nodeName=n' },
      isPartial: true,
      expected: undefined,
    },
  ];
  for (const { name, scope, isPartial = false, expected } of rows) {
    test(`for ${name}: ${expected ?? 'none'}`, () =>
      expect(exclusionFrom(scope, object, { isPartial })).toBe(expected));
  }
});
