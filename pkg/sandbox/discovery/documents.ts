import { apiVersionOf, type DiscoverableResource as Resource } from '../registry/index.ts';

/** The kinds of subresources of built-in kinds, where they differ from the kind itself. */
const subresourceKinds: Readonly<Record<string, { group: string; version: string; kind: string }>> = {
  scale: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
  eviction: { group: 'policy', version: 'v1', kind: 'Eviction' },
  binding: { group: '', version: 'v1', kind: 'Binding' },
  token: { group: 'authentication.k8s.io', version: 'v1', kind: 'TokenRequest' },
};

interface Group {
  readonly name: string;
  /** In order of preference. */
  readonly versions: readonly (readonly [version: string, resources: readonly Resource[]])[];
}

function groupsOf(resources: readonly Resource[]): Group[] {
  const groups = new Map<string, Map<string, Resource[]>>();
  for (const resource of resources) {
    const versions = groups.get(resource.group) ?? new Map<string, Resource[]>();
    groups.set(resource.group, versions);
    versions.set(resource.version, [...(versions.get(resource.version) ?? []), resource]);
  }
  return [...groups].map(([name, versions]) => ({
    name,
    versions: [...versions].sort(([a], [b]) => compareVersions(a, b)),
  }));
}

/** `v2` before `v1`, `v1` before `v1beta2`, `v1beta2` before `v1alpha1`, and anything else after that, by name. */
export function compareVersions(a: string, b: string): number {
  const rank = (version: string): number[] | undefined => {
    const match = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version);
    if (match === null) return undefined;
    const stage = match[2] === undefined ? 2 : match[2] === 'beta' ? 1 : 0;
    return [stage, Number(match[1]), Number(match[3] ?? 0)];
  };
  const [left, right] = [rank(a), rank(b)];
  if (left === undefined || right === undefined) {
    if (left !== right) return left === undefined ? 1 : -1;
    return a < b ? -1 : 1;
  }
  for (const [index, value] of left.entries()) {
    const difference = (right[index] ?? 0) - value;
    if (difference !== 0) return difference;
  }
  return 0;
}

/** Everything in one document, for `/api` (the core group) or `/apis` (all others). */
export function aggregatedDiscovery(resources: readonly Resource[], root: 'api' | 'apis'): object {
  const items = groupsOf(resources)
    .filter(({ name }) => (name === '') === (root === 'api'))
    .map(({ name, versions }) => ({
      metadata: { ...(name !== '' && { name }), creationTimestamp: null },
      versions: versions.map(([version, each]) => ({
        version,
        resources: each.map(aggregatedResource),
        freshness: 'Current',
      })),
    }));
  return { kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.k8s.io/v2', metadata: {}, items };
}

function aggregatedResource(resource: Resource): object {
  const { group, version, kind, singular, namespaced, verbs, shortNames, categories, subresources } = resource;
  const responseKind = { group, version, kind };
  return {
    resource: resource.resource,
    responseKind,
    scope: namespaced ? 'Namespaced' : 'Cluster',
    singularResource: singular,
    verbs,
    ...(shortNames.length > 0 && { shortNames }),
    ...(categories.length > 0 && { categories }),
    ...(subresources.size > 0 && {
      subresources: [...subresources].map(([subresource, subVerbs]) => ({
        subresource,
        responseKind: subresourceKinds[subresource] ?? responseKind,
        verbs: subVerbs,
      })),
    }),
  };
}

/** Unaggregated discovery: `/api`. */
export function coreVersions(address: string): object {
  const serverAddressByClientCIDRs = [{ clientCIDR: '0.0.0.0/0', serverAddress: address }];
  return { kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs };
}

function groupDocument({ name, versions }: Group): object {
  const listed = versions.map(([version]) => ({ groupVersion: `${name}/${version}`, version }));
  return { name, versions: listed, preferredVersion: listed[0] };
}

/** Unaggregated discovery: `/apis`. */
export function groupList(resources: readonly Resource[]): object {
  const groups = groupsOf(resources).filter(({ name }) => name !== '');
  return { kind: 'APIGroupList', apiVersion: 'v1', groups: groups.map(groupDocument) };
}

/** Unaggregated discovery: `/apis/apps`; undefined for a group that does not exist. */
export function oneGroup(resources: readonly Resource[], name: string): object | undefined {
  const group = groupsOf(resources).find((each) => each.name === name && name !== '');
  return group && { kind: 'APIGroup', apiVersion: 'v1', ...groupDocument(group) };
}

/** Unaggregated discovery: `/apis/apps/v1`; undefined for a version that does not exist. */
export function resourceList(resources: readonly Resource[], groupVersion: string): object | undefined {
  const found = resources.filter((resource) => apiVersionOf(resource) === groupVersion);
  if (found.length === 0) return undefined;
  return { kind: 'APIResourceList', apiVersion: 'v1', groupVersion, resources: found.flatMap(listedResources) };
}

function listedResources(resource: Resource): object[] {
  const { kind, singular, namespaced, verbs, shortNames, categories, subresources } = resource;
  const name = resource.resource;
  return [
    {
      name,
      singularName: singular,
      namespaced,
      kind,
      verbs,
      ...(shortNames.length > 0 && { shortNames }),
      ...(categories.length > 0 && { categories }),
    },
    ...[...subresources].map(([subresource, subVerbs]) => {
      const other = subresourceKinds[subresource];
      return {
        name: `${name}/${subresource}`,
        singularName: '',
        namespaced,
        ...(other !== undefined && { group: other.group, version: other.version }),
        kind: other?.kind ?? kind,
        verbs: subVerbs,
      };
    }),
  ];
}
