import { describe, expect, test } from 'vitest';

import { membershipIn } from './selection.ts';

describe('membershipIn', () => {
  const object = {
    metadata: { namespace: 'a', name: 'one', labels: { app: 'web', tier: 'front' } },
    type: 'Opaque',
    spec: { replicas: 2, hostname: '' },
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
      name: 'another value than that of a field that is not set',
      scope: { fieldSelector: 'spec.nodeName!=n,spec.nodeName=' },
      expected: undefined,
    },
    {
      name: 'a field that must be set',
      scope: { fieldSelector: 'spec.nodeName!=' },
      expected: 'its field spec.nodeName is not set, and the selection is spec.nodeName!=',
    },
    {
      name: 'a field that is empty and must not be',
      scope: { fieldSelector: 'spec.hostname!=' },
      expected: 'its field spec.hostname is , and the selection is spec.hostname!=',
    },
  ];
  for (const { name, scope, expected } of rows) {
    const membership = expected === undefined ? { kind: 'selected' } : { kind: 'excluded', why: expected };
    test(`for ${name}: ${expected ?? 'selected'}`, () =>
      expect(membershipIn(scope, object, { isPartial: false })).toEqual(membership));
  }

  for (const { fieldSelector, isPartial = false } of [
    { fieldSelector: 'spec.hostNetwork=false' },
    { fieldSelector: 'spec.hostNetwork!=false' },
    { fieldSelector: 'status.replicas!=0' },
    { fieldSelector: 'spec.nodeName=n', isPartial: true },
    { fieldSelector: 'spec.nodeName!=', isPartial: true },
  ]) {
    test(`is undecided for ${fieldSelector}${isPartial ? ' of a partial object' : ''}`, () => {
      expect(membershipIn({ fieldSelector }, object, { isPartial })).toEqual({ kind: 'undecided' });
      const scope = { fieldSelector: `${fieldSelector},type=tls` };
      expect(membershipIn(scope, object, { isPartial })).toMatchObject({ kind: 'excluded' });
    });
  }
});
