import { describe, expect, test } from 'vitest';

import * as kinds from './kinds.ts';
import { apiVersionOf, Deployments, metadataOf, Nodes, Pods, resourceName, Roles, splitApiVersion } from './kinds.ts';

/** The kinds that this file exports. */
const all = Object.values(kinds).filter((value): value is kinds.Kind => typeof value === 'object');

describe('the names of a kind', () => {
  const rows = [
    { kind: Pods, apiVersion: 'v1', resource: 'pods' },
    { kind: Deployments, apiVersion: 'apps/v1', resource: 'deployments.apps' },
    { kind: Roles, apiVersion: 'rbac.authorization.k8s.io/v1', resource: 'roles.rbac.authorization.k8s.io' },
  ];
  for (const { kind, apiVersion, resource } of rows) {
    test(`${kind.kind} is ${resource} of ${apiVersion}`, () => {
      expect(apiVersionOf(kind)).toBe(apiVersion);
      expect(resourceName(kind)).toBe(resource);
      expect(splitApiVersion(apiVersion)).toEqual({ group: kind.group, version: kind.version });
    });
  }
});

describe('splitApiVersion', () => {
  const rows = [
    { apiVersion: 'v1', expected: { group: '', version: 'v1' } },
    { apiVersion: 'batch/v1beta1', expected: { group: 'batch', version: 'v1beta1' } },
    { apiVersion: '', expected: { group: '', version: '' } },
    { apiVersion: 'a/b/c', expected: { group: 'a', version: 'b/c' } },
  ];
  for (const { apiVersion, expected } of rows) {
    test(`splits ${JSON.stringify(apiVersion)}`, () => expect(splitApiVersion(apiVersion)).toEqual(expected));
  }
});

describe('metadataOf', () => {
  test('names the same resource, with metadata only', () => {
    expect(metadataOf(Nodes)).toEqual({ ...Nodes, metadataOnly: true });
  });

  test('leaves the original as it is', () => {
    metadataOf(Nodes);
    expect(Nodes).not.toHaveProperty('metadataOnly');
  });
});

describe('the exported kinds', () => {
  for (const kind of all) {
    test(`${kind.kind} has a lower-case plural and a version`, () => {
      expect(kind.resource).toMatch(/^[a-z]+s$/);
      expect(kind.resource).toContain(kind.kind.toLowerCase().replace(/y$/, ''));
      expect(kind.version).toMatch(/^v[12]((alpha|beta)[1-9])?$/);
    });
  }

  test('are all different', () => {
    const names = all.map(resourceName);
    expect(new Set(names).size).toBe(names.length);
    expect(names.length).toBeGreaterThan(20);
  });
});
