import { describe, expect, test } from 'vitest';

import type { Pod, PodSpec, PodStatus } from '../api/index.ts';
import { pod as buildPod } from '../../test/support/builders.ts';
import { createPodEvaluator, missingPodResources } from './pods.ts';
import { resourceListOf } from './usage.ts';

const nowMs = Date.parse('2026-01-01T00:10:00Z');
const evaluator = createPodEvaluator({ podLevel: true, nowMs: () => nowMs });

type Amounts = Record<string, string>;
const container = (requests: Amounts, limits: Amounts = {}, more: object = {}): PodSpec['containers'][number] => ({
  name: 'main',
  resources: { requests, limits },
  ...more,
});
const pod = (spec: Partial<PodSpec>, status: Partial<PodStatus> = {}, metadata: object = {}): Pod =>
  buildPod({ metadata, spec: { containers: [container({})], ...spec }, status });

const usages: readonly { name: string; pod: Pod; expected: Amounts }[] = [
  { name: 'a pod without resources', pod: pod({}), expected: { 'count/pods': '1', pods: '1' } },
  {
    name: 'the sum of its containers',
    pod: pod({ containers: [container({ cpu: '100m' }, { cpu: '1' }), container({ cpu: '0.2' }, { memory: '1Gi' })] }),
    expected: {
      'count/pods': '1',
      pods: '1',
      cpu: '300m',
      'requests.cpu': '300m',
      'limits.cpu': '1',
      'limits.memory': '1Gi',
    },
  },
  {
    name: 'the largest init container with the sidecars before it',
    pod: pod({
      containers: [container({ cpu: '1' })],
      initContainers: [
        container({ cpu: '3' }, {}, { name: 'a' }),
        container({ cpu: '500m' }, {}, { name: 'b', restartPolicy: 'Always' }),
        container({ cpu: '4' }, {}, { name: 'c' }),
      ],
    }),
    expected: { 'count/pods': '1', pods: '1', cpu: '4500m', 'requests.cpu': '4500m' },
  },
  {
    name: 'resources of the pod before those of its containers, and its overhead',
    pod: pod({
      containers: [container({ cpu: '1', 'example.com/gpu': '1' }, { cpu: '2' })],
      resources: { requests: { cpu: '5' } },
      overhead: { cpu: '100m', memory: '1Mi' },
    }),
    expected: {
      'count/pods': '1',
      pods: '1',
      cpu: '5100m',
      'requests.cpu': '5100m',
      memory: '1Mi',
      'requests.memory': '1Mi',
      'limits.cpu': '2100m',
      'requests.example.com/gpu': '1',
    },
  },
  {
    name: 'huge pages and devices',
    pod: pod({
      containers: [
        container({ 'hugepages-2Mi': '4Mi', 'deviceclass.resource.kubernetes.io/gpu': '2', 'requests.x/y': '1' }),
      ],
    }),
    expected: {
      'count/pods': '1',
      pods: '1',
      'hugepages-2Mi': '4Mi',
      'requests.hugepages-2Mi': '4Mi',
      'requests.deviceclass.resource.kubernetes.io/gpu': '2',
    },
  },
  {
    name: 'the larger size of a container that is being resized',
    pod: pod(
      { containers: [container({ cpu: '1' }, { cpu: '1' })] },
      {
        containerStatuses: [
          {
            name: 'main',
            resources: { requests: { cpu: '3' }, limits: { cpu: '3' } },
            allocatedResources: { cpu: '2' },
          } as never,
        ],
      },
    ),
    expected: { 'count/pods': '1', pods: '1', cpu: '3', 'requests.cpu': '3', 'limits.cpu': '3' },
  },
  {
    name: 'the old size if the new one is infeasible',
    pod: pod(
      { containers: [container({ cpu: '9' })] },
      {
        conditions: [{ type: 'PodResizePending', status: 'True', reason: 'Infeasible' }],
        containerStatuses: [{ name: 'main', resources: { requests: { cpu: '3' } } } as never],
      },
    ),
    expected: { 'count/pods': '1', pods: '1', cpu: '3', 'requests.cpu': '3' },
  },
  {
    name: 'a finished pod as an object only',
    pod: pod({ containers: [container({ cpu: '1' })] }, { phase: 'Failed' }),
    expected: { 'count/pods': '1' },
  },
  {
    name: 'a terminating pod until its grace period is over',
    pod: pod({}, {}, { deletionTimestamp: '2026-01-01T00:09:45Z', deletionGracePeriodSeconds: 30 }),
    expected: { 'count/pods': '1', pods: '1' },
  },
  {
    name: 'a pod whose deletion is not confirmed as an object only',
    pod: pod({}, {}, { deletionTimestamp: '2026-01-01T00:09:00Z', deletionGracePeriodSeconds: 30 }),
    expected: { 'count/pods': '1' },
  },
];

describe('a quota charges', () => {
  for (const { name, pod: charged, expected } of usages) {
    test(name, () => expect(resourceListOf(evaluator.usageOf(charged))).toEqual(expected));
  }
});

const exists = (scopeName: string) => ({ scopeName, operator: 'Exists' });
const term = { topologyKey: 'zone', labelSelector: {} };
const affinity = (more: object) => ({
  podAntiAffinity: {
    preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm: { ...term, ...more } }],
  },
});
const scopes: readonly { name: string; scope: Parameters<typeof evaluator.matchesScope>[0]; yes: Pod; no: Pod }[] = [
  { name: 'Terminating', scope: exists('Terminating'), yes: pod({ activeDeadlineSeconds: 0 }), no: pod({}) },
  { name: 'NotTerminating', scope: exists('NotTerminating'), yes: pod({}), no: pod({ activeDeadlineSeconds: 1 }) },
  {
    name: 'BestEffort',
    scope: exists('BestEffort'),
    yes: pod({ containers: [container({ cpu: '0', 'example.com/gpu': '1' })] }),
    no: pod({ containers: [container({}, { memory: '1' })] }),
  },
  {
    name: 'NotBestEffort, by the class in the status',
    scope: exists('NotBestEffort'),
    yes: pod({}, { qosClass: 'Burstable' }),
    no: pod({ containers: [container({ cpu: '1' })] }, { qosClass: 'BestEffort' }),
  },
  {
    name: 'NotBestEffort, by the resources of the pod',
    scope: exists('NotBestEffort'),
    yes: pod({ resources: { requests: { cpu: '1' } } }),
    no: pod({ resources: {}, containers: [container({ cpu: '1' })] }),
  },
  {
    name: 'PriorityClass exists',
    scope: exists('PriorityClass'),
    yes: pod({ priorityClassName: 'high' }),
    no: pod({ priorityClassName: '' }),
  },
  {
    name: 'PriorityClass In',
    scope: { scopeName: 'PriorityClass', operator: 'In', values: ['high'] },
    yes: pod({ priorityClassName: 'high' }),
    no: pod({}),
  },
  {
    name: 'PriorityClass NotIn, which pods without a class match',
    scope: { scopeName: 'PriorityClass', operator: 'NotIn', values: ['high'] },
    yes: pod({}),
    no: pod({ priorityClassName: 'high' }),
  },
  {
    name: 'PriorityClass DoesNotExist',
    scope: { scopeName: 'PriorityClass', operator: 'DoesNotExist' },
    yes: pod({}),
    no: pod({ priorityClassName: 'high' }),
  },
  {
    name: 'CrossNamespacePodAffinity by names',
    scope: exists('CrossNamespacePodAffinity'),
    yes: pod({ affinity: affinity({ namespaces: ['other'] }) }),
    no: pod({ affinity: affinity({ namespaces: [] }) }),
  },
  {
    name: 'CrossNamespacePodAffinity by selector',
    scope: exists('CrossNamespacePodAffinity'),
    yes: pod({ affinity: affinity({ namespaceSelector: {} }) }),
    no: pod({}),
  },
];

describe('scopes', () => {
  for (const { name, scope, yes, no } of scopes) {
    test(name, () => expect([yes, no].map((each) => evaluator.matchesScope(scope, each))).toEqual([true, false]));
  }
  test('of other kinds match no pod', () => {
    expect(evaluator.matchesScope(exists('VolumeAttributesClass'), pod({}))).toBe(false);
  });
});

test('the names of a quota that pods are charged under', () => {
  const names = ['cpu', 'limits.ephemeral-storage', 'count/pods', 'hugepages-1Gi', 'requests.hugepages-2Mi'];
  const extended = ['requests.example.com/gpu', 'requests.deviceclass.resource.kubernetes.io/gpu'];
  const others = ['requests.storage', 'services', 'limits.example.com/gpu', 'requests.kubernetes.io/x', 'constructor'];
  expect([...names, ...extended, ...others].filter((name) => evaluator.tracks(name))).toEqual([...names, ...extended]);
});

test('a quota of CPU or memory requires them of every container', () => {
  const containers = [container({ cpu: '1' }, {}, { name: 'b' }), container({}, {}, { name: 'a' })];
  const names = ['requests.cpu', 'limits.memory', 'pods'];
  const missing = (spec: Partial<PodSpec>) => missingPodResources(pod(spec), names, { podLevel: true });
  expect(missing({ containers })).toBe('must specify limits.memory for: a,b; requests.cpu for: a');
  expect(missing({ containers, resources: { limits: { cpu: '1' } } })).toBeUndefined();
  expect(missing({ containers: [container({ cpu: '1' }, { memory: '1' })] })).toBeUndefined();
});
