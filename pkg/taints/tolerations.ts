import { parseInt64, type Cached, type Node, type Taint, type Toleration } from '../api/index.ts';

export interface ToleranceOptions {
  /** The gate TaintTolerationComparisonOperators. */
  readonly allowComparisons: boolean;
}

export function noExecuteTaints(node: Cached<Node>): readonly Cached<Taint>[] {
  return (node.spec.taints ?? []).filter(({ effect }) => effect === 'NoExecute');
}

/**
 * For how long these tolerations tolerate all of these taints. The first toleration that matches a taint counts for that
 * taint, and the shortest of these times is returned. Undefined: forever. 0: not at all.
 */
export function toleratedMs(
  taints: readonly Cached<Taint>[],
  tolerations: readonly Cached<Toleration>[],
  options: ToleranceOptions,
): number | undefined {
  let shortestMs: number | undefined;
  for (const taint of taints) {
    const match = tolerations.find((toleration) => tolerates(toleration, taint, options));
    if (match === undefined) return 0;
    if (match.tolerationSeconds === undefined) continue;
    shortestMs = Math.min(shortestMs ?? Infinity, Math.max(0, match.tolerationSeconds) * 1000);
  }
  return shortestMs;
}

/** Whether the toleration matches the taint. `Lt` and `Gt` compare int64 values and need their gate. */
export function tolerates(
  toleration: Cached<Toleration>,
  taint: Cached<Taint>,
  { allowComparisons }: ToleranceOptions,
): boolean {
  const { key = '', operator = '', value = '', effect = '' } = toleration;
  if (effect !== '' && effect !== taint.effect) return false;
  if (key !== '' && key !== taint.key) return false;
  switch (operator) {
    case '':
    case 'Equal':
      return value === (taint.value ?? '');
    case 'Exists':
      return true;
    case 'Lt':
      return allowComparisons && isLess(taint.value ?? '', value);
    case 'Gt':
      return allowComparisons && isLess(value, taint.value ?? '');
    default:
      return false;
  }
}

/** Compares decimal int64 values. A value that is not an int64 is never less than another. */
function isLess(a: string, b: string): boolean {
  const [left, right] = [parseDecimal(a), parseDecimal(b)];
  return left !== undefined && right !== undefined && left < right;
}

function parseDecimal(text: string): bigint | undefined {
  return /^(0|-?[1-9]\d*)$/.test(text) ? parseInt64(text) : undefined;
}
