import { seededRandom } from '../random.ts';

/** Random choices that are the same for the same seed. */
export interface Choose {
  /** True in this share of cases. */
  chance(share: number): boolean;
  /** A whole number from 0 up to, not including, the limit. */
  below(limit: number): number;
  from<T>(list: readonly T[]): T;
  /** One of the items, in proportion to their weights. */
  weighted<T>(list: readonly T[], weightOf: (item: T) => number): T;
}

export function createChoose(seed: number): Choose {
  const random = seededRandom(seed);
  const below = (limit: number): number => Math.floor(random() * limit);
  return {
    below,
    chance: (share) => random() < share,
    from(list) {
      if (list.length === 0) throw new Error('choose: the list is empty');
      return list[below(list.length)] as (typeof list)[number];
    },
    weighted(list, weightOf) {
      let left = random() * list.reduce((sum, item) => sum + weightOf(item), 0);
      const found = list.find((item) => (left -= weightOf(item)) < 0) ?? list.at(-1);
      if (found === undefined) throw new Error('choose: the list is empty');
      return found;
    },
  };
}

export function isOneOf(value: string, list: readonly string[]): boolean {
  return list.includes(value);
}
