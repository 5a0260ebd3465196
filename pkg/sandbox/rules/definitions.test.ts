import { beforeEach, describe, expect, test } from 'vitest';

import { refusalOf, SandboxApi } from '../../../test/support/sandbox-api.ts';

let sandbox: SandboxApi;
beforeEach(() => {
  sandbox = new SandboxApi();
});

const storage = 'customresourcedefinitions.apiextensions.k8s.io';
const version = (name: string, more: object = {}) => ({
  name,
  served: true,
  storage: true,
  schema: { openAPIV3Schema: { type: 'object' } },
  ...more,
});
const names = { plural: 'things', kind: 'Thing' };
const definition = (spec: object = {}, name = 'things.example.com') => ({
  metadata: { name },
  spec: { group: 'example.com', scope: 'Namespaced', names, versions: [version('v1')], ...spec },
});

describe('a new definition', () => {
  test('is accepted and established, with the names that it left out', () => {
    expect(sandbox.create(storage, definition())).toMatchObject({
      metadata: { finalizers: ['customresourcecleanup.apiextensions.k8s.io'], generation: 1 },
      spec: { names: { singular: 'thing', listKind: 'ThingList' }, conversion: { strategy: 'None' } },
      status: {
        acceptedNames: { plural: 'things', kind: 'Thing' },
        storedVersions: ['v1'],
        conditions: [
          { type: 'NamesAccepted', status: 'True' },
          { type: 'Established', status: 'True' },
        ],
      },
    });
  });
});

const refusals: { name: string; body: object; expected: string[] }[] = [
  {
    name: 'another name than its plural and its group',
    body: definition({}, 'other.example.com'),
    expected: ['metadata.name: Invalid value: "other.example.com": must be spec.names.plural+"."+spec.group'],
  },
  {
    name: 'an unknown scope',
    body: definition({ scope: 'World' }),
    expected: ['spec.scope: Unsupported value: "World": supported values: "Cluster", "Namespaced"'],
  },
  {
    name: 'a group of Kubernetes without approval',
    body: definition({ group: 'tools.k8s.io' }, 'things.tools.k8s.io'),
    expected: [
      'metadata.annotations[api-approved.kubernetes.io]: Required value: protected groups must have approval annotation "api-approved.kubernetes.io", see https://github.com/kubernetes/enhancements/pull/1111',
    ],
  },
  {
    name: 'no schema',
    body: definition({ versions: [version('v1', { schema: undefined })] }),
    expected: ['spec.versions[0].schema.openAPIV3Schema: Required value: schemas are required'],
  },
];

describe('a definition is refused with', () => {
  for (const { name, body, expected } of refusals) {
    test(name, () => expect(refusalOf(() => sandbox.create(storage, body))).toEqual(expected));
  }

  for (const [name, versions] of Object.entries({
    'two storage versions': [version('v1'), version('v2')],
    'no storage version': [version('v1', { storage: false })],
  })) {
    test(name, () => {
      const [refused] = refusalOf(() => sandbox.create(storage, definition({ versions })));
      expect(refused).toContain('must have exactly one version marked as storage version');
    });
  }
});

describe('an update of a definition', () => {
  test('keeps every version in which objects were stored', () => {
    const created = sandbox.create(storage, definition());
    const versions = [version('v1', { storage: false }), version('v2')];
    const spec = { ...(created['spec'] as object), versions };
    const updated = sandbox.update(storage, { ...created, spec });
    expect(updated['status']).toMatchObject({ storedVersions: ['v1', 'v2'] });
    expect(updated.metadata.generation).toBe(2);
  });

  test('may not change the kind', () => {
    const created = sandbox.create(storage, definition());
    const spec = { ...(created['spec'] as object), names: { ...names, kind: 'Other' } };
    const refused = refusalOf(() => sandbox.update(storage, { ...created, spec }));
    expect(refused).toEqual(['spec.names.kind: Invalid value: "Other": field is immutable']);
  });
});
