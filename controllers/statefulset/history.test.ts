import { describe, expect, test } from 'vitest';

import { parseJson } from '../../pkg/api/index.ts';
import { revisionHashLabel, templatePatch } from '../../pkg/revisions/index.ts';
import { controllerRevision, frozen, pod, statefulSet } from '../../test/support/builders.ts';
import { planUpdateRevision, selectCurrentRevision, selectSurplus, versionOf } from './history.ts';

const template = (image: string) => ({
  metadata: { labels: { app: 'web' } },
  spec: { containers: [{ name: 'app', image, resources: {} }] },
});
const setWith = (image: string, status: object = {}) =>
  frozen(statefulSet({ name: 'web', spec: { template: template(image) }, status: { replicas: 0, ...status } }));
const dataOf = (image: string): object => parseJson(Buffer.from(templatePatch(setWith(image)))) as object;
const revision = (name: string, number: number, data: object) =>
  frozen(controllerRevision({ name }, { revision: number, data }));

const byBytes = { comparesMeaning: false };
const byMeaning = { comparesMeaning: true };
/** As Go wrote it before it omitted an empty time. */
const earlier = {
  spec: {
    template: {
      $patch: 'replace',
      metadata: { creationTimestamp: null, labels: { app: 'web' } },
      spec: { containers: [{ name: 'app', image: 'one', ports: [] }] },
    },
  },
};

describe('planUpdateRevision', () => {
  test('creates the first revision, with the hash that Go computes', () => {
    const planned = planUpdateRevision(setWith('one'), [], byBytes);
    expect(planned).toMatchObject({ kind: 'create', revision: { revision: 1, metadata: { labels: { app: 'web' } } } });
    const { metadata } = planned.revision;
    expect(metadata.name).toBe(`web-${metadata.labels?.['controller.kubernetes.io/hash']}`);
  });

  test('keeps the newest revision while its data is the same', () => {
    const known = [revision('web-a', 1, dataOf('zero')), revision('web-b', 2, dataOf('one'))];
    expect(planUpdateRevision(setWith('one'), known, byBytes)).toEqual({ kind: 'known', revision: known[1] });
  });

  test('makes an older revision with the same data the newest', () => {
    const known = [revision('web-a', 1, dataOf('one')), revision('web-b', 2, dataOf('two'))];
    const planned = planUpdateRevision(setWith('one'), known, byBytes);
    expect(planned).toEqual({ kind: 'renumber', revision: known[0], number: 3n });
  });

  test('keeps the newest revision if its data only looks different', () => {
    const known = [revision('web-a', 1, earlier)];
    expect(planUpdateRevision(setWith('one'), known, byMeaning).kind).toBe('known');
    expect(planUpdateRevision(setWith('two'), known, byMeaning).kind).toBe('create');
    expect(planUpdateRevision(setWith('one'), known, byBytes).kind).toBe('create');
  });

  test('compares the meaning of the newest revision only', () => {
    const known = [revision('web-a', 1, earlier), revision('web-b', 2, dataOf('two'))];
    expect(planUpdateRevision(setWith('one'), known, byMeaning).kind).toBe('create');
  });
});

describe('the current revision', () => {
  const [a, b] = [revision('web-a', 1, dataOf('one')), revision('web-b', 2, dataOf('two'))];

  test('is the one in the status', () => {
    expect(selectCurrentRevision(setWith('two', { currentRevision: 'web-a' }), [a, b], b)).toBe(a);
  });

  test('is the update revision if the status names none that exists', () => {
    expect(selectCurrentRevision(setWith('two', { currentRevision: 'gone' }), [a, b], b)).toBe(b);
  });

  test('restores its template; data without one changes nothing', () => {
    expect(versionOf(setWith('two'), a).template).toEqual(template('one'));
    expect(versionOf(setWith('two'), revision('odd', 3, {})).template).toEqual(template('two'));
  });
});

describe('selectSurplus', () => {
  const known = [1, 2, 3, 4, 5].map((number) => revision(`web-${number}`, number, dataOf(String(number))));
  const pods = [frozen(pod({ labels: { [revisionHashLabel]: 'web-1' } }))];
  const rows = [
    { name: 'the oldest that nothing refers to', limit: 1, expected: ['web-2', 'web-3'] },
    { name: 'all of these without a history', limit: 0, expected: ['web-2', 'web-3', 'web-4'] },
    { name: 'none within the limit', limit: 3, expected: [] },
    { name: 'none with a negative limit', limit: -1, expected: [] },
  ];
  for (const { name, limit, expected } of rows) {
    test(name, () => {
      const set = frozen(statefulSet({ name: 'web', spec: { revisionHistoryLimit: limit } }));
      const surplus = selectSurplus(set, known, { pods, live: known.slice(4) });
      expect(surplus.map(({ metadata }) => metadata.name)).toEqual(expected);
    });
  }
});
