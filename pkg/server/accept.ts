/** One entry of an Accept header. */
export interface MediaRange {
  readonly type: string;
  readonly subtype: string;
  readonly quality: number;
  /** Without `q`. */
  readonly parameters: ReadonlyMap<string, string>;
}

/** Reads an Accept header, the most preferred entry first. Entries that are no media range are left out. */
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

/** At the same quality, `a/b` goes before `a/*`, and that before any. */
function wildcards({ type, subtype }: MediaRange): number {
  return Number(type === '*') + Number(subtype === '*');
}
