import type { ObjectType } from '../schema/index.ts';
import type { CustomType } from './custom.ts';

/** One resource of one version of a group, and all that the server has to know in order to serve it. */
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
  /** The verbs of each. */
  readonly subresources: ReadonlyMap<string, readonly string[]>;
  readonly type: ResourceType;
}

export type ResourceType =
  | { readonly kind: 'built-in'; readonly object: ObjectType }
  | { readonly kind: 'custom'; readonly custom: CustomType };

/** What its objects are stored under: all versions of a resource share them. */
export function storageId({ group, resource }: Pick<Resource, 'group' | 'resource'>): string {
  return group === '' ? resource : `${resource}.${group}`;
}

export function apiVersionOf({ group, version }: Pick<Resource, 'group' | 'version'>): string {
  return group === '' ? version : `${group}/${version}`;
}
