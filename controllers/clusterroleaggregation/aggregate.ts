import {
  compileSelector,
  isEqualJson,
  type Cached,
  type ClusterRole,
  type LabelSelector,
  type Selector,
} from '../../pkg/api/index.ts';

export type PolicyRule = NonNullable<Cached<ClusterRole>['rules']>[number];

/** The selectors of a role that aggregates others; none for any other role. */
export function roleSelectors({ aggregationRule }: Cached<ClusterRole>): readonly Cached<LabelSelector>[] {
  return aggregationRule?.clusterRoleSelectors ?? [];
}

/** Selects the roles that any of the selectors selects. Throws `InvalidSelectorError` for an unusable selector. */
export function compileAggregation(role: Cached<ClusterRole>): Selector {
  const selectors = roleSelectors(role).map(compileSelector);
  return (labels) => selectors.some((selects) => selects(labels));
}

export interface Snapshot {
  readonly role: Cached<ClusterRole>;
  /** Roles that one of the selectors may select. They may include the role itself. */
  readonly candidates: readonly Cached<ClusterRole>[];
}

/**
 * The rules that the role should have: those of all selected roles, each rule once. Selectors are taken in their order,
 * and the roles of one selector by name, so that the result does not depend on the order of the cache.
 */
export function computeRules({ role, candidates }: Snapshot): readonly PolicyRule[] {
  const others = candidates
    .filter(({ metadata }) => metadata.name !== role.metadata.name)
    .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  const rules: PolicyRule[] = [];
  for (const selector of roleSelectors(role)) {
    const isSelected = compileSelector(selector);
    const selected = others.filter(({ metadata }) => isSelected(metadata.labels));
    for (const rule of selected.flatMap((other) => other.rules ?? [])) {
      if (!rules.some((known) => isSameRule(known, rule))) rules.push(rule);
    }
  }
  return rules;
}

/** Whether the role already has these rules in this order. */
export function hasRules(role: Cached<ClusterRole>, rules: readonly PolicyRule[]): boolean {
  const present = role.rules ?? [];
  return present.length === rules.length && rules.every((rule, position) => isSameRule(rule, present[position] ?? {}));
}

function isSameRule(a: PolicyRule | object, b: PolicyRule | object): boolean {
  return isEqualJson(a, b, { emptyIsAbsent: true });
}
