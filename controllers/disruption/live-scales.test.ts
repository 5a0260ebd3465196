import { describe, expect, test } from 'vitest';

import type { Kind, OwnerReference, Scale } from '../../pkg/api/index.ts';
import type { Discovery } from '../../pkg/client/index.ts';
import { apiError } from '../../test/support/recording-client.ts';
import { createScaleReader } from './live-scales.ts';

const v1: Kind = { group: 'example.com', version: 'v1', kind: 'Gathering', resource: 'gatherings', namespaced: true };
const v2: Kind = { ...v1, version: 'v2' };
const jobs: Kind = { group: 'batch', version: 'v1', kind: 'Job', resource: 'jobs', namespaced: true };
const nodes: Kind = { group: '', version: 'v1', kind: 'Node', resource: 'nodes', namespaced: false };
const discovery: Pick<Discovery, 'all' | 'kindFor' | 'preferred'> = {
  all: async () => ({ resources: [], failures: new Map([['down.example.com/v1', 'stale GroupVersion discovery']]) }),
  kindFor: async (apiVersion, name) =>
    [v1, v2, jobs, nodes].find(
      ({ group, version, kind }) => kind === name && apiVersion === (group === '' ? version : `${group}/${version}`),
    ),
  preferred: async () => ({
    resources: [v2, jobs, nodes].map((kind) => ({ kind, verbs: new Set<string>() })),
    failures: new Map<string, string>(),
  }),
};
const served: Readonly<Record<string, object[]>> = {
  '/apis/example.com/v1': [
    { name: 'gatherings', kind: 'Gathering' },
    { name: 'gatherings/scale', group: 'autoscaling', version: 'v1', kind: 'Scale' },
  ],
  '/apis/batch/v1': [
    { name: 'jobs', kind: 'Job' },
    { name: 'jobs/scale', group: 'example.com', version: 'v1', kind: 'Scale' }, // of some other kind
  ],
  '/api/v1': [{ name: 'nodes', kind: 'Node' }],
};

async function read(reference: Partial<OwnerReference>, scale: Scale | Error) {
  const asked: string[] = [];
  const client = {
    async getScale({ version, resource }: Kind, key: string): Promise<Scale> {
      asked.push(`${version}/${resource} ${key}`);
      if (scale instanceof Error) throw scale;
      return scale;
    },
    request: async ({ path }: { readonly path: string }) => ({ resources: served[path] }),
  };
  const named = { apiVersion: 'example.com/v1', kind: 'Gathering', name: 'all', uid: 'u', ...reference };
  const deps = { client, discovery: discovery as Discovery };
  const result = await createScaleReader(deps)(named, 'default', new AbortController().signal);
  const isLasting = result.kind === 'failed' && result.isLasting;
  return { asked, isLasting, shown: result.kind === 'failed' ? result.error.message : result };
}

const scaleOf = (uid: string): Scale => ({ metadata: { name: 'all', uid }, spec: { replicas: 4 } });
const notFound = apiError(404, 'NotFound');

describe('createScaleReader', () => {
  test('reads the scale in the preferred version of its resource', async () => {
    const { asked, shown } = await read({}, scaleOf('u'));
    expect(shown).toEqual({ kind: 'found', uid: 'u', replicas: 4 });
    expect(asked).toEqual(['v2/gatherings default/all']);
  });

  const rows: { name: string; reference?: Partial<OwnerReference>; scale: Scale | Error; shown: unknown }[] = [
    { name: 'another object of that name', scale: scaleOf('other'), shown: { kind: 'absent' } },
    { name: 'a deleted object', scale: notFound, shown: { kind: 'absent' } },
    {
      name: 'a kind without a scale',
      reference: { apiVersion: 'batch/v1', kind: 'Job' },
      scale: notFound,
      shown: 'jobs.batch does not implement the scale subresource',
    },
    {
      name: 'a cluster-scoped kind',
      reference: { apiVersion: 'v1', kind: 'Node' },
      scale: notFound,
      shown: 'nodes does not implement the scale subresource',
    },
    {
      name: 'a kind that is not served',
      reference: { kind: 'Nothing' },
      scale: notFound,
      shown: 'no matches for kind "Nothing" in version "example.com/v1"',
    },
    {
      name: 'a kind of an API server that does not respond',
      reference: { apiVersion: 'down.example.com/v1', kind: 'Herd' },
      scale: notFound,
      shown: 'no matches for kind "Herd" in version "down.example.com/v1": stale GroupVersion discovery',
    },
    {
      name: 'a server that fails',
      scale: apiError(500, 'InternalError', 'broken'),
      shown: expect.stringContaining('broken'),
    },
  ];
  for (const { name, reference = {}, scale, shown } of rows) {
    test(`reports ${name}`, async () => expect((await read(reference, scale)).shown).toEqual(shown));
  }

  test('says which failures last: a server that fails may answer the next request', async () => {
    expect((await read({ apiVersion: 'batch/v1', kind: 'Job' }, notFound)).isLasting).toBe(true);
    expect((await read({ kind: 'Nothing' }, notFound)).isLasting).toBe(true);
    expect((await read({}, apiError(500, 'InternalError', 'broken'))).isLasting).toBe(false);
    expect((await read({ apiVersion: 'down.example.com/v1', kind: 'Herd' }, notFound)).isLasting).toBe(false);
  });
});
