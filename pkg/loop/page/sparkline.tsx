import type { VNode } from 'preact';

interface SparklineProps {
  /** Oldest first. */
  readonly values: readonly number[];
  readonly label: string;
}

const width = 120;
const height = 28;

/** A small chart. Its height is the largest value. */
export function Sparkline({ values, label }: SparklineProps): VNode {
  const largest = Math.max(1e-9, ...values);
  const step = width / Math.max(1, values.length - 1);
  const points = values.map((value, index) => `${(index * step).toFixed(1)},${toY(value / largest)}`);
  const line = points.length === 0 ? `0,${toY(0)} ${width},${toY(0)}` : points.join(' ');
  return (
    <svg class="sparkline" viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" role="img" aria-label={label}>
      <polygon points={`0,${height} ${line} ${width},${height}`} />
      <polyline points={line} />
    </svg>
  );
}

function toY(share: number): string {
  return (height - 1.5 - share * (height - 3)).toFixed(1);
}
