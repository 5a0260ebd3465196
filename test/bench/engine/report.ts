import { median } from '../managers/report.ts';
import { subjectNames } from './subject.ts';

/** One figure of one program in one round. */
export interface Figures {
  readonly subject: string;
  readonly what: string;
  readonly unit: string;
  readonly value: number;
}

/** A Markdown table of medians, and of ours divided by those of client-go. */
export function formatReport(figures: readonly Figures[]): string {
  const rows = [...new Map(figures.map(({ what, unit }) => [what, unit]))].map(([what, unit]) => {
    const [ours = NaN, ...others] = subjectNames.map((subject) =>
      median(figures.filter((figure) => figure.what === what && figure.subject === subject).map(({ value }) => value)),
    );
    const cells = others.map((value) => (Number.isNaN(value) ? '' : `${show(value)} (${(ours / value).toFixed(2)})`));
    return `| ${[`${what}, ${unit}`, show(ours), ...cells].join(' | ')} |`;
  });
  const head = ['', ...subjectNames.map((name, index) => (index === 0 ? name : `${name} (ours divided by it)`))];
  return [`| ${head.join(' | ')} |`, `|${head.map(() => '---').join('|')}|`, ...rows].join('\n');
}

function show(value: number): string {
  if (value >= 1000) return Math.round(value).toLocaleString('en');
  return value.toPrecision(3);
}
