import { ownValue, type Cached, type Labels, type Node } from '../../pkg/api/index.ts';

/** Deprecated names of labels. Pods may still select nodes by them. */
const deprecatedNames: Readonly<Record<string, string>> = {
  'kubernetes.io/os': 'beta.kubernetes.io/os',
  'kubernetes.io/arch': 'beta.kubernetes.io/arch',
};

/** The deprecated labels that are absent or differ from the current label; undefined if there are none. */
export function planLabels({ metadata: { labels } }: Cached<Node>): Labels | undefined {
  const changes: Record<string, string> = {};
  for (const [current, deprecated] of Object.entries(deprecatedNames)) {
    const value = ownValue(labels, current);
    if (value !== undefined && ownValue(labels, deprecated) !== value) changes[deprecated] = value;
  }
  return Object.keys(changes).length === 0 ? undefined : changes;
}
