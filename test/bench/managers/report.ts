import type { ManagerName } from './manager-process.ts';
import type { Measurement } from './measure.ts';

/** The medians of all rounds of one workload, of both managers. */
export interface Row {
  readonly workload: string;
  readonly ours: Figures;
  readonly go: Figures;
}

export interface Figures {
  readonly wallSeconds: number;
  readonly cpuSeconds: number;
  readonly peakMegabytes: number;
  readonly settledMegabytes: number;
  readonly requests: number;
}

const none: Figures = { wallSeconds: NaN, cpuSeconds: NaN, peakMegabytes: NaN, settledMegabytes: NaN, requests: NaN };

export function computeRows(measurements: readonly Measurement[]): Row[] {
  const workloads = [...new Set(measurements.map(({ workload }) => workload))];
  const figuresOf = (workload: string, manager: ManagerName): Figures => {
    const rounds = measurements.filter((m) => m.workload === workload && m.manager === manager);
    if (rounds.length === 0) return none;
    const medianOf = (read: (m: Measurement) => number): number => median(rounds.map(read));
    return {
      wallSeconds: medianOf((m) => m.wallSeconds),
      cpuSeconds: medianOf((m) => m.cpuSeconds),
      peakMegabytes: medianOf((m) => m.peakMegabytes),
      settledMegabytes: medianOf((m) => m.settledMegabytes),
      requests: medianOf((m) => Object.values(m.requests).reduce((sum, count) => sum + count, 0)),
    };
  };
  return workloads.map((workload) => ({ workload, ours: figuresOf(workload, 'ours'), go: figuresOf(workload, 'go') }));
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  return sorted.length % 2 === 1
    ? (sorted[Math.floor(middle)] ?? NaN)
    : ((sorted[middle - 1] ?? NaN) + (sorted[middle] ?? NaN)) / 2;
}

const columns: readonly { readonly title: string; readonly field: keyof Figures; readonly digits: number }[] = [
  { title: 'wall s', field: 'wallSeconds', digits: 2 },
  { title: 'CPU s', field: 'cpuSeconds', digits: 2 },
  { title: 'peak MB', field: 'peakMegabytes', digits: 0 },
  { title: 'settled MB', field: 'settledMegabytes', digits: 0 },
  { title: 'requests', field: 'requests', digits: 0 },
];

/** A Markdown table: each cell ours / Go, and the ratio. */
export function formatTable(rows: readonly Row[]): string {
  const head = ['workload', ...columns.map(({ title }) => title)];
  const lines = rows.map(({ workload, ours, go }) => {
    const cells = columns.map(({ field, digits }) => {
      const ratio = ours[field] / go[field];
      return `${ours[field].toFixed(digits)} / ${go[field].toFixed(digits)} (${ratio.toFixed(2)})`;
    });
    return `| ${[workload, ...cells].join(' | ')} |`;
  });
  return [`| ${head.join(' | ')} |`, `|${head.map(() => '---').join('|')}|`, ...lines].join('\n');
}

/** A Markdown table of the requests to the API server, by method: each cell ours / Go. */
export function formatRequests(measurements: readonly Measurement[]): string {
  const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
  const workloads = [...new Set(measurements.map(({ workload }) => workload))];
  const lines = workloads.map((workload) => {
    const countOf = (manager: ManagerName, method: string): number =>
      median(
        measurements
          .filter((m) => m.workload === workload && m.manager === manager)
          .map(({ requests }) => requests[method] ?? 0),
      );
    return `| ${[workload, ...methods.map((method) => `${countOf('ours', method)} / ${countOf('go', method)}`)].join(' | ')} |`;
  });
  return [`| requests | ${methods.join(' | ')} |`, `|${'---|'.repeat(methods.length + 1)}`, ...lines].join('\n');
}

const charted = columns.filter(({ field }) => field !== 'requests' && field !== 'settledMegabytes');
const barHeight = 9;
const rowHeight = charted.length * barHeight + 16;
/** Wide enough for the letters of common fonts at 12 pixels. */
const letterWidth = 7.5;
const unit = 260; // pixels for a ratio of 1
const colours = ['#3b7dd8', '#e08a2e', '#5aa469'];

/** Bars of ours / Go for each workload; the line at 1 is the Go binary. */
export function formatChart(rows: readonly Row[]): string {
  const left = 16 + Math.ceil(letterWidth * Math.max(...rows.map(({ workload }) => workload.length)));
  const width = left + unit * 2 + 60;
  const height = rows.length * rowHeight + 50;
  const parts = rows.flatMap(({ workload, ours, go }, index) => {
    const top = 40 + index * rowHeight;
    const label = `<text x="${left - 8}" y="${top + rowHeight / 2 - 4}" text-anchor="end">${workload}</text>`;
    const bars = charted.map(({ field }, bar) => {
      const ratio = ours[field] / go[field];
      const length = Math.min(ratio, 2) * unit;
      const y = top + bar * barHeight;
      const text = `<text x="${left + length + 4}" y="${y + barHeight - 1}" font-size="9">${ratio.toFixed(2)}</text>`;
      return `<rect x="${left}" y="${y}" width="${length.toFixed(1)}" height="${barHeight - 1}" fill="${colours[bar]}"/>${text}`;
    });
    return [label, ...bars];
  });
  const legend = charted.map(
    ({ title }, index) =>
      `<text x="${left + index * 90}" y="20" fill="${colours[index]}">■ ${title.replace(/ \w+$/, '')}</text>`,
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" font-family="sans-serif" font-size="12">`,
    '<rect width="100%" height="100%" fill="white"/>',
    ...legend,
    ...parts,
    `<line x1="${left + unit}" y1="30" x2="${left + unit}" y2="${height - 10}" stroke="#444" stroke-dasharray="4 3"/>`,
    `<text x="${left + unit + 4}" y="${height - 4}">1.0 = the Go binary</text>`,
    '</svg>',
    '',
  ].join('\n');
}
