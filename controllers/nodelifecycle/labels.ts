import { ownValue, type Cached, type Labels, type Node } from '../../pkg/api/index.ts';

/** Labels that lived on under their first names: pods still select by them. */
const formerNames: Readonly<Record<string, string>> = {
  'kubernetes.io/os': 'beta.kubernetes.io/os',
  'kubernetes.io/arch': 'beta.kubernetes.io/arch',
};

/** The former labels that a node lacks, or that contradict the present ones; undefined if there are none. */
export function planLabels({ metadata: { labels } }: Cached<Node>): Labels | undefined {
  const changes: Record<string, string> = {};
  for (const [present, former] of Object.entries(formerNames)) {
    const value = ownValue(labels, present);
    if (value !== undefined && ownValue(labels, former) !== value) changes[former] = value;
  }
  return Object.keys(changes).length === 0 ? undefined : changes;
}
