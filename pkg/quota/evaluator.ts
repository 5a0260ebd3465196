import {
  compileSelector,
  InvalidSelectorError,
  type Cached,
  type KubeObject,
  type ResourceQuota,
} from '../api/index.ts';
import type { Usage } from './usage.ts';

/** One entry of `scopes` or of `scopeSelector`. */
export interface ScopeRequirement {
  readonly scopeName: string;
  readonly operator: string;
  readonly values?: readonly string[] | null | undefined;
}

/** Knows what objects of one resource cost. */
export interface Evaluator<T extends KubeObject = KubeObject> {
  /** The resource whose objects it charges: `pods`, `resourceclaims.resource.k8s.io`. */
  readonly resource: string;
  /** Whether objects of the resource are charged under this name of a quota. */
  tracks(name: string): boolean;
  /** Whether objects are charged under a name that only other evaluators track. Default: no. */
  alsoCharges?(name: string): boolean;
  usageOf(object: Cached<T>): Usage;
  /** Objects without scopes match no scope. */
  matchesScope(scope: ScopeRequirement, object: Cached<T>): boolean;
}

/** Matches no scope: a quota with scopes never charges objects of such resources. */
export const noScopes = (): boolean => false;

export function scopesOf({ spec }: Cached<Pick<ResourceQuota, 'spec'>>): readonly ScopeRequirement[] {
  const scopes = (spec?.scopes ?? []).map((scopeName) => ({ scopeName, operator: 'Exists' }));
  return [...scopes, ...(spec?.scopeSelector?.matchExpressions ?? [])];
}

/** Whether one of these names of classes matches. An object without a class has no label for the selector. */
export function matchesClass({ scopeName, operator, values }: ScopeRequirement, names: readonly string[]): boolean {
  if (operator === 'Exists') return names.length > 0;
  try {
    const requirement = { key: scopeName, operator, ...(values !== undefined && { values: [...(values ?? [])] }) };
    const matches = compileSelector({ matchExpressions: [requirement] });
    return names.length === 0 ? matches({}) : names.some((name) => matches({ [scopeName]: name }));
  } catch (error) {
    if (error instanceof InvalidSelectorError) return false; // the server accepts no such quota
    throw error;
  }
}

/** `count/deployments.apps`: the name under which every resource can be counted. */
export function countName(resource: string): string {
  return `count/${resource}`;
}
