import { describe, expect, test } from 'vitest';
import * as z from 'zod';

import { Deployments, Namespaces, Secrets, type Deployment } from '../api/index.ts';
import { controllerFor, type ControllerOptions } from './controller.ts';
import { DefinitionError } from './definition-error.ts';
import { defineResource } from './resource.ts';
import { watch } from './watch.ts';

test('controllerFor accepts a finalizer with a selection by name', () => {
  const finalizer = { name: 'example.com/x', cleanup: async (): Promise<void> => {} };
  const fieldSelector = 'metadata.name=a,metadata.namespace!=b';
  const make = () => controllerFor(Deployments, { name: 'test', finalizer, fieldSelector, reconcile: async () => {} });
  expect(make).not.toThrow();
});

describe('controllerFor refuses', () => {
  const reconcile = async (): Promise<void> => {};
  const Teams = defineResource({
    group: 'example.com',
    version: 'v1',
    kind: 'Team',
    spec: z.object({}),
    otherVersions: [{ version: 'v1beta1', spec: z.object({}) }],
  });
  const numbers: (Partial<ControllerOptions<Deployment>> & { says: string })[] = [
    { workers: 0, says: 'workers is 0' },
    { workers: -1, says: 'workers is -1' },
    { workers: Number.NaN, says: 'workers is NaN' },
    { workers: 1.5, says: 'workers is 1.5' },
    { resyncMs: -1, says: 'resyncMs is -1' },
    { minIntervalMs: Number.NaN, says: 'minIntervalMs is NaN' },
    { backoff: { baseMs: 0, maxMs: 1 }, says: 'backoff.baseMs is 0' },
    { backoff: { baseMs: 10, maxMs: 1 }, says: 'backoff.maxMs is 1' },
    { retryRate: { qps: 0, burst: 1 }, says: 'retryRate.qps is 0' },
    { retryRate: { qps: 1, burst: 0 }, says: 'retryRate.burst is 0' },
  ];
  const rows: { name: string; make: () => unknown; says: string }[] = [
    {
      name: 'a bad name',
      make: () => controllerFor(Deployments, { name: 'My Controller', reconcile }),
      says: 'lower case',
    },
    {
      name: 'to own cluster-scoped objects',
      make: () => controllerFor(Deployments, { name: 'test', owns: [Namespaces], reconcile }),
      says: 'cannot own Namespace',
    },
    {
      name: 'a finalizer on objects that can leave the selection',
      make: () => {
        const finalizer = { name: 'example.com/x', cleanup: reconcile };
        return controllerFor(Deployments, { name: 'test', labelSelector: 'x', finalizer, reconcile });
      },
      says: 'would keep the finalizer forever',
    },
    {
      name: 'two selections of one kind',
      make: () =>
        controllerFor(Deployments, {
          name: 'test',
          owns: [watch(Secrets, { labelSelector: 'a' })],
          reads: [watch(Secrets, { labelSelector: 'b' })],
          reconcile,
        }),
      says: 'two different selections',
    },
    {
      name: 'two versions of one resource',
      make: () => controllerFor(Teams, { name: 'test', reads: [Teams.versions.v1beta1], reconcile }),
      says: 'Team is watched in two versions, v1 and v1beta1',
    },
    {
      name: 'a selection that is none',
      make: () => controllerFor(Deployments, { name: 'test', labelSelector: 'a b', reconcile }),
      says: 'the labelSelector of Deployment: unable to parse requirement',
    },
    {
      name: 'a finalizer on objects whose field can change',
      make: () => {
        const finalizer = { name: 'example.com/x', cleanup: reconcile };
        const fieldSelector = 'metadata.name!=a,spec.color=red';
        return controllerFor(Deployments, { name: 'test', fieldSelector, finalizer, reconcile });
      },
      says: 'an object whose spec.color changes would keep the finalizer forever',
    },
    ...numbers.map(({ says, ...options }) => ({
      name: `to run with ${says}`,
      make: () => controllerFor(Deployments, { name: 'test', reconcile, ...options }),
      says,
    })),
    {
      name: 'to watch without a mapping',
      make: () => controllerFor(Deployments, { name: 'test', watches: [watch(Secrets, {})], reconcile }),
      says: 'needs a map',
    },
    {
      name: 'a finalizer without a domain',
      make: () =>
        controllerFor(Deployments, { name: 'test', finalizer: { name: 'mine', cleanup: reconcile }, reconcile }),
      says: 'needs a domain',
    },
  ];
  for (const { name, make, says } of rows) {
    test(name, () => {
      expect(make).toThrow(DefinitionError);
      expect(make).toThrow(says);
    });
  }
});
