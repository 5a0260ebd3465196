import { describe, expect, test } from 'vitest';

import { resourceName } from '../api/index.ts';
import type { RawRequest } from './client.ts';
import type { DiscoveryResult } from './discovery.ts';
import { ApiError } from './errors.ts';
import { createDiscovery } from './server-discovery.ts';

const never = new AbortController().signal;

function serverWith(documents: Record<string, unknown>): {
  asked: string[];
  request(request: RawRequest): Promise<unknown>;
} {
  const asked: string[] = [];
  return {
    asked,
    async request({ path }) {
      asked.push(path);
      const document = documents[path];
      if (document === undefined) throw new ApiError(path, { code: 404, reason: 'NotFound' });
      if (document instanceof Error) throw document;
      return document;
    },
  };
}

function summary({ resources }: DiscoveryResult): string[] {
  return resources.map(({ kind, verbs }) => {
    const scope = kind.namespaced ? 'namespaced' : 'cluster-wide';
    return `${kind.version} ${kind.kind} ${resourceName(kind)} ${scope} ${[...verbs].join(',')}`;
  });
}

const resource = (name: string, kind: string | undefined, scope = 'Namespaced'): object => ({
  resource: name,
  scope,
  verbs: ['get', 'list'],
  ...(kind === undefined ? {} : { responseKind: { group: '', version: '', kind } }),
  subresources: [{ subresource: 'status', responseKind: { kind: 'Ignored' }, verbs: ['get'] }],
});

const aggregated = {
  '/api': {
    kind: 'APIGroupDiscoveryList',
    items: [
      {
        metadata: {},
        versions: [{ version: 'v1', resources: [resource('pods', 'Pod'), resource('nodes', 'Node', 'Cluster')] }],
      },
    ],
  },
  '/apis': {
    kind: 'APIGroupDiscoveryList',
    items: [
      {
        metadata: { name: 'example.com' },
        versions: [
          {
            version: 'v2',
            freshness: 'Current',
            resources: [resource('widgets', 'Widget'), resource('half', undefined)],
          },
          {
            version: 'v1',
            freshness: 'Current',
            resources: [resource('widgets', 'Widget'), resource('gadgets', 'Gadget')],
          },
        ],
      },
      { metadata: { name: 'metrics.k8s.io' }, versions: [{ version: 'v1beta1', freshness: 'Stale' }] },
    ],
  },
};

const legacy = {
  '/api': { kind: 'APIVersions', versions: ['v1'] },
  '/api/v1': {
    resources: [
      { name: 'pods', namespaced: true, kind: 'Pod', verbs: ['get', 'list'] },
      { name: 'pods/status', namespaced: true, kind: 'Pod', verbs: ['get'] },
      { name: 'nodes', namespaced: false, kind: 'Node', verbs: ['get', 'list'] },
    ],
  },
  '/apis': {
    kind: 'APIGroupList',
    groups: [
      {
        name: 'example.com',
        versions: [{ groupVersion: 'example.com/v1' }, { groupVersion: 'example.com/v2' }],
        preferredVersion: { groupVersion: 'example.com/v2' },
      },
      { name: 'metrics.k8s.io', versions: [{ groupVersion: 'metrics.k8s.io/v1beta1' }] },
    ],
  },
  '/apis/example.com/v2': {
    resources: [{ name: 'widgets', namespaced: true, kind: 'Widget', verbs: ['get', 'list'] }],
  },
  '/apis/example.com/v1': {
    resources: [
      { name: 'widgets', namespaced: true, kind: 'Widget', verbs: ['get', 'list'] },
      { name: 'gadgets', namespaced: true, kind: 'Gadget', verbs: ['get', 'list'] },
    ],
  },
  '/apis/metrics.k8s.io/v1beta1': new ApiError('x', { code: 503, message: 'service unavailable' }),
};

for (const [form, documents] of Object.entries({ aggregated, legacy })) {
  describe(`discovery in ${form} form`, () => {
    test('lists every resource in every version, without subresources', async () => {
      expect(summary(await createDiscovery(serverWith(documents)).all(never))).toEqual([
        'v1 Pod pods namespaced get,list',
        'v1 Node nodes cluster-wide get,list',
        'v2 Widget widgets.example.com namespaced get,list',
        'v1 Widget widgets.example.com namespaced get,list',
        'v1 Gadget gadgets.example.com namespaced get,list',
      ]);
    });
    test('prefers the first version that has a resource', async () => {
      expect(summary(await createDiscovery(serverWith(documents)).preferred(never))).toEqual([
        'v1 Pod pods namespaced get,list',
        'v1 Node nodes cluster-wide get,list',
        'v2 Widget widgets.example.com namespaced get,list',
        'v1 Gadget gadgets.example.com namespaced get,list',
      ]);
    });
    test('returns failed group versions as failures', async () => {
      const { failures } = await createDiscovery(serverWith(documents)).all(never);
      expect([...failures.keys()]).toEqual(['metrics.k8s.io/v1beta1']);
    });
    test('finds the kind of an owner reference', async () => {
      const kind = await createDiscovery(serverWith(documents)).kindFor('example.com/v1', 'Gadget', never);
      expect(kind).toMatchObject({ group: 'example.com', version: 'v1', resource: 'gadgets', namespaced: true });
    });
  });
}

describe('createDiscovery', () => {
  test('asks the server once, and again for an unknown kind', async () => {
    const documents: Record<string, unknown> = { ...aggregated };
    const server = serverWith(documents);
    const discovery = createDiscovery(server);
    await discovery.all(never);
    await discovery.preferred(never);
    await discovery.kindFor('v1', 'Pod', never);
    expect(server.asked).toEqual(['/api', '/apis']);
    expect(await discovery.kindFor('new.example.com/v1', 'New', never)).toBeUndefined();
    expect(server.asked).toHaveLength(4);
    documents['/apis'] = {
      kind: 'APIGroupDiscoveryList',
      items: [
        { metadata: { name: 'new.example.com' }, versions: [{ version: 'v1', resources: [resource('news', 'New')] }] },
      ],
    };
    expect(await discovery.kindFor('new.example.com/v1', 'New', never)).toMatchObject({ resource: 'news' });
  });

  test('keeps its cache when a refresh fails', async () => {
    const documents: Record<string, unknown> = { ...aggregated };
    const discovery = createDiscovery(serverWith(documents));
    await discovery.all(never);
    documents['/apis'] = new ApiError('x', { code: 503 });
    await expect(discovery.refresh(never)).rejects.toMatchObject({ status: 503 });
    expect((await discovery.all(never)).resources).toHaveLength(5);
  });
});
