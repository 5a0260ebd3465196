/**
 * Parses the text format of Prometheus (version 0.0.4). Throws on text that a scraper might misread: series without a
 * type, split families, duplicates, inconsistent histograms.
 */
export function parsePrometheusText(text: string): ReadonlyMap<string, PrometheusFamily> {
  if (text !== '' && !text.endsWith('\n')) throw new Error('the last line does not end');
  const families = new Map<string, OpenFamily>();
  let current: OpenFamily | undefined;
  for (const [index, line] of text.split('\n').entries()) {
    try {
      current = readLine(line, families, current);
    } catch (error) {
      throw new Error(`line ${index + 1} (${line}): ${String(error)}`, { cause: error });
    }
  }
  for (const family of families.values()) checkFamily(family);
  return families;
}

export interface PrometheusFamily {
  readonly name: string;
  readonly type: PrometheusType;
  readonly help: string | undefined;
  readonly samples: readonly PrometheusSample[];
}

export interface PrometheusSample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

type PrometheusType = 'counter' | 'gauge' | 'histogram' | 'summary' | 'untyped';

/** The value of the one series with this name and these labels; undefined when there is none. */
export function sampleValue(
  families: ReadonlyMap<string, PrometheusFamily>,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number | undefined {
  const wanted = seriesId(name, labels);
  const family = families.get(name) ?? families.get(name.replace(/_(?:bucket|sum|count)$/, ''));
  return family?.samples.find((sample) => seriesId(sample.name, sample.labels) === wanted)?.value;
}

interface OpenFamily {
  readonly name: string;
  type: PrometheusType;
  typed: boolean;
  help: string | undefined;
  readonly samples: PrometheusSample[];
  readonly seen: Set<string>;
}

const NAME = /[a-zA-Z_:][a-zA-Z0-9_:]*/y;
const LABEL_NAME = /[a-zA-Z_][a-zA-Z0-9_]*/y;
const LABEL_VALUE = /"((?:[^"\\\n]|\\[\\"n])*)"/y;
const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

function readLine(line: string, families: Map<string, OpenFamily>, current: OpenFamily | undefined) {
  if (line === '') return current;
  const comment = /^# (HELP|TYPE) ([^ ]+)(?: (.*))?$/.exec(line);
  if (comment !== null) return readComment(comment, families, current);
  if (line.startsWith('#')) return current;
  const sample = readSample(line);
  const family = familyOf(sample.name, current);
  const id = seriesId(sample.name, sample.labels);
  if (family.seen.has(id)) throw new Error('duplicate series');
  family.seen.add(id);
  family.samples.push(sample);
  return family;
}

function readComment(comment: RegExpExecArray, families: Map<string, OpenFamily>, current: OpenFamily | undefined) {
  const [, keyword, name = '', rest = ''] = comment;
  if (!new RegExp(`^${NAME.source}$`).test(name)) throw new Error('malformed metric name');
  let family = families.get(name);
  if (family === undefined) {
    family = { name, type: 'untyped', typed: false, help: undefined, samples: [], seen: new Set() };
    families.set(name, family);
  } else if (family !== current) {
    throw new Error('family in several pieces');
  }
  if (family.samples.length > 0) throw new Error(`${keyword} after samples`);
  if (keyword === 'HELP') setHelp(family, rest);
  else setType(family, rest);
  return family;
}

function setHelp(family: OpenFamily, help: string): void {
  if (family.help !== undefined) throw new Error('second HELP');
  if (/\\(?![\\n])/.test(help.replaceAll('\\\\', ''))) throw new Error('malformed escape in HELP');
  family.help = help;
}

function setType(family: OpenFamily, type: string): void {
  if (family.typed) throw new Error('second TYPE');
  if (!isType(type)) throw new Error(`unknown type ${type}`);
  family.type = type;
  family.typed = true;
}

function isType(type: string): type is PrometheusType {
  return ['counter', 'gauge', 'histogram', 'summary', 'untyped'].includes(type);
}

function familyOf(name: string, current: OpenFamily | undefined): OpenFamily {
  if (current === undefined || !current.typed) throw new Error('sample without TYPE');
  const suffixes = { histogram: ['_bucket', '_sum', '_count'], summary: ['', '_sum', '_count'] };
  const allowed = current.type === 'histogram' || current.type === 'summary' ? suffixes[current.type] : [''];
  if (!allowed.some((suffix) => name === current.name + suffix)) throw new Error(`sample within ${current.name}`);
  return current;
}

function readSample(line: string): PrometheusSample {
  const name = matchAt(NAME, line, 0, 'metric name')[0];
  let at = name.length;
  const labels: Record<string, string> = {};
  if (line[at] === '{') {
    at++;
    while (line[at] !== '}') {
      const label = matchAt(LABEL_NAME, line, at, 'label name')[0];
      at += label.length;
      if (line[at] !== '=') throw new Error('expected =');
      const value = matchAt(LABEL_VALUE, line, at + 1, 'label value');
      at += 1 + value[0].length;
      if (label in labels) throw new Error(`duplicate label ${label}`);
      labels[label] = (value[1] ?? '').replace(/\\([\\"n])/g, (_, char: string) => (char === 'n' ? '\n' : char));
      if (line[at] === ',') at++;
      else if (line[at] !== '}') throw new Error('expected , or }');
    }
    at++;
  }
  const [blank, value = '', timestamp, ...rest] = line.slice(at).split(' ');
  if (blank !== '' || rest.length > 0) throw new Error('expected a space, a value and at most a timestamp');
  if (timestamp !== undefined && !/^-?\d+$/.test(timestamp)) throw new Error('malformed timestamp');
  return { name, labels, value: readNumber(value) };
}

function matchAt(pattern: RegExp, line: string, at: number, what: string): RegExpExecArray {
  pattern.lastIndex = at;
  const match = pattern.exec(line);
  if (match === null) throw new Error(`malformed ${what} at column ${at + 1}`);
  return match;
}

function readNumber(text: string): number {
  if (text === 'NaN') return Number.NaN;
  if (text === '+Inf') return Infinity;
  if (text === '-Inf') return -Infinity;
  if (!NUMBER.test(text)) throw new Error(`malformed number ${text}`);
  return Number(text);
}

function checkFamily(family: OpenFamily): void {
  if (!family.typed) throw new Error(`${family.name} has no TYPE`);
  if (family.type === 'counter') {
    for (const { value } of family.samples) {
      if (!(value >= 0)) throw new Error(`counter ${family.name} is ${value}`);
    }
  }
  if (family.type === 'histogram') checkHistogram(family);
}

function checkHistogram({ name, samples }: OpenFamily): void {
  const byLabels = Map.groupBy(samples, ({ labels }) =>
    seriesId('', Object.fromEntries(Object.entries(labels).filter(([label]) => label !== 'le'))),
  );
  for (const [labels, group] of byLabels) {
    const where = `histogram ${name}${labels}`;
    const buckets = group.filter((sample) => sample.name === `${name}_bucket`);
    const bounds = buckets.map((bucket) => readNumber(bucket.labels['le'] ?? ''));
    const isAscending = (values: readonly number[], strictly: boolean): boolean =>
      values.every((value, i) => i === 0 || (strictly ? value > (values[i - 1] ?? 0) : value >= (values[i - 1] ?? 0)));
    if (!isAscending(bounds, true)) throw new Error(`${where}: bounds not ascending`);
    const counts = buckets.map(({ value }) => value);
    if (!isAscending(counts, false)) throw new Error(`${where}: counts not cumulative`);
    if (bounds.at(-1) !== Infinity) throw new Error(`${where}: no +Inf bucket`);
    const count = group.find((sample) => sample.name === `${name}_count`);
    if (count?.value !== counts.at(-1)) throw new Error(`${where}: count is not that of the +Inf bucket`);
    if (!group.some((sample) => sample.name === `${name}_sum`)) throw new Error(`${where}: no sum`);
  }
}

function seriesId(name: string, labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([label, value]) => `${label}=${JSON.stringify(value)}`);
  return `${name}{${pairs.sort().join(',')}}`;
}
