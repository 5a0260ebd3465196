import { ownValue, parseSelectorText, type Cached, type ObjectMeta } from '../api/index.ts';
import type { Informer } from '../../informers/index.ts';

type Scope = Informer<never>['scope'];

interface Described {
  readonly metadata: Cached<ObjectMeta>;
}

/**
 * Why the API server leaves the object out of a watch of this part of its kind. Undefined if it belongs to the part, or if
 * that cannot be told: `isPartial` objects lack fields that the stored object has.
 */
export function exclusionFrom(
  { namespace, labelSelector = '', fieldSelector = '' }: Scope,
  object: Described,
  { isPartial }: { readonly isPartial: boolean },
): string | undefined {
  const { metadata } = object;
  if (namespace !== undefined && namespace !== metadata.namespace) {
    return `it is in the namespace ${String(metadata.namespace)}, and only ${namespace} is watched`;
  }
  return labelExclusion(labelSelector, metadata) ?? fieldExclusion(fieldSelector, object, isPartial);
}

function labelExclusion(text: string, { labels }: Described['metadata']): string | undefined {
  const { matches, required } = parseSelectorText(text);
  if (matches(labels)) return undefined;
  const missing = Object.entries(required).filter(([name, value]) => ownValue(labels ?? {}, name) !== value);
  if (missing.length === 0) return `its labels do not match the selection ${text}`;
  return `it lacks the label ${missing.map(([name, value]) => `${name}=${value}`).join(', ')} of the selection`;
}

interface FieldTerm {
  readonly field: string;
  readonly isEqual: boolean;
  readonly value: string;
}

function fieldExclusion(text: string, object: Described, isPartial: boolean): string | undefined {
  for (const { field, isEqual, value } of fieldTerms(text)) {
    const actual = textAt(object, field);
    if (actual === undefined && (isPartial || isZero(value))) continue;
    if ((actual === value) !== isEqual) {
      return `its field ${field} is ${actual ?? 'not set'}, and the selection is ${field}${isEqual ? '=' : '!='}${value}`;
    }
  }
  return undefined;
}

/** The terms of a field selector such as `metadata.name=a,type!=b`. */
export function fieldTerms(text: string): readonly FieldTerm[] {
  return text.split(',').flatMap((term) => {
    const [, field = '', operator, value = ''] = /^\s*([^=!\s]+)\s*(==|=|!=)\s*(.*?)\s*$/.exec(term) ?? [];
    return field === '' ? [] : [{ field, isEqual: operator !== '!=', value }];
  });
}

/** In field selectors, a field that is not set has the zero value of its type. */
function isZero(value: string): boolean {
  return value === '' || value === 'false' || value === '0';
}

function textAt(object: Described, path: string): string | undefined {
  const found = path.split('.').reduce<unknown>((at, name) => {
    return typeof at === 'object' && at !== null ? ownValue(at as Readonly<Record<string, unknown>>, name) : undefined;
  }, object);
  return typeof found === 'string' || typeof found === 'number' || typeof found === 'boolean'
    ? String(found)
    : undefined;
}
