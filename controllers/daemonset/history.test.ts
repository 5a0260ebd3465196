import { describe, expect, test } from 'vitest';

import type { ControllerRevision, DaemonSet } from '../../pkg/api/index.ts';
import { templatePatch } from '../../pkg/revisions/index.ts';
import { controllerRevision, container, daemonSet, pod } from '../../test/support/builders.ts';
import { planHistory, selectSurplus } from './history.ts';

const withImage = (image: string): DaemonSet =>
  daemonSet({
    spec: { template: { metadata: { labels: { app: 'web' } }, spec: { containers: [container({ image })] } } },
  });

function revisionOf(image: string, revision: number, name = image): ControllerRevision {
  const data: object = JSON.parse(templatePatch(withImage(image))) as object;
  return controllerRevision({ name, labels: { 'controller-revision-hash': `hash-${name}` } }, { data, revision });
}

describe('planHistory', () => {
  const rows: {
    name: string;
    revisions: ControllerRevision[];
    current?: string;
    old?: string[];
    duplicates?: string[];
    revision: bigint;
  }[] = [
    { name: 'starts with 1', revisions: [], revision: 1n },
    { name: 'creates a revision after the others', revisions: [revisionOf('a', 4)], old: ['a'], revision: 5n },
    {
      name: 'keeps a current revision',
      revisions: [revisionOf('now', 2), revisionOf('a', 1)],
      current: 'now',
      old: ['a'],
      revision: 2n,
    },
    {
      name: 'keeps a number that is higher than necessary',
      revisions: [revisionOf('now', 7)],
      current: 'now',
      revision: 7n,
    },
    {
      name: 'renumbers the revision of an earlier template',
      revisions: [revisionOf('now', 1), revisionOf('a', 2)],
      current: 'now',
      old: ['a'],
      revision: 3n,
    },
    {
      name: 'keeps the highest of equal revisions',
      revisions: [revisionOf('now', 1, 'x'), revisionOf('now', 3, 'y'), revisionOf('now', 2, 'z')],
      current: 'y',
      duplicates: ['x', 'z'],
      revision: 3n,
    },
  ];
  const names = (revisions: readonly { metadata: { name: string } }[]): string[] =>
    revisions.map(({ metadata }) => metadata.name);
  for (const { name, revisions, current, old = [], duplicates = [], revision } of rows) {
    test(name, () => {
      const plan = planHistory(withImage('now'), revisions);
      expect(plan.current?.metadata.name).toBe(current);
      expect(plan.hash).toBe(current === undefined ? undefined : `hash-${current}`);
      expect(names(plan.old)).toEqual(old);
      expect(names(plan.duplicates)).toEqual(duplicates);
      expect(plan.revision).toBe(revision);
      expect(plan.unlabelled).toEqual([]);
    });
  }

  test('uses the name as the hash of a revision without one', () => {
    const { data } = revisionOf('now', 1);
    const unlabelled = controllerRevision({ name: 'web-1' }, { data, revision: 1 });
    const plan = planHistory(withImage('now'), [unlabelled]);
    expect(plan.hash).toBe('web-1');
    expect(plan.unlabelled).toEqual([unlabelled]);
  });
});

describe('selectSurplus', () => {
  test('selects the oldest beyond the limit that no pod has', () => {
    const owner = daemonSet({ spec: { revisionHistoryLimit: 1 } });
    const old = [revisionOf('a', 1), revisionOf('b', 2), revisionOf('c', 3)];
    const pods = [pod({ labels: { 'controller-revision-hash': 'hash-a' } })];
    expect(selectSurplus(owner, old, pods)).toEqual(old.slice(1));
    expect(selectSurplus(owner, old, [])).toEqual(old.slice(0, 2));
    expect(selectSurplus(daemonSet(), old, [])).toEqual([]);
  });
});
