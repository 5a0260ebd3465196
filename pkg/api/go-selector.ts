import type { Cached } from './cached.ts';
import type { LabelSelector } from './objects.ts';

/** A selector as Go's `%v` shows it: part of an event's message. */
export function formatGoSelector(selector: Cached<LabelSelector> | null | undefined): string {
  if (selector === undefined || selector === null) return 'nil';
  const labels = Object.entries(selector.matchLabels ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  const shown = labels.map(([name, value]) => `${name}: ${value},`).join('');
  const expressions = (selector.matchExpressions ?? []).map(
    ({ key, operator, values }) =>
      `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${(values ?? []).join(' ')}],},`,
  );
  return (
    `&LabelSelector{MatchLabels:map[string]string{${shown}},` +
    `MatchExpressions:[]LabelSelectorRequirement{${expressions.join('')}},}`
  );
}
