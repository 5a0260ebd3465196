import type { Cached, Node, Taint, Toleration } from '../../pkg/api/index.ts';

export function noExecuteTaints(node: Cached<Node>): readonly Cached<Taint>[] {
  return (node.spec.taints ?? []).filter(({ effect }) => effect === 'NoExecute');
}

/**
 * For how long these tolerations bear all of these taints together: of the first toleration that matches each taint,
 * the shortest time. Undefined: for ever. Zero: not at all.
 */
export function toleratedMs(
  taints: readonly Cached<Taint>[],
  tolerations: readonly Cached<Toleration>[],
  options: { readonly allowComparisons: boolean },
): number | undefined {
  let shortestMs: number | undefined;
  for (const taint of taints) {
    const match = tolerations.find((toleration) => tolerates(toleration, taint, options.allowComparisons));
    if (match === undefined) return 0;
    if (match.tolerationSeconds === undefined) continue;
    shortestMs = Math.min(shortestMs ?? Infinity, Math.max(0, match.tolerationSeconds) * 1000);
  }
  return shortestMs;
}

function tolerates(toleration: Cached<Toleration>, taint: Cached<Taint>, allowComparisons: boolean): boolean {
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

/** Compares 64-bit whole numbers in plain notation. What is none compares to nothing. */
function isLess(a: string, b: string): boolean {
  const [left, right] = [parseInt64(a), parseInt64(b)];
  return left !== undefined && right !== undefined && left < right;
}

function parseInt64(text: string): bigint | undefined {
  if (!/^(0|-?[1-9]\d{0,18})$/.test(text)) return undefined;
  const value = BigInt(text);
  return BigInt.asIntN(64, value) === value ? value : undefined;
}
