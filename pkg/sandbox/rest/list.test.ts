import { beforeEach, describe, expect, test } from 'vitest';

import { refusalOf, SandboxApi } from '../../../test/support/sandbox-api.ts';
import { listObjects, parseVersion, type ListRequest } from './list.ts';

let sandbox: SandboxApi;
beforeEach(() => {
  sandbox = new SandboxApi();
  for (const name of ['a', 'b', 'c']) sandbox.create('configmaps', { metadata: { name, labels: { name } } });
});

const all: ListRequest = { limit: 0, resourceVersion: '', resourceVersionMatch: '' };
const list = (request: Partial<ListRequest> = {}) => {
  const page = listObjects(sandbox.api, sandbox.resource('configmaps'), { ...all, ...request });
  return { ...page.metadata, names: page.entries.map(({ object }) => object.metadata.name) };
};

describe('a list', () => {
  test('is in the order of keys, at the current version', () =>
    expect(list()).toEqual({ names: ['a', 'b', 'c'], resourceVersion: String(sandbox.store.version) }));
  test('has the objects of its namespace', () => expect(list({ namespace: 'other' }).names).toEqual([]));
  test('has the objects that match its selectors', () => {
    expect(list({ labelSelector: 'name in (a,c)' }).names).toEqual(['a', 'c']);
    expect(list({ fieldSelector: 'metadata.name=b' }).names).toEqual(['b']);
  });

  test('continues from page to page at the version of the first', () => {
    const first = list({ limit: 2 });
    expect(first).toMatchObject({ names: ['a', 'b'], remainingItemCount: 1 });
    sandbox.create('configmaps', { metadata: { name: 'd' } });
    expect(list({ limit: 2, continue: first.continue })).toEqual({
      names: ['c'],
      resourceVersion: first.resourceVersion,
    });
  });

  test('has no remaining count with a selector', () =>
    expect(list({ limit: 1, labelSelector: 'name' })).not.toHaveProperty('remainingItemCount'));

  test('of an earlier version shows the objects of that version', () => {
    const { resourceVersion = '' } = list();
    sandbox.create('configmaps', { metadata: { name: 'd' } });
    expect(list({ resourceVersion, resourceVersionMatch: 'Exact' }).names).toEqual(['a', 'b', 'c']);
    expect(list({ resourceVersion, resourceVersionMatch: 'NotOlderThan' }).names).toEqual(['a', 'b', 'c', 'd']);
  });

  test('that has expired returns a token to continue with', () => {
    const first = list({ limit: 1 });
    sandbox.create('configmaps', { metadata: { name: 'd' } });
    sandbox.store.compact();
    const next = (): unknown => list({ limit: 1, continue: first.continue });
    expect(next).toThrow(expect.objectContaining({ code: 410, continue: expect.any(String) }));
  });
});

const refusals: { name: string; request: Partial<ListRequest>; expected: string }[] = [
  {
    name: 'a match without a version',
    request: { resourceVersionMatch: 'Exact' },
    expected: 'resourceVersionMatch is forbidden unless resourceVersion is provided',
  },
  {
    name: 'exactly version 0',
    request: { resourceVersion: '0', resourceVersionMatch: 'Exact' },
    expected: 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"',
  },
  {
    name: 'an unknown match',
    request: { resourceVersion: '1', resourceVersionMatch: 'Near' },
    expected: 'resourceVersionMatch: Unsupported value: "Near": supported values: "Exact", "NotOlderThan", ""',
  },
  {
    name: 'a match on a later page',
    request: { continue: 'x', resourceVersion: '1', resourceVersionMatch: 'Exact' },
    expected: 'resourceVersionMatch is forbidden when continue is provided',
  },
  { name: 'a version of the future', request: { resourceVersion: '99999' }, expected: 'Too large resource version' },
  { name: 'a continue token of another server', request: { continue: 'x' }, expected: 'continue key is not valid' },
];

describe('a list is refused for', () => {
  for (const { name, request, expected } of refusals) {
    test(name, () => expect(() => list(request)).toThrow(expected));
  }
  test('an unknown match, without calling it forbidden', () =>
    expect(() => list({ resourceVersion: '1', resourceVersionMatch: 'Near' })).not.toThrow('Forbidden'));
});

test('parseVersion accepts a version or its absence, and refuses everything else', () => {
  expect(parseVersion('')).toBeUndefined();
  expect(parseVersion('12')).toBe(12);
  expect(refusalOf(() => parseVersion('x'))).toHaveLength(1);
});
