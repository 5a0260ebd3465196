import { describe, expect, test } from 'vitest';

import { ClusterTrustBundles, type Cached, type ClusterTrustBundle } from '../../pkg/api/index.ts';
import { build, frozen } from '../../test/support/builders.ts';
import { bundleName, planPublication, signerName } from './publication.ts';

const bundle = (name: string, trustBundle: string, metadata: object = {}): Cached<ClusterTrustBundle> => {
  const built = build<ClusterTrustBundle>(ClusterTrustBundles, { name }, { spec: { signerName, trustBundle } });
  return frozen({ ...built, metadata: { ...built.metadata, ...metadata } });
};
const published = bundleName('CA');

test('the name is that of the signer and a hash of the content', () => {
  // printf CA | sha256sum
  expect(published).toBe('kubernetes.io:kube-apiserver-serving:4b650e5c4785025dee7bd65e');
});

interface Row {
  readonly name: string;
  readonly bundles: readonly Cached<ClusterTrustBundle>[];
  readonly verb: 'create' | 'update' | undefined;
  readonly deleted?: readonly string[];
}

const wanted = { metadata: { name: published }, spec: { signerName, trustBundle: 'CA' } };

describe('planPublication', () => {
  const deletionTimestamp = '2026-01-01T00:00:00Z';
  const rows: readonly Row[] = [
    { name: 'publishes what is missing', bundles: [], verb: 'create' },
    { name: 'keeps what is published', bundles: [bundle(published, 'CA')], verb: undefined },
    { name: 'restores changed content', bundles: [bundle(published, 'theirs')], verb: 'update' },
    {
      name: 'deletes all others of the signer',
      bundles: [bundle('old', 'former'), bundle(published, 'CA'), bundle('same', 'CA')],
      verb: undefined,
      deleted: ['old', 'same'],
    },
    { name: 'replaces the former bundle', bundles: [bundle('old', 'former')], verb: 'create', deleted: ['old'] },
    { name: 'deletes nothing twice', bundles: [bundle('old', 'former', { deletionTimestamp })], verb: 'create' },
    {
      name: 'waits for a published bundle that is being deleted',
      bundles: [bundle(published, 'CA', { deletionTimestamp })],
      verb: undefined,
    },
  ];
  for (const { name, bundles, verb, deleted = [] } of rows) {
    test(name, () => {
      const { write, deletions } = planPublication(bundles, 'CA');
      expect(write?.verb).toBe(verb);
      expect(write?.bundle ?? wanted).toMatchObject(wanted);
      expect(deletions.map(({ metadata }) => metadata.name)).toEqual(deleted);
    });
  }

  test('keeps the labels of others in an update, and its resource version', () => {
    const present = bundle(published, 'theirs', { labels: { a: 'b' } });
    const { write } = planPublication([present], 'CA');
    expect(write?.bundle.metadata).toEqual(present.metadata);
  });
});
