import { expect, test } from 'vitest';

import { container, daemonSet } from '../../test/support/builders.ts';
import { daemonPodMaker, onNode } from './new-pod.ts';

const named = (nodeName: string) => ({
  nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: [nodeName] }] }],
});

test('a pod is labelled with its revision and generation, and bound to its node by affinity', () => {
  const owner = daemonSet({ name: 'web' });
  const pod = daemonPodMaker(owner, { hash: 'h', templateGeneration: '3' })('n1');
  expect(pod.metadata).toMatchObject({
    generateName: 'web-',
    labels: { app: 'web', 'controller-revision-hash': 'h', 'pod-template-generation': '3' },
    ownerReferences: [{ kind: 'DaemonSet', name: 'web', controller: true }],
  });
  expect(pod.spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution).toEqual(named('n1'));
  expect(pod.spec.tolerations).toHaveLength(6);
});

test('a label named like an inherited property stays a label', () => {
  const labels = JSON.parse('{"constructor":"x","__proto__":"y"}') as Record<string, string>;
  const owner = daemonSet({ spec: { template: { metadata: { labels }, spec: { containers: [container()] } } } });
  const pod = daemonPodMaker(owner, { hash: 'h', templateGeneration: undefined })('n1');
  expect(Object.entries(pod.metadata.labels ?? {})).toEqual([
    ['constructor', 'x'],
    ['__proto__', 'y'],
    ['controller-revision-hash', 'h'],
  ]);
});

test('the node terms of the template are replaced, and all else is kept', () => {
  const preferred = [{ weight: 1, preference: { matchExpressions: [] } }];
  const affinity = {
    podAntiAffinity: {},
    nodeAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: preferred,
      requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions: [] }] },
    },
  };
  expect(onNode(affinity, 'n1')).toEqual({
    podAntiAffinity: {},
    nodeAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: preferred,
      requiredDuringSchedulingIgnoredDuringExecution: named('n1'),
    },
  });
});
