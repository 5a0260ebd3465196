import { describe, expect, test } from 'vitest';

import {
  defineKind,
  HorizontalPodAutoscalers,
  type HorizontalPodAutoscaler,
  type Kind,
  type ObjectKey,
  type Scale,
} from '../../pkg/api/index.ts';
import type { Discovery } from '../../pkg/client/index.ts';
import { build, frozen } from '../../test/support/builders.ts';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { readTarget } from './read-target.ts';
import { ServedKinds } from './served-kinds.ts';

const { signal } = new AbortController();

function kindOf(resource: string, namespaced: boolean): Kind {
  return defineKind({ group: 'example.com', version: 'v1', kind: 'Fleet', resource, namespaced });
}

/** Reads the scale of a Fleet, for an autoscaler in the namespace `shop`. Returns what was asked, and the reading. */
async function read(...served: readonly Kind[]) {
  const asked: string[] = [];
  const result = {
    resources: served.map((kind) => ({ kind, verbs: new Set<string>() })),
    failures: new Map<string, string>(),
  };
  const discovery: Discovery = {
    preferred: async () => result,
    all: async () => result,
    kindFor: async () => undefined,
    refresh: async () => {},
  };
  const client = {
    async getScale({ resource }: Kind, key: ObjectKey): Promise<Scale> {
      asked.push(`${resource} ${key}`);
      return { spec: { replicas: 1 } };
    },
  };
  const spec = { scaleTargetRef: { apiVersion: 'example.com/v1', kind: 'Fleet', name: 'main' }, maxReplicas: 3 };
  const named = { metadata: { namespace: 'shop', name: 'web' } };
  const autoscaler = frozen(build<HorizontalPodAutoscaler>(HorizontalPodAutoscalers, named, { spec }));
  const kinds = new ServedKinds(discovery, new FakeClock());
  return { asked, reading: await readTarget(autoscaler, { client, kinds }, signal) };
}

describe('the scale of a target', () => {
  test('is read in the namespace of the autoscaler', async () => {
    const { asked, reading } = await read(kindOf('fleets', true));
    expect(asked).toEqual(['fleets shop/main']);
    expect(reading).toMatchObject({ kind: 'found', scale: { spec: { replicas: 1 } } });
  });

  test('is not read if the kind is cluster-scoped: to the autoscaler it does not exist, as in Go', async () => {
    const { asked, reading } = await read(kindOf('fleets', false));
    const message = 'the server could not find the requested resource (get fleets main)';
    const error = `failed to query scale subresource for Fleet/shop/main: ${message}`;
    expect(reading).toEqual({ kind: 'failed', message, error, isSpec: false });
    expect(asked).toEqual([]);
  });

  test('is read from the namespaced resource if a cluster-scoped one has the same kind', async () => {
    const { asked, reading } = await read(kindOf('fleets', false), kindOf('shopfleets', true));
    expect(asked).toEqual(['shopfleets shop/main']);
    expect(reading).toMatchObject({ kind: 'found', resource: { resource: 'shopfleets' } });
  });
});
