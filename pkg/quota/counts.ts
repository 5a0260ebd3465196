import { amountOf } from '../quantities/index.ts';
import { countName, noScopes, type Evaluator } from './evaluator.ts';

const one = amountOf(1);

/** Names that are older than `count/…`. */
const aliases: ReadonlySet<string> = new Set(['configmaps', 'resourcequotas', 'replicationcontrollers', 'secrets']);

/** Counts the objects of a resource. */
export function createCountEvaluator(resource: string): Evaluator {
  const names = aliases.has(resource) ? [countName(resource), resource] : [countName(resource)];
  const usage = new Map(names.map((name) => [name, one]));
  return { resource, tracks: (name) => usage.has(name), usageOf: () => usage, matchesScope: noScopes };
}

/** Resources that no quota counts: they are not stored, or, like events, come and go too often. */
const ignored: ReadonlySet<string> = new Set([
  'bindings',
  'componentstatuses',
  'tokenreviews.authentication.k8s.io',
  'selfsubjectreviews.authentication.k8s.io',
  'subjectaccessreviews.authorization.k8s.io',
  'selfsubjectaccessreviews.authorization.k8s.io',
  'localsubjectaccessreviews.authorization.k8s.io',
  'selfsubjectrulesreviews.authorization.k8s.io',
  'events',
  'events.events.k8s.io',
]);

export function isIgnoredByQuota(resource: string): boolean {
  return ignored.has(resource);
}

/** The resource that is counted under a name of a quota, if the name is one of a count. */
export function countedResource(name: string): string | undefined {
  if (aliases.has(name)) return name;
  const resource = name.startsWith('count/') ? name.slice('count/'.length) : '';
  return resource === '' || isIgnoredByQuota(resource) ? undefined : resource;
}
