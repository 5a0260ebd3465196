import { ownValue, parseSelectorText, type Cached, type ObjectMeta } from '../api/index.ts';
import type { Informer } from '../../informers/index.ts';

type Scope = Informer<never>['scope'];

interface Described {
  readonly metadata: Cached<ObjectMeta>;
}

/** Whether the API server shows an object in a watch of a part of its kind. */
export type Membership =
  | { readonly kind: 'selected' }
  /** `isPartial` objects lack fields that the stored object has, and the type of a field that is not set is unknown. */
  | { readonly kind: 'undecided' }
  | { readonly kind: 'excluded'; readonly why: string };

export function membershipIn(
  { namespace, labelSelector = '', fieldSelector = '' }: Scope,
  object: Described,
  { isPartial }: { readonly isPartial: boolean },
): Membership {
  const { metadata } = object;
  if (namespace !== undefined && namespace !== metadata.namespace) {
    return excluded(`it is in the namespace ${String(metadata.namespace)}, and only ${namespace} is watched`);
  }
  const why = labelExclusion(labelSelector, metadata);
  return why === undefined ? fieldMembership(fieldSelector, object, isPartial) : excluded(why);
}

function excluded(why: string): Membership {
  return { kind: 'excluded', why };
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

function fieldMembership(text: string, object: Described, isPartial: boolean): Membership {
  let isDecided = true;
  for (const { field, isEqual, value } of fieldTerms(text)) {
    const actual = textAt(object, field);
    if (actual === undefined && (isPartial || value === '0' || value === 'false')) isDecided = false;
    // A text that is not set is empty.
    else if (((actual ?? '') === value) !== isEqual) {
      const operator = isEqual ? '=' : '!=';
      return excluded(`its field ${field} is ${actual ?? 'not set'}, and the selection is ${field}${operator}${value}`);
    }
  }
  return { kind: isDecided ? 'selected' : 'undecided' };
}

/** The terms of a field selector such as `metadata.name=a,type!=b`. */
export function fieldTerms(text: string): readonly FieldTerm[] {
  return text.split(',').flatMap((term) => {
    const [, field = '', operator, value = ''] = /^\s*([^=!\s]+)\s*(==|=|!=)\s*(.*?)\s*$/.exec(term) ?? [];
    return field === '' ? [] : [{ field, isEqual: operator !== '!=', value }];
  });
}

function textAt(object: Described, path: string): string | undefined {
  const found = path.split('.').reduce<unknown>((at, name) => {
    return typeof at === 'object' && at !== null ? ownValue(at as Readonly<Record<string, unknown>>, name) : undefined;
  }, object);
  return typeof found === 'string' || typeof found === 'number' || typeof found === 'boolean'
    ? String(found)
    : undefined;
}
