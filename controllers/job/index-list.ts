/** Consecutive completion indexes, including both ends. */
interface IndexRange {
  readonly first: number;
  readonly last: number;
}

/** A set of completion indexes as ascending ranges that neither overlap nor touch. */
export type IndexList = readonly IndexRange[];

export const noIndexes: IndexList = [];

/**
 * Parses a list such as `0-2,4,6` from a Job's status or success policy. Parts that are not numbers are ignored, and so
 * are indexes of at least `completions`: an elastic Job may have been scaled down.
 */
export function parseIndexList(text: string | undefined, completions: number): IndexList {
  const ranges: IndexRange[] = [];
  for (const part of (text ?? '').split(',')) {
    const [, first, last = first] = /^(\d+)(?:-(\d+))?$/.exec(part) ?? [];
    if (first === undefined || Number(first) >= completions) continue;
    ranges.push({ first: Number(first), last: Math.min(Number(last), completions - 1) });
  }
  return joined(ranges.filter(({ first, last }) => last >= first));
}

/** Formats three or more consecutive indexes as `first-last`, two with a comma. */
export function formatIndexList(list: IndexList): string {
  return list
    .map(({ first, last }) => {
      if (first === last) return String(first);
      return `${String(first)}${last === first + 1 ? ',' : '-'}${String(last)}`;
    })
    .join(',');
}

export function indexListOf(indexes: Iterable<number>): IndexList {
  return joined([...indexes].map((index) => ({ first: index, last: index })));
}

export function countIndexes(list: IndexList): number {
  return list.reduce((count, { first, last }) => count + last - first + 1, 0);
}

export function hasIndex(list: IndexList, index: number): boolean {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((list[middle]?.last ?? 0) < index) low = middle + 1;
    else high = middle;
  }
  const range = list[low];
  return range !== undefined && range.first <= index;
}

export function unionOf(...lists: readonly IndexList[]): IndexList {
  return joined(lists.flat());
}

/** The indexes in both lists. */
export function intersectionOf(a: IndexList, b: IndexList): IndexList {
  const ranges: IndexRange[] = [];
  for (let i = 0, j = 0; i < a.length && j < b.length;) {
    const [left, right] = [a[i], b[j]];
    if (left === undefined || right === undefined) break;
    const first = Math.max(left.first, right.first);
    const last = Math.min(left.last, right.last);
    if (first <= last) ranges.push({ first, last });
    if (left.last < right.last) i++;
    else j++;
  }
  return ranges;
}

/** The lowest indexes below `completions` that are not in the list, at most `count`. */
export function selectMissing(list: IndexList, count: number, completions: number): number[] {
  const missing: number[] = [];
  let candidate = 0;
  for (const { first, last } of [...list, { first: completions, last: completions }]) {
    for (; candidate < Math.min(first, completions) && missing.length < count; candidate++) missing.push(candidate);
    candidate = Math.max(candidate, last + 1);
  }
  return missing;
}

function joined(ranges: readonly IndexRange[]): IndexList {
  const sorted = [...ranges].sort((a, b) => a.first - b.first);
  const result: IndexRange[] = [];
  for (const range of sorted) {
    const previous = result.at(-1);
    if (previous === undefined || range.first > previous.last + 1) result.push(range);
    else if (range.last > previous.last) result[result.length - 1] = { first: previous.first, last: range.last };
  }
  return result;
}
