import { describe, expect, test } from 'vitest';

import { formatTime, type Pod } from '../api/index.ts';
import { rankForDeletion, type DeletionRanking } from './deletion-ranking.ts';

const nowMs = Date.parse('2026-01-01T12:00:00Z');
const ago = (seconds: number): string => formatTime(nowMs - seconds * 1000);

interface Shape {
  readonly node?: string;
  readonly phase?: string;
  readonly readyFor?: number;
  readonly age?: number;
  readonly restarts?: number;
  readonly sidecarRestarts?: number;
  readonly cost?: string;
  readonly uid?: string;
}

function pod(name: string, shape: Shape = {}): Pod {
  const {
    node = 'node',
    phase = 'Running',
    readyFor,
    age = 100,
    restarts = 0,
    sidecarRestarts,
    cost,
    uid = name,
  } = shape;
  const conditions =
    readyFor === undefined ? [] : [{ type: 'Ready', status: 'True', lastTransitionTime: ago(readyFor) }];
  const status = (
    restartCount: number,
    container: string,
  ): { name: string; image: string; imageID: string; ready: boolean; restartCount: number } => ({
    name: container,
    image: '',
    imageID: '',
    ready: true,
    restartCount,
  });
  return {
    metadata: {
      name,
      namespace: 'default',
      uid,
      resourceVersion: '1',
      creationTimestamp: ago(age),
      ...(cost === undefined ? {} : { annotations: { 'controller.kubernetes.io/pod-deletion-cost': cost } }),
    },
    spec: {
      ...(node === '' ? {} : { nodeName: node }),
      containers: [],
      initContainers: [{ name: 'sidecar', restartPolicy: 'Always' }],
    },
    status: {
      phase,
      conditions,
      containerStatuses: [status(restarts, 'main')],
      initContainerStatuses: [status(sidecarRestarts ?? 0, 'sidecar')],
    },
  };
}

const ranking: DeletionRanking = { crowding: () => 0, nowMs, honourDeletionCost: true };
const names = (pods: readonly Pod[], options: Partial<DeletionRanking> = {}): string[] =>
  rankForDeletion(pods, { ...ranking, ...options }).map(({ metadata }) => metadata.name);

describe('rankForDeletion puts first', () => {
  const rows: { name: string; first: Shape; second: Shape; options?: Partial<DeletionRanking> }[] = [
    { name: 'the pod without a node', first: { node: '', phase: 'Pending' }, second: { phase: 'Pending' } },
    { name: 'the pending pod', first: { phase: 'Pending' }, second: { phase: 'Running' } },
    { name: 'the unknown before the running pod', first: { phase: 'Unknown' }, second: { phase: 'Running' } },
    { name: 'the pod that is not ready', first: {}, second: { readyFor: 10 } },
    { name: 'the cheaper pod', first: { readyFor: 500, cost: '-1' }, second: { readyFor: 1 } },
    { name: 'the pod ready for less time', first: { readyFor: 1 }, second: { readyFor: 1000 } },
    { name: 'the pod with more restarts', first: { restarts: 3 }, second: { restarts: 1 } },
    { name: 'the pod with more sidecar restarts', first: { sidecarRestarts: 2 }, second: { sidecarRestarts: 1 } },
    { name: 'the younger pod', first: { age: 10 }, second: { age: 1000 } },
    { name: 'the lower uid of pods about as old', first: { age: 1001, uid: 'a' }, second: { age: 1000, uid: 'b' } },
    {
      name: 'the younger of two about as old, when ages are compared exactly',
      first: { age: 1000, uid: 'b' },
      second: { age: 1001, uid: 'a' },
      options: { nowMs: undefined },
    },
    {
      name: 'the younger pod when costs are not honoured',
      first: { age: 10, cost: '9' },
      second: { age: 1000, cost: '1' },
      options: { honourDeletionCost: false },
    },
    {
      name: 'a pod with an invalid cost as with cost 0',
      first: { cost: 'x', age: 1 },
      second: { cost: '1', age: 1 },
    },
  ];
  for (const { name, first, second, options } of rows) {
    test(name, () => {
      const a = pod('first', first);
      const b = pod('second', second);
      expect(names([a, b], options)).toEqual(['first', 'second']);
      expect(names([b, a], options)).toEqual(['first', 'second']);
    });
  }

  test('the pod on the more crowded node', () => {
    const crowding: DeletionRanking['crowding'] = ({ spec }) => (spec.nodeName === 'full' ? 3 : 1);
    const pods = [pod('second', { node: 'empty', readyFor: 1 }), pod('first', { node: 'full', readyFor: 1000 })];
    expect(names(pods, { crowding })).toEqual(['first', 'second']);
  });
});
