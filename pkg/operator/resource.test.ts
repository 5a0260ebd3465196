import { describe, expect, expectTypeOf, test } from 'vitest';
import * as z from 'zod';

import type { ObjectOf } from '../api/index.ts';
import { conditionsSchema } from './conditions.ts';
import { DefinitionError } from './definition-error.ts';
import { fromCrd } from './from-crd.ts';
import { defineResource, type DraftOf } from './resource.ts';
import { typeSource } from './type-source.ts';

const Policies = defineResource({
  group: 'example.com',
  version: 'v1',
  kind: 'Policy',
  scope: 'Cluster',
  shortNames: ['pol'],
  spec: z.object({ size: z.int32().default(1), names: z.array(z.string()).describe('Who may.\nOthers may not.') }),
  status: z.object({ replicas: z.int32(), conditions: conditionsSchema }),
  scale: { specReplicasPath: '.spec.size', statusReplicasPath: '.status.replicas' },
  printerColumns: [{ name: 'Size', type: 'integer', jsonPath: '.spec.size' }],
  otherVersions: [
    { version: 'v1beta1', spec: z.object({ 'max-size': z.int32().optional() }), deprecationWarning: 'use v1' },
    { version: 'v1alpha1', spec: z.object({}), served: false },
  ],
});

describe('defineResource', () => {
  test('is a kind', () => {
    expect(Policies).toMatchObject({ group: 'example.com', version: 'v1', resource: 'policies', namespaced: false });
    expect(Object.keys(Policies.versions)).toEqual(['v1', 'v1beta1']);
  });

  test('types stored objects with their defaults, and drafts without', () => {
    type Policy = ObjectOf<typeof Policies>;
    expectTypeOf<Policy['spec']['size']>().toEqualTypeOf<number>();
    expectTypeOf<DraftOf<typeof Policies>['spec']['size']>().toEqualTypeOf<number | undefined>();
    expectTypeOf<NonNullable<Policy['status']>['replicas']>().toEqualTypeOf<number | undefined>();
  });

  test('has each served version, with the type of its schema and the definition', () => {
    const { v1, v1beta1 } = Policies.versions;
    expect([v1.version, v1beta1.version]).toEqual(['v1', 'v1beta1']);
    expect([v1.crd, v1beta1.crd]).toEqual([Policies.crd, Policies.crd]);
    expectTypeOf<ObjectOf<typeof v1>>().toEqualTypeOf<ObjectOf<typeof Policies>>();
    expectTypeOf<DraftOf<typeof v1beta1>['spec']>().toEqualTypeOf<{ 'max-size'?: number | undefined }>();
    expectTypeOf<keyof typeof Policies.versions>().toEqualTypeOf<'v1' | 'v1beta1'>();
  });

  test('has a definition with every version, subresources and columns', () => {
    const { metadata, spec } = Policies.crd;
    expect(metadata.name).toBe('policies.example.com');
    expect(spec.versions.map(({ name, served, storage, deprecated }) => [name, served, storage, deprecated])).toEqual([
      ['v1', true, true, undefined],
      ['v1beta1', true, false, true],
      ['v1alpha1', false, false, undefined],
    ]);
    expect(spec.versions[0]?.subresources).toEqual({
      status: {},
      scale: { specReplicasPath: '.spec.size', statusReplicasPath: '.status.replicas' },
    });
    expect(spec.versions[0]?.additionalPrinterColumns).toEqual([
      { name: 'Size', type: 'integer', jsonPath: '.spec.size' },
    ]);
  });

  test('requires no field of a status, which is written in parts', () => {
    const status = Policies.crd.spec.versions[0]?.schema?.openAPIV3Schema?.properties?.['status'];
    expect(status).toHaveProperty('properties.replicas');
    expect(status?.required).toBeUndefined();
  });

  test('keeps what its author says of a status', () => {
    const rules = [{ rule: 'self.ready || self.replicas == 0' }];
    const { crd } = defineResource({
      group: 'example.com',
      version: 'v1',
      kind: 'Job',
      spec: z.object({}),
      status: z
        .object({ ready: z.boolean(), replicas: z.int32().default(0) })
        .describe('What was observed.')
        .meta({ 'x-kubernetes-validations': rules }),
    });
    expect(crd.spec.versions[0]?.schema?.openAPIV3Schema?.properties?.['status']).toEqual({
      type: 'object',
      properties: { ready: { type: 'boolean' }, replicas: { type: 'integer', format: 'int32', default: 0 } },
      description: 'What was observed.',
      'x-kubernetes-validations': rules,
    });
  });

  test('refuses a refinement of a status, and names it', () => {
    const status = z.object({ ready: z.boolean() }).refine(() => true);
    const given = { group: 'example.com', version: 'v1', kind: 'Job', spec: z.object({}), status };
    expect(() => defineResource(given)).toThrow(DefinitionError);
    expect(() => defineResource(given)).toThrow(/^Job\.v1\.status: the API server cannot run a refinement/);
  });

  for (const [name, change] of [
    ['a group that is not a domain', { group: 'example' }],
    ['a kind in lower case', { kind: 'policy' }],
    ['a version that is not valid', { version: '1' }],
    ['a kind that is too long', { kind: `P${'o'.repeat(59)}` }],
    ['a plural that is no label', { plural: 'my_policies' }],
    ['a plural that is too long', { plural: 'p'.repeat(64) }],
    ['a short name in capitals', { shortNames: ['POL'] }],
    ['a category with a blank', { categories: ['my own'] }],
    ['a group of the Kubernetes project', { group: 'policy.k8s.io' }],
    ['a column with a path without a dot', { printerColumns: [{ name: 'A', type: 'date', jsonPath: 'spec.a' }] }],
    ['a column without a name', { printerColumns: [{ name: '', type: 'date', jsonPath: '.spec.a' }] }],
    ['a scale of a status', { scale: { specReplicasPath: '.status.size', statusReplicasPath: '.status.replicas' } }],
    ['a scale of no field', { scale: { specReplicasPath: '.spec.sizes', statusReplicasPath: '.status.replicas' } }],
    ['a warning of two lines', { otherVersions: [{ version: 'v2', spec: z.object({}), deprecationWarning: 'a\nb' }] }],
    ['a version twice', { otherVersions: [{ version: 'v1', spec: z.object({}) }] }],
  ] as const) {
    test(`refuses ${name}`, () => {
      const schemas = { spec: z.object({ size: z.int() }), status: z.object({ replicas: z.int() }) };
      const fine = { group: 'example.com', version: 'v1', kind: 'Policy', ...schemas };
      expect(() => defineResource(fine)).not.toThrow();
      expect(() => defineResource({ ...fine, ...change })).toThrow(DefinitionError);
    });
  }
});

describe('fromCrd', () => {
  test('reads what defineResource writes', () => {
    const read = fromCrd(JSON.parse(JSON.stringify(Policies.crd)), 'v1beta1');
    expect(read).toMatchObject({ kind: 'Policy', version: 'v1beta1', resource: 'policies', namespaced: false });
  });

  test('leaves out what only the server sets, and what kubectl notes', () => {
    const annotations = { 'api-approved.kubernetes.io': 'x', 'kubectl.kubernetes.io/last-applied-configuration': '{}' };
    const metadata = { name: 'policies.example.com', uid: '1', resourceVersion: '7', annotations };
    const { crd } = fromCrd({ ...Policies.crd, metadata, status: { storedVersions: ['v1'] } });
    expect(crd.metadata).toEqual({
      name: 'policies.example.com',
      annotations: { 'api-approved.kubernetes.io': 'x' },
    });
    expect(crd).not.toHaveProperty('status');
  });

  test('refuses a version that is not served, and other manifests', () => {
    expect(() => fromCrd(Policies.crd, 'v1alpha1')).toThrow('version v1alpha1 is not served, but v1, v1beta1');
    expect(() => fromCrd({ kind: 'Deployment' })).toThrow(DefinitionError);
  });
});

test('typeSource writes the types of each served version', () => {
  expect(typeSource(Policies.crd)).toBe(`// Generated by crd-types from policies.example.com. Do not edit.
import { defineKind, type KubeObject } from 'kube-controller-manager/api';

export interface Policy extends KubeObject {
  spec: {
    size?: number | undefined;
    /**
     * Who may.
     * Others may not.
     */
    names: string[];
  };
  status?: {
    replicas?: number | undefined;
    conditions?: {
      type: string;
      status: "True" | "False" | "Unknown";
      reason: string;
      message: string;
      lastTransitionTime: string;
      observedGeneration?: number | undefined;
    }[] | undefined;
  } | undefined;
}

export const Policies = defineKind<Policy>({
  "group": "example.com",
  "version": "v1",
  "kind": "Policy",
  "resource": "policies",
  "namespaced": false
});

export interface PolicyV1beta1 extends KubeObject {
  spec: {
    "max-size"?: number | undefined;
  };
}

export const PoliciesV1beta1 = defineKind<PolicyV1beta1>({
  "group": "example.com",
  "version": "v1beta1",
  "kind": "Policy",
  "resource": "policies",
  "namespaced": false
});
`);
});
