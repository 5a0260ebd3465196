import { describe, expect, test } from 'vitest';

import { validateMetadata, validateMetadataUpdate } from './metadata.ts';
import {
  labelProblem,
  labelValueProblem,
  pathSegmentProblem,
  qualifiedNameProblem,
  subdomainProblem,
} from './names.ts';

const long = (length: number): string => 'a'.repeat(length);
const tables: { rule: string; problem: (name: string) => string | undefined; good: string[]; bad: string[] }[] = [
  {
    rule: 'a subdomain',
    problem: subdomainProblem,
    good: ['a', 'a-b.c', '1.2', long(253)],
    bad: ['', 'A', 'a_b', '-a', 'a-', 'a..b', '.a', long(254)],
  },
  { rule: 'a label', problem: labelProblem, good: ['a', '1a', 'a-b', long(63)], bad: ['', 'a.b', 'A', 'a-', long(64)] },
  {
    rule: 'a qualified name',
    problem: qualifiedNameProblem,
    good: ['a', 'A.b_c-d', 'example.com/A', long(63), `${long(253)}/a`],
    bad: ['', 'a/', '/a', 'a/b/c', 'Example.com/a', '-a', long(64), `${long(254)}/a`],
  },
  {
    rule: 'a label value',
    problem: labelValueProblem,
    good: ['', 'A', 'a_b.c', long(63)],
    bad: ['-', 'a b', 'ä', long(64)],
  },
  { rule: 'a path segment', problem: pathSegmentProblem, good: ['a:b', 'A B'], bad: ['.', '..', 'a/b', 'a%b'] },
];

for (const { rule, problem, good, bad } of tables) {
  describe(rule, () => {
    for (const name of good)
      test(`may be "${name.slice(0, 20)}" of ${name.length}`, () => expect(problem(name)).toBeUndefined());
    for (const name of bad)
      test(`may not be "${name.slice(0, 20)}" of ${name.length}`, () => expect(problem(name)).toBeTypeOf('string'));
  });
}

const owner = { apiVersion: 'v1', kind: 'Node', name: 'n', uid: 'u' };
const metadataRows = [
  { name: 'plain metadata', metadata: { name: 'a', labels: { 'x/y': 'z' } }, fields: [] },
  { name: 'a bad name', metadata: { name: 'A' }, fields: ['metadata.name'] },
  { name: 'a bad label name', metadata: { name: 'a', labels: { 'a b': '' } }, fields: ['metadata.labels'] },
  { name: 'a bad label value', metadata: { name: 'a', labels: { a: 'b c' } }, fields: ['metadata.labels'] },
  {
    name: 'capitals in the prefix of an annotation',
    metadata: { name: 'a', annotations: { 'A.b/c': '' } },
    fields: [],
  },
  {
    name: 'annotations of more than 256 KiB, in bytes',
    metadata: { name: 'a', annotations: { a: 'ä'.repeat(128 * 1024) } },
    fields: ['metadata.annotations'],
  },
  { name: 'annotations of 256 KiB', metadata: { name: 'a', annotations: { a: long(256 * 1024 - 1) } }, fields: [] },
  {
    name: 'an owner without uid',
    metadata: { name: 'a', ownerReferences: [{ ...owner, uid: '' }] },
    fields: ['metadata.ownerReferences.uid'],
  },
  {
    name: 'an owner without version',
    metadata: { name: 'a', ownerReferences: [{ ...owner, apiVersion: 'apps/' }] },
    fields: ['metadata.ownerReferences.apiVersion'],
  },
  {
    name: 'an Event as an owner',
    metadata: { name: 'a', ownerReferences: [{ ...owner, kind: 'Event' }] },
    fields: ['metadata.ownerReferences'],
  },
  {
    name: 'two controllers',
    metadata: {
      name: 'a',
      ownerReferences: [
        { ...owner, controller: true },
        { ...owner, uid: 'v', controller: true },
      ],
    },
    fields: ['metadata.ownerReferences'],
  },
  { name: 'a bad finalizer', metadata: { name: 'a', finalizers: ['a b'] }, fields: ['metadata.finalizers'] },
  {
    name: 'both finalizers orphan and foregroundDeletion',
    metadata: { name: 'a', finalizers: ['orphan', 'foregroundDeletion'] },
    fields: ['metadata.finalizers'],
  },
  {
    name: 'a generateName that no valid name starts with',
    metadata: { name: 'a', generateName: 'A-' },
    fields: ['metadata.generateName'],
  },
  { name: 'a generateName that ends in a dash', metadata: { name: 'a', generateName: 'a-' }, fields: [] },
];

describe('validateMetadata', () => {
  for (const { name, metadata, fields } of metadataRows) {
    test(`${fields.length === 0 ? 'accepts' : 'refuses'} ${name}`, () =>
      expect(validateMetadata(metadata).map(({ field }) => field)).toEqual(fields));
  }
});

describe('validateMetadataUpdate', () => {
  const deletionTimestamp = '2026-01-01T00:00:00Z';
  test('refuses new finalizers on an object that is being deleted', () => {
    const old = { deletionTimestamp, finalizers: ['a'] };
    expect(validateMetadataUpdate({ ...old, finalizers: ['a', 'b'] }, old)).toMatchObject([
      { type: 'Forbidden', field: 'metadata.finalizers' },
    ]);
  });
  test('accepts fewer finalizers on an object that is being deleted', () =>
    expect(validateMetadataUpdate({ deletionTimestamp }, { deletionTimestamp, finalizers: ['a'] })).toEqual([]));
  test('accepts new finalizers on any other object', () =>
    expect(validateMetadataUpdate({ finalizers: ['b'] }, {})).toEqual([]));
});
