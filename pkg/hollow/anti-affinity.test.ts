import { describe, expect, test } from 'vitest';

import type { Pod, PodSpec } from '../api/index.ts';
import { frozen, pod } from '../../test/support/builders.ts';
import { compileJoin, repelsOthers } from './anti-affinity.ts';

type Affinity = NonNullable<NonNullable<PodSpec['affinity']>['podAntiAffinity']>;
type Term = NonNullable<Affinity['requiredDuringSchedulingIgnoredDuringExecution']>[number];

const selector = (app: string) => ({ labelSelector: { matchLabels: { app } } });
const apart = (term: Partial<Term> = {}): Partial<PodSpec> => ({
  affinity: {
    podAntiAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [
        { topologyKey: 'kubernetes.io/hostname', ...selector('web'), ...term },
      ],
    },
  },
});
const named = (name: string, app: string, spec: Partial<PodSpec> = {}, namespace?: string): Pod =>
  pod({ name, labels: { app }, spec, namespace });

describe('a pod', () => {
  const rows: { name: string; joins: Pod; others: readonly Pod[]; expected: boolean }[] = [
    { name: 'may run on an empty node', joins: named('a', 'web', apart()), others: [], expected: true },
    {
      name: 'may run beside similar pods without anti-affinity',
      joins: named('a', 'web'),
      others: [named('b', 'web')],
      expected: true,
    },
    {
      name: 'may not run beside the pods that it selects',
      joins: named('a', 'web', apart()),
      others: [named('b', 'web')],
      expected: false,
    },
    {
      name: 'may run beside pods that it does not select',
      joins: named('a', 'web', apart()),
      others: [named('b', 'db')],
      expected: true,
    },
    {
      name: 'may not run beside pods that select it',
      joins: named('a', 'web'),
      others: [named('b', 'db', apart())],
      expected: false,
    },
    {
      name: 'may run beside pods of another namespace',
      joins: named('a', 'web', apart()),
      others: [named('b', 'web', {}, 'other')],
      expected: true,
    },
    {
      name: 'may not run beside pods of a namespace that it names',
      joins: named('a', 'web', apart({ namespaces: ['other'] })),
      others: [named('b', 'web', {}, 'other')],
      expected: false,
    },
    {
      name: 'may not run beside pods of any namespace',
      joins: named('a', 'web', apart({ namespaceSelector: {} })),
      others: [named('b', 'web', {}, 'other')],
      expected: false,
    },
    {
      name: 'ignores other topologies',
      joins: named('a', 'web', apart({ topologyKey: 'topology.kubernetes.io/zone' })),
      others: [named('b', 'web')],
      expected: true,
    },
    {
      name: 'may run beside all pods without a selector',
      joins: named('a', 'web', apart({ labelSelector: undefined })),
      others: [named('b', 'web')],
      expected: true,
    },
  ];
  for (const { name, joins, others, expected } of rows) {
    test(name, () => {
      const pods = new Map(others.map((other) => [other.metadata.uid, frozen(other)]));
      const repelling = new Map([...pods].filter(([, other]) => repelsOthers(other)));
      expect(compileJoin(frozen(joins))({ pods, repelling })).toBe(expected);
    });
  }
});
