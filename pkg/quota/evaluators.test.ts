import { describe, expect, test } from 'vitest';

import { ResourceClaims, type PersistentVolumeClaim, type ResourceClaim, type Service } from '../api/index.ts';
import { build, persistentVolumeClaim, pod, service } from '../../test/support/builders.ts';
import { countedResource, createCountEvaluator } from './counts.ts';
import { createResourceClaimEvaluator, isClaimOfPod, type ExtendedResources } from './resource-claims.ts';
import { serviceEvaluator } from './services.ts';
import { resourceListOf } from './usage.ts';
import { volumeClaimEvaluator } from './volume-claims.ts';

const ports = [{ port: 80 }, { port: 443, nodePort: 30000 }];
const services: readonly { name: string; spec: Partial<Service['spec']>; nodePorts: string; balancers: string }[] = [
  { name: 'ClusterIP', spec: {}, nodePorts: '0', balancers: '0' },
  { name: 'NodePort', spec: { type: 'NodePort' }, nodePorts: '2', balancers: '0' },
  { name: 'LoadBalancer', spec: { type: 'LoadBalancer' }, nodePorts: '2', balancers: '1' },
  {
    name: 'LoadBalancer without node ports, except explicit ones',
    spec: { type: 'LoadBalancer', allocateLoadBalancerNodePorts: false },
    nodePorts: '1',
    balancers: '1',
  },
];

describe('a service is charged by its type:', () => {
  for (const { name, spec, nodePorts, balancers } of services) {
    test(name, () => {
      const usage = serviceEvaluator.usageOf(service({ spec: { ports, ...spec } }));
      expect(resourceListOf(usage)).toEqual({
        services: '1',
        'count/services': '1',
        'services.nodeports': nodePorts,
        'services.loadbalancers': balancers,
      });
    });
  }
});

const claims: readonly { name: string; claim: PersistentVolumeClaim; expected: Record<string, string> }[] = [
  {
    name: 'by storage class',
    claim: persistentVolumeClaim({ spec: { storageClassName: 'gold', resources: { requests: { storage: '1Gi' } } } }),
    expected: {
      'requests.storage': '1Gi',
      'gold.storageclass.storage.k8s.io/requests.storage': '1Gi',
      'gold.storageclass.storage.k8s.io/persistentvolumeclaims': '1',
    },
  },
  {
    name: 'in whole bytes',
    claim: persistentVolumeClaim({ spec: { resources: { requests: { storage: '1500m' } } } }),
    expected: { 'requests.storage': '2' },
  },
  {
    name: 'for the size that is being allocated',
    claim: persistentVolumeClaim({
      spec: { resources: { requests: { storage: '1Gi' } } },
      status: { allocatedResources: { storage: '2Gi' } },
    }),
    expected: { 'requests.storage': '2Gi' },
  },
];

describe('a volume claim is charged', () => {
  for (const { name, claim, expected } of claims) {
    test(name, () =>
      expect(resourceListOf(volumeClaimEvaluator.usageOf(claim))).toEqual({
        persistentvolumeclaims: '1',
        'count/persistentvolumeclaims': '1',
        ...expected,
      }),
    );
  }

  test('to quotas of the attributes class that it has, had or gets', () => {
    const claim = persistentVolumeClaim({
      spec: { volumeAttributesClassName: 'new' },
      status: { currentVolumeAttributesClassName: 'old' },
    });
    const matches = (operator: string, values?: string[]) =>
      volumeClaimEvaluator.matchesScope({ scopeName: 'VolumeAttributesClass', operator, values }, claim);
    expect(matches('In', ['old'])).toBe(true);
    expect(matches('In', ['new'])).toBe(true);
    expect(matches('In', ['other'])).toBe(false);
    expect(matches('Exists')).toBe(true);
    expect(matches('DoesNotExist')).toBe(false);
    expect(volumeClaimEvaluator.matchesScope({ scopeName: 'BestEffort', operator: 'Exists' }, claim)).toBe(false);
  });
});

describe('a resource claim', () => {
  const annotations = { 'resource.kubernetes.io/extended-resource-claim': 'true' };
  const ownerReferences = [{ apiVersion: 'v1', kind: 'Pod', name: 'user', uid: 'pod', controller: true }];
  const claimOf = (requests: object[], metadata: object = {}): ResourceClaim =>
    build(ResourceClaims, { metadata }, { spec: { devices: { requests } } } as never);
  const exactly = { deviceClassName: 'gpu', allocationMode: 'ExactCount', count: 3 };

  test('is charged for the devices that it may get', () => {
    const claim = claimOf([
      { name: 'a', exactly },
      { name: 'b', exactly: { deviceClassName: 'gpu', allocationMode: 'All' } },
      { name: 'c', exactly: { deviceClassName: 'gpu', allocationMode: 'Later' } },
      { name: 'd', firstAvailable: [exactly, { ...exactly, count: 5 }, { ...exactly, deviceClassName: 'tpu' }] },
    ]);
    expect(resourceListOf(createResourceClaimEvaluator(undefined).usageOf(claim))).toEqual({
      'count/resourceclaims.resource.k8s.io': '1',
      'gpu.deviceclass.resource.k8s.io/devices': '40',
      'tpu.deviceclass.resource.k8s.io/devices': '3',
    });
  });

  test('is charged for an extended resource as far as its pod is not', () => {
    const extended: ExtendedResources = {
      hasClassFor: (resource) => resource === 'example.com/gpu',
      resourceOf: (className) => (className === 'gpu' ? 'example.com/gpu' : undefined),
      podUsageOf: () => new Map([['requests.example.com/gpu', { nanos: 2_000_000_000n, format: 'DecimalSI' }]]),
    };
    const evaluator = createResourceClaimEvaluator(extended);
    expect(resourceListOf(evaluator.usageOf(claimOf([{ name: 'a', exactly }])))).toEqual({
      'count/resourceclaims.resource.k8s.io': '1',
      'gpu.deviceclass.resource.k8s.io/devices': '3',
      'requests.deviceclass.resource.kubernetes.io/gpu': '3',
      'requests.example.com/gpu': '1',
    });
    expect(evaluator.tracks('requests.example.com/gpu')).toBe(true);
    expect(evaluator.tracks('requests.example.com/other')).toBe(false);
  });

  test('belongs to its pod if the pod names it, or as the first one made for it', () => {
    const older = claimOf([], { name: 'a', annotations, ownerReferences, creationTimestamp: '2026-01-01T00:00:00Z' });
    const newer = claimOf([], { name: 'b', annotations, ownerReferences, creationTimestamp: '2026-01-01T00:00:01Z' });
    const user = pod({ metadata: { uid: 'pod' } });
    const named = pod({
      metadata: { uid: 'pod' },
      status: { extendedResourceClaimStatus: { resourceClaimName: 'b' } } as never,
    });
    const isOf = (claim: ResourceClaim, of: typeof user) => isClaimOfPod(claim, of, [older, newer]);
    expect([isOf(older, user), isOf(newer, user), isOf(older, named), isOf(newer, named)]).toEqual([
      true,
      false,
      false,
      true,
    ]);
    expect(isOf(older, pod({ metadata: { uid: 'another' } }))).toBe(false);
  });
});

test('objects are counted under the name of their resource, and old names', () => {
  expect(resourceListOf(createCountEvaluator('secrets').usageOf(pod({})))).toEqual({
    secrets: '1',
    'count/secrets': '1',
  });
  expect(resourceListOf(createCountEvaluator('jobs.batch').usageOf(pod({})))).toEqual({ 'count/jobs.batch': '1' });
  expect(['count/jobs.batch', 'secrets', 'count/events', 'pods', 'count/'].map(countedResource)).toEqual([
    'jobs.batch',
    'secrets',
    undefined,
    undefined,
    undefined,
  ]);
});
