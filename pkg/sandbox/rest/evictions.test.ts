import { describe, expect, test } from 'vitest';

import { findCondition, objectKey, type Pod, type PodDisruptionBudget } from '../../api/index.ts';
import { namespace, SandboxApi } from '../../../test/support/sandbox-api.ts';
import { Failure } from '../failure.ts';
import { evictPod } from './evictions.ts';

const key = objectKey(namespace, 'web');
const settled = { observedGeneration: 1, currentHealthy: 2, desiredHealthy: 1, expectedPods: 2, disruptionsAllowed: 1 };

interface Given {
  readonly phase?: string;
  readonly ready?: boolean;
  readonly spec?: PodDisruptionBudget['spec'];
  /** Undefined: no budget. */
  readonly status?: PodDisruptionBudget['status'];
  readonly eviction?: object;
}

function evict({ phase = 'Running', ready = true, spec = {}, status, eviction }: Given) {
  const sandbox = new SandboxApi();
  const labels = { app: 'web' };
  const created = sandbox.create('pods', {
    metadata: { name: 'web', labels },
    spec: { nodeName: 'node', containers: [{ name: 'main', image: 'example' }] },
  });
  const conditions = [{ type: 'Ready', status: ready ? 'True' : 'False' }];
  sandbox.update('pods', { ...created, status: { phase, conditions } }, 'status');
  if (status !== undefined) {
    const selector = { matchLabels: labels };
    const budget = sandbox.create('poddisruptionbudgets.policy', {
      metadata: { name: 'guard' },
      spec: { minAvailable: 1, selector, ...spec },
    });
    sandbox.update('poddisruptionbudgets.policy', { ...budget, status }, 'status');
  }
  const body = { metadata: { name: 'web' }, ...eviction };
  const outcome = refusalOf(() => evictPod(sandbox.api, key, body, { dryRun: false }));
  const pod = sandbox.store.get('pods', key)?.object as unknown as Pod | undefined;
  const budget = sandbox.store.get('poddisruptionbudgets.policy', objectKey(namespace, 'guard'))?.object;
  return { outcome, pod, budget: budget as unknown as PodDisruptionBudget | undefined };
}

function refusalOf(act: () => void): string {
  try {
    act();
    return 'evicted';
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return `${error.code} ${error.details?.causes?.[0]?.message ?? error.message}`;
  }
}

const failedSync = {
  type: 'DisruptionAllowed',
  status: 'False',
  reason: 'SyncFailed',
  message: 'no scale',
  lastTransitionTime: '2026-01-01T00:00:00Z',
};

describe('an eviction', () => {
  const rows: (Given & { readonly name: string; readonly outcome: string; readonly left?: number })[] = [
    { name: 'of a pod without a budget', outcome: 'evicted' },
    { name: 'that the budget allows', status: settled, outcome: 'evicted', left: 0 },
    {
      name: 'that the budget does not allow',
      status: { ...settled, currentHealthy: 1, disruptionsAllowed: 0 },
      outcome: '429 The disruption budget guard needs 1 healthy pods and has 1 currently',
    },
    {
      name: 'before the controller has observed the budget',
      status: { ...settled, observedGeneration: 0 },
      outcome: '429 The disruption budget guard is still being processed by the server.',
    },
    {
      name: 'after a failed sync',
      status: { ...settled, disruptionsAllowed: 0, conditions: [failedSync] },
      outcome:
        '429 The disruption budget guard does not allow evicting pods currently because it failed sync: no scale',
    },
    {
      name: 'that is not allowed for another reason',
      status: { ...settled, disruptionsAllowed: 0, conditions: [{ ...failedSync, reason: 'Other' }] },
      outcome: '429 The disruption budget guard does not allow evicting pods currently (Other): no scale',
    },
    {
      name: 'of a pod that does not run yet',
      phase: 'Pending',
      status: { ...settled, disruptionsAllowed: 0 },
      outcome: 'evicted',
    },
    {
      name: 'of an unhealthy pod while enough are healthy',
      ready: false,
      status: { ...settled, currentHealthy: 1, disruptionsAllowed: 0 },
      outcome: 'evicted',
      left: 0,
    },
    {
      name: 'of an unhealthy pod while too few are healthy',
      ready: false,
      status: { ...settled, currentHealthy: 0, disruptionsAllowed: 0 },
      outcome: '429 The disruption budget guard needs 1 healthy pods and has 0 currently',
    },
    {
      name: 'of an unhealthy pod that may always be evicted',
      ready: false,
      spec: { unhealthyPodEvictionPolicy: 'AlwaysAllow' },
      status: { ...settled, currentHealthy: 0, disruptionsAllowed: 0 },
      outcome: 'evicted',
      left: 0,
    },
    {
      name: 'of a pod that is not the one in the body',
      eviction: { metadata: { name: 'other' } },
      outcome: '400 name in URL does not match name in Eviction object',
    },
    {
      name: 'of another version of the pod',
      eviction: { deleteOptions: { preconditions: { resourceVersion: '1' } } },
      outcome:
        '409 Operation cannot be fulfilled on Pod "web": the ResourceVersion in the precondition (1) does not match the ResourceVersion in record (5). The object might have been modified',
    },
  ];
  for (const { name, outcome, left, ...given } of rows) {
    test(name, () => {
      const result = evict(given);
      expect(result.outcome).toBe(outcome);
      expect(result.pod?.metadata.deletionTimestamp === undefined).toBe(outcome !== 'evicted');
      expect(result.budget?.status?.disruptionsAllowed).toBe(left ?? given.status?.disruptionsAllowed);
    });
  }

  test('on trial changes nothing', () => {
    const { outcome, pod, budget } = evict({ status: settled, eviction: { deleteOptions: { dryRun: ['All'] } } });
    expect(outcome).toBe('evicted');
    expect(pod?.metadata.deletionTimestamp).toBeUndefined();
    expect(budget?.status?.disruptionsAllowed).toBe(1);
  });

  test('is counted in the budget, and shown in the pod', () => {
    const { pod, budget } = evict({ status: settled });
    expect(budget?.status?.disruptedPods).toEqual({ web: '2026-01-01T00:00:00Z' });
    expect(budget?.status?.conditions).toMatchObject([{ status: 'False', reason: 'InsufficientPods' }]);
    expect(findCondition(pod?.status?.conditions, 'DisruptionTarget')).toMatchObject({
      reason: 'EvictionByEvictionAPI',
      message: 'Eviction API: evicting',
    });
  });
});
