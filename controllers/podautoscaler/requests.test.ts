import { describe, expect, test } from 'vitest';

import { frozen, pod } from '../../test/support/builders.ts';
import { requestsOf } from './requests.ts';

const container = (name: string, cpu?: string, more: object = {}): object => ({
  name,
  resources: { requests: { memory: '1Mi', ...(cpu !== undefined && { cpu }) } },
  ...more,
});
const sidecar = (name: string, cpu: string): object => container(name, cpu, { restartPolicy: 'Always' });
const podLevel = { resources: { requests: { memory: '1Gi' } } };

const rows: {
  name: string;
  spec: object;
  container?: string;
  podLevelResources?: boolean;
  expected: bigint | string;
}[] = [
  {
    name: 'sums the containers',
    spec: { containers: [container('a', '100m'), container('b', '1.5')] },
    expected: 1600n,
  },
  {
    name: 'counts sidecars, but no other init containers',
    spec: { containers: [container('a', '100m')], initContainers: [sidecar('b', '20m'), container('c', '9')] },
    expected: 120n,
  },
  {
    name: 'refuses a container without a request',
    spec: { containers: [container('a', '100m'), container('b')] },
    expected: 'missing request for cpu in container b of Pod web',
  },
  {
    name: 'takes one container',
    spec: { containers: [container('a'), container('b', '30m')] },
    container: 'b',
    expected: 30n,
  },
  {
    name: 'finds a sidecar by name',
    spec: { containers: [container('a')], initContainers: [sidecar('b', '20m')] },
    container: 'b',
    expected: 20n,
  },
  {
    name: 'refuses an absent container',
    spec: { containers: [container('a', '1')] },
    container: 'c',
    expected: 'container c not found in Pod web',
  },
  {
    name: 'prefers the request of the pod',
    spec: { containers: [container('a', '1')], resources: { requests: { cpu: '3' } } },
    expected: 3000n,
  },
  {
    name: 'ignores it without the gate',
    spec: { containers: [container('a', '1')], resources: { requests: { cpu: '3' } } },
    podLevelResources: false,
    expected: 1000n,
  },
  {
    name: 'adds up what the pod does not request itself, with overhead',
    spec: { containers: [container('a', '100m'), container('b')], overhead: { cpu: '5m' }, ...podLevel },
    expected: 105n,
  },
  {
    name: 'counts the largest init container beside the sidecars before it',
    spec: {
      containers: [container('a', '100m')],
      initContainers: [sidecar('b', '20m'), container('c', '200m'), sidecar('d', '1m')],
      ...podLevel,
    },
    expected: 220n,
  },
  {
    name: 'refuses a pod whose containers do not request the resource either',
    spec: { containers: [container('a')], ...podLevel },
    expected: 'missing pod-level request for cpu in Pod web',
  },
  {
    name: 'prefers a named container to the request of the pod',
    spec: { containers: [container('a', '1')], resources: { requests: { cpu: '3' } } },
    container: 'a',
    expected: 1000n,
  },
];

describe('requestsOf', () => {
  for (const { name, spec, container: only, podLevelResources = true, expected } of rows) {
    test(name, () => {
      const web = frozen(pod({ name: 'web', spec }));
      const options = { resource: 'cpu', container: only, podLevelResources };
      const compute = () => requestsOf([web], options).get('web');
      let shown: unknown;
      try {
        shown = compute();
      } catch (error) {
        shown = error instanceof Error ? error.message : error;
      }
      expect(shown).toBe(expected);
    });
  }
});
