import { describe, expect, test } from 'vitest';

import { ClusterRoles, type ClusterRole } from '../../pkg/api/index.ts';
import { build, frozen } from '../../test/support/builders.ts';
import { computeRules, hasRules } from './aggregate.ts';

type Rule = NonNullable<ClusterRole['rules']>[number];
const rule = (resource: string, ...verbs: string[]): Rule => ({ apiGroups: [''], resources: [resource], verbs });
const toView = { aggregate: 'view' };

function role(name: string, fields: Partial<ClusterRole> & { labels?: Record<string, string> } = {}): ClusterRole {
  const { labels = {}, ...others } = fields;
  return { ...build<ClusterRole>(ClusterRoles, { name, labels }, {}), ...others };
}

const view = role('view', { aggregationRule: { clusterRoleSelectors: [{ matchLabels: toView }] } });

describe('computeRules', () => {
  const rows = [
    { name: 'no rules when nothing is selected', others: [role('a', { rules: [rule('pods', 'get')] })], expected: [] },
    {
      name: 'the rules of selected roles, by the name of their role',
      others: [
        role('b', { labels: toView, rules: [rule('services', 'get')] }),
        role('a', { labels: toView, rules: [rule('pods', 'get')] }),
      ],
      expected: [rule('pods', 'get'), rule('services', 'get')],
    },
    {
      name: 'each rule once, and an empty list equals an absent one',
      others: [
        role('a', { labels: toView, rules: [{ ...rule('pods', 'get'), resourceNames: [] }] }),
        role('b', { labels: toView, rules: [rule('pods', 'get'), rule('pods', 'get', 'list')] }),
      ],
      expected: [{ ...rule('pods', 'get'), resourceNames: [] }, rule('pods', 'get', 'list')],
    },
    {
      name: 'no rules of a role whose rules are null',
      others: [role('a', { labels: toView, rules: null })],
      expected: [],
    },
    {
      name: 'no rules by a label that every object inherits',
      role: role('all', {
        aggregationRule: { clusterRoleSelectors: [{ matchExpressions: [{ key: 'constructor', operator: 'Exists' }] }] },
      }),
      others: [role('a', { rules: [rule('pods', 'get')] })],
      expected: [],
    },
    {
      name: 'no own rules',
      role: { ...view, metadata: { ...view.metadata, labels: toView }, rules: [rule('pods', 'delete')] },
      others: [],
      expected: [],
    },
    {
      name: 'the rules of each selector in turn',
      role: role('both', {
        aggregationRule: { clusterRoleSelectors: [{ matchLabels: { second: 'x' } }, { matchLabels: toView }] },
      }),
      others: [
        role('a', { labels: toView, rules: [rule('pods', 'get')] }),
        role('b', { labels: { second: 'x' }, rules: [rule('nodes', 'get')] }),
      ],
      expected: [rule('nodes', 'get'), rule('pods', 'get')],
    },
  ];
  for (const { name, role: given = view, others, expected } of rows) {
    test(name, () => {
      const candidates = [given, ...others].map((each) => frozen(each));
      expect(computeRules({ role: frozen(given), candidates })).toEqual(expected);
    });
  }
});

describe('hasRules', () => {
  const rules = [rule('pods', 'get'), rule('nodes', 'get')];
  test('is true for the same rules in the same order', () => {
    expect(
      hasRules(role('a', { rules: [{ ...rule('pods', 'get'), nonResourceURLs: [] }, rule('nodes', 'get')] }), rules),
    ).toBe(true);
  });
  test('is false in another order, with more or with fewer', () => {
    const others = [[rules[1], rules[0]], [...rules, rule('x', 'get')], rules.slice(1), null];
    for (const other of others)
      expect(hasRules(role('a', { rules: other as ClusterRole['rules'] }), rules)).toBe(false);
  });
  test('null rules are no rules', () => {
    expect(hasRules(role('a', { rules: null }), [])).toBe(true);
  });
});
