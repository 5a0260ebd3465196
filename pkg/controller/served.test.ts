import { describe, expect, test } from 'vitest';

import { ClusterTrustBundles, Pods, type Kind } from '../api/index.ts';
import type { DiscoveryResult } from '../client/index.ts';
import { findServed } from './served.ts';

const { signal } = new AbortController();
const beta = ClusterTrustBundles;
const alpha = { ...ClusterTrustBundles, version: 'v1alpha1' };
const failed = (version: string): [string, string] => [`certificates.k8s.io/${version}`, 'stale'];

interface Row {
  readonly name: string;
  readonly served: readonly Kind[];
  readonly failures?: readonly [string, string][];
  readonly expected: string | undefined;
}

describe('findServed', () => {
  const rows: readonly Row[] = [
    { name: 'prefers the first of several versions', served: [Pods, alpha, beta], expected: 'v1beta1' },
    { name: 'finds the only version', served: [alpha], expected: 'v1alpha1' },
    { name: 'finds nothing', served: [Pods], expected: undefined },
    { name: 'takes no other resource of the version', served: [{ ...beta, resource: 'others' }], expected: undefined },
    {
      name: 'takes the first version although another is unknown',
      served: [beta],
      failures: [failed('v1alpha1')],
      expected: 'v1beta1',
    },
    {
      name: 'takes no later version while an earlier one is unknown',
      served: [alpha],
      failures: [failed('v1beta1')],
      expected: 'UnknownResourceError',
    },
  ];
  for (const { name, served, failures = [], expected } of rows) {
    test(name, async () => {
      let refreshes = 0;
      const discovery = {
        refresh: async () => void (refreshes += 1),
        all: async (): Promise<DiscoveryResult> => ({
          resources: served.map((kind) => ({ kind, verbs: new Set<string>() })),
          failures: new Map(failures),
        }),
      };
      const found = await findServed(discovery, [beta, alpha], signal).catch((error: Error) => ({
        version: error.name,
      }));
      expect(found?.version).toBe(expected);
      expect(refreshes).toBe(1);
    });
  }
});
