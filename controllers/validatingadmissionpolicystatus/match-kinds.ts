import type { Cached, Kind, ValidatingAdmissionPolicy } from '../../pkg/api/index.ts';

/** No rule leads to more kinds than this. */
const mostKinds = 10;

type Rules = NonNullable<NonNullable<Cached<ValidatingAdmissionPolicy>['spec']>['matchConstraints']>['resourceRules'];

/**
 * The kinds that a policy is checked for, in the order of the warnings. Rules with wildcards are not followed, nor are
 * subresources. As in Go, an empty group stands for every group.
 */
export function selectKinds(rules: Rules, served: readonly Kind[]): Kind[] {
  const found = new Set<Kind>();
  for (const rule of rules ?? []) {
    const matched = kindsOf(rule, served);
    for (const kind of matched.slice(0, mostKinds)) found.add(kind);
    if (matched.length >= mostKinds) break; // as in Go, the rules after it are not followed
  }
  return sorted(found);
}

function kindsOf({ apiGroups, apiVersions, resources }: NonNullable<Rules>[number], served: readonly Kind[]): Kind[] {
  const versions = literals(apiVersions);
  const plain = (resources ?? []).filter((resource) => !/[*/]/.test(resource)).toSorted();
  return literals(apiGroups).flatMap((group) =>
    versions.flatMap((version) => plain.flatMap((resource) => kindsFor(served, { group, version, resource }))),
  );
}

function literals(names: readonly string[] | undefined): readonly string[] {
  return (names ?? []).some((name) => name.includes('*')) ? [] : (names ?? []).toSorted();
}

function kindsFor(served: readonly Kind[], { group, version, resource }: Omit<Kind, 'kind' | 'namespaced'>): Kind[] {
  return served.filter(
    (kind) => (group === '' || kind.group === group) && kind.version === version && kind.resource === resource,
  );
}

function sorted(kinds: Iterable<Kind>): Kind[] {
  const order = ({ group, version, kind }: Kind): string => `${group}\0${version}\0${kind}`;
  return [...kinds].sort((first, second) => (order(first) < order(second) ? -1 : 1));
}
