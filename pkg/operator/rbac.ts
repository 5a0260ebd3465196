import { resourceName, type Kind } from '../api/index.ts';
import type { ControllerParts } from './controller.ts';

/** A rule of a ClusterRole. */
export interface PolicyRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[] | undefined;
}

const read = ['get', 'list', 'watch'];

/**
 * The permissions that a controller needs: to read the kinds that it watches, to write those that it owns, and to write
 * the status of its own kind.
 */
export function rulesOf({ options, primary, owns, watches, reads }: ControllerParts): readonly PolicyRule[] {
  const verbs = new Map<string, { readonly kind: Kind; readonly verbs: Set<string> }>();
  const allow = (kind: Kind, ...more: readonly string[]): void => {
    const known = verbs.get(resourceName(kind)) ?? { kind, verbs: new Set<string>() };
    verbs.set(resourceName(kind), known);
    for (const verb of more) known.verbs.add(verb);
  };
  allow(primary.watched, ...read, ...(options.finalizer === undefined ? [] : ['patch']));
  for (const { watched } of owns) allow(watched, ...read, 'create', 'patch', 'delete');
  for (const { watched } of [...watches, ...reads]) allow(watched, ...read);
  const { group, resource } = primary.watched;
  return [
    ...[...verbs.values()].map((each) => rule(each.kind.group, each.kind.resource, [...each.verbs])),
    rule(group, `${resource}/status`, ['patch']),
    // The server requires this permission for owner references that block deletion.
    ...(owns.length > 0 ? [rule(group, `${resource}/finalizers`, ['update'])] : []),
    rule('', 'events', ['create', 'patch']),
    ...(options.permissions ?? []),
  ];
}

function rule(group: string, resource: string, verbs: readonly string[]): PolicyRule {
  return { apiGroups: [group], resources: [resource], verbs };
}
