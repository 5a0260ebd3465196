/** One entry of an Accept header. */
export interface MediaRange {
  readonly type: string;
  readonly subtype: string;
  readonly quality: number;
  /** Without `q`. */
  readonly parameters: ReadonlyMap<string, string>;
}

/** Parses an Accept header, most preferred entry first. Ignores entries that are not a media range. */
export function parseAccept(header: string): readonly MediaRange[] {
  return header
    .split(',')
    .flatMap((entry) => parseRange(entry.trim()))
    .toSorted((a, b) => b.quality - a.quality || wildcards(a) - wildcards(b));
}

function parseRange(entry: string): MediaRange[] {
  const [range = '', ...pairs] = entry.split(';').map((part) => part.trim());
  const [type = '', subtype = type === '*' ? '*' : '', ...rest] = range.split('/').map((part) => part.trim());
  if (subtype === '' || rest.length > 0) return [];
  const parameters = new Map<string, string>();
  for (const pair of pairs) {
    const [name = '', value = '', ...more] = pair.split('=').map((part) => part.trim());
    if (value !== '' && more.length === 0) parameters.set(name, value);
  }
  const q = parameters.get('q');
  parameters.delete('q');
  const quality = q === undefined ? 1 : Number(q);
  return [{ type, subtype, parameters, quality: Number.isFinite(quality) ? quality : 0 }];
}

/** At the same quality, `a/b` precedes `a/*`, which precedes any type. */
function wildcards({ type, subtype }: MediaRange): number {
  return Number(type === '*') + Number(subtype === '*');
}
