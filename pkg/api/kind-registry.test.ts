import { describe, expect, test } from 'vitest';

import { KindRegistry } from './kind-registry.ts';
import { defineKind, Deployments, Namespaces, Pods } from './kinds.ts';

describe('KindRegistry', () => {
  const registry = new KindRegistry([Pods, Deployments, Namespaces]);

  const kinds = [
    { apiVersion: 'v1', kind: 'Pod', expected: Pods },
    { apiVersion: 'apps/v1', kind: 'Deployment', expected: Deployments },
    { apiVersion: 'v1', kind: 'Deployment', expected: undefined },
    { apiVersion: 'apps/v1beta1', kind: 'Deployment', expected: undefined },
    { apiVersion: 'v1', kind: 'pods', expected: undefined },
    { apiVersion: '', kind: '', expected: undefined },
    { apiVersion: 'v1', kind: 'constructor', expected: undefined },
  ];
  for (const { apiVersion, kind, expected } of kinds) {
    test(`finds ${expected?.resource ?? 'no resource'} for the kind ${kind} of ${apiVersion}`, () => {
      expect(registry.byKind(apiVersion, kind)).toBe(expected);
      expect(registry.kindOf({ apiVersion, kind })).toBe(expected);
    });
  }

  const resources = [
    { apiVersion: 'v1', resource: 'namespaces', expected: Namespaces },
    { apiVersion: 'apps/v1', resource: 'deployments', expected: Deployments },
    { apiVersion: 'apps/v1', resource: 'Deployment', expected: undefined },
    { apiVersion: 'apps/v1', resource: 'deployments/scale', expected: undefined },
  ];
  for (const { apiVersion, resource, expected } of resources) {
    test(`finds ${expected?.kind ?? 'no kind'} for the resource ${resource} of ${apiVersion}`, () => {
      expect(registry.byResource(apiVersion, resource)).toBe(expected);
    });
  }

  test('finds no kind for an object without apiVersion and kind', () => expect(registry.kindOf({})).toBeUndefined());

  test('lists its kinds in the order of their registration', () => {
    expect([...registry]).toEqual([Pods, Deployments, Namespaces]);
  });

  test('accepts the same kind twice, and lists it once', () => {
    const twice = new KindRegistry([Pods]);
    twice.register(Pods);
    expect([...twice]).toEqual([Pods]);
  });

  test('accepts one kind in two groups', () => {
    const inOtherGroup = { ...Deployments, group: 'example.com' };
    expect([...new KindRegistry([Deployments, inOtherGroup])]).toHaveLength(2);
  });

  const conflicts = [
    { name: 'another resource', change: { resource: 'podlets' } },
    { name: 'another scope', change: { namespaced: false } },
  ];
  for (const { name, change } of conflicts) {
    test(`refuses a registered kind with ${name}`, () => {
      expect(() => registry.register(defineKind({ ...Pods, ...change }))).toThrow(
        'kind Pod of v1 is already registered as pods',
      );
      expect(registry.byKind('v1', 'Pod')).toBe(Pods);
    });
  }
});
