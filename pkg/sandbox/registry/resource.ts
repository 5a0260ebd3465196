import type { ObjectType } from '../schema/index.ts';
import type { CustomType } from './custom.ts';

/** One resource in one version of a group, with everything that the server needs in order to serve it. */
export interface Resource {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  /** The plural in the path. */
  readonly resource: string;
  readonly singular: string;
  readonly namespaced: boolean;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly verbs: readonly string[];
  /** The verbs of each subresource. */
  readonly subresources: ReadonlyMap<string, readonly string[]>;
  readonly type: ResourceType;
}

/** What discovery shows of a resource. */
export type DiscoverableResource = Omit<Resource, 'type'>;

export type ResourceType =
  | { readonly kind: 'built-in'; readonly object: ObjectType }
  | { readonly kind: 'custom'; readonly custom: CustomType };

/** The name under which its objects are stored. All versions of a resource share it. */
export function storageId({ group, resource }: Pick<Resource, 'group' | 'resource'>): string {
  return group === '' ? resource : `${resource}.${group}`;
}

export function apiVersionOf({ group, version }: Pick<Resource, 'group' | 'version'>): string {
  return group === '' ? version : `${group}/${version}`;
}
