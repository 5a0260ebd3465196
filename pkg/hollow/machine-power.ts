import { ownValue, type Cached, type Node } from '../api/index.ts';

/** An annotation of a Node: `off` shuts its machine down, `gone` removes it. Without it the machine runs. */
export const machineAnnotation = 'hollow-node/machine';

export type Power = 'on' | 'off' | 'gone';

/** The state of a node's machine. Any other value counts as not set. */
export function powerOf({ metadata }: Cached<Node>): Power {
  const value = ownValue(metadata.annotations, machineAnnotation);
  return value === 'off' || value === 'gone' ? value : 'on';
}
