import { describe, expect, test } from 'vitest';

import type { PersistentVolumeClaim } from '../../pkg/api/index.ts';
import { creationTime, frozen, persistentVolumeClaim, statefulSet } from '../../test/support/builders.ts';
import { planClaims } from './claims.ts';

const template = (name: string, labels?: Record<string, string>) =>
  ({
    metadata: { name, ...(labels && { labels }) },
    spec: { accessModes: ['ReadWriteOnce'] },
    status: { phase: 'Pending' },
  }) as unknown as PersistentVolumeClaim;

const set = frozen(
  statefulSet({
    name: 'web',
    spec: { volumeClaimTemplates: [template('data', { app: 'none', tier: 'db' }), template('log')] },
  }),
);

describe('planClaims', () => {
  test('makes the claims of a pod from the templates, with the labels of the selector', () => {
    const { create, terminating } = planClaims(set, 2, new Map());
    expect(create).toMatchObject([
      { metadata: { name: 'data-web-2', namespace: 'default', labels: { app: 'web', tier: 'db' } } },
      { metadata: { name: 'log-web-2', labels: { app: 'web' } } },
    ]);
    expect(create.every((claim) => claim.status === undefined)).toBe(true);
    expect(terminating).toEqual([]);
  });

  test('makes no claim that exists, and none while one is being deleted', () => {
    const deleted = persistentVolumeClaim({ name: 'log-web-2', metadata: { deletionTimestamp: creationTime } });
    const known = new Map([
      ['data-web-2', frozen(persistentVolumeClaim({ name: 'data-web-2' }))],
      ['log-web-2', frozen(deleted)],
    ]);
    expect(planClaims(set, 2, known)).toEqual({ create: [], terminating: ['log-web-2'] });
  });
});
