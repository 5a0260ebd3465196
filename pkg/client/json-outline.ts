import { ExactInteger } from '../api/index.ts';
/**
 * Where the scalars of a JSON text stand, and in which container of its value: of the n-th scalar, `starts[n]` and
 * `ends[n]` in the text; `ofScalar[n]`, the index of its container, and `keys[n]`, its name or index there. Containers
 * come after those that they are in, the outermost first.
 */
export interface Outline {
  readonly starts: number[];
  readonly ends: number[];
  readonly ofScalar: number[];
  readonly keys: (string | number)[];
  readonly containers: object[];
  readonly parents: number[];
  readonly keysInParents: (string | number)[];
}

const quote = 0x22;
const comma = 0x2c;
const colon = 0x3a;
const openBracket = 0x5b;
const backslash = 0x5c;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/**
 * The outline of a text that has been parsed to the given value. Undefined where it is not an object or an array, where
 * there are blanks between tokens, or where a key is given twice or means something else to JavaScript.
 */
export function outline(text: Buffer, value: unknown): Outline | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const walk = new Walk(text);
  const end = walk.container(0, value, -1, '');
  return end === text.length ? walk.outline : undefined;
}

/** Nothing begins or ends there. */
const nowhere = -1;

class Walk {
  readonly outline: Outline = {
    starts: [],
    ends: [],
    ofScalar: [],
    keys: [],
    containers: [],
    parents: [],
    keysInParents: [],
  };
  readonly #text: Buffer;

  constructor(text: Buffer) {
    this.#text = text;
  }

  /** Each of these returns where what it has passed ends. */
  container(at: number, value: object, parent: number, key: string | number): number {
    const { containers, parents, keysInParents } = this.outline;
    const index = containers.push(value) - 1;
    parents.push(parent);
    keysInParents.push(key);
    if (Array.isArray(value)) return this.#text[at] === openBracket ? this.#items(at + 1, value, index) : nowhere;
    return this.#text[at] === openBrace ? this.#fields(at + 1, value as Record<string, unknown>, index) : nowhere;
  }

  #items(start: number, items: readonly unknown[], index: number): number {
    let at = start;
    for (const [position, item] of items.entries()) {
      if (position > 0 && this.#text[at++] !== comma) return nowhere;
      at = this.#value(at, item, index, position);
      if (at === nowhere) return nowhere;
    }
    return this.#text[at] === closeBracket ? at + 1 : nowhere;
  }

  #fields(start: number, fields: Readonly<Record<string, unknown>>, index: number): number {
    let at = start;
    let isFirst = true;
    const seen = new Set<string>();
    while (this.#text[at] !== closeBrace) {
      if (!isFirst && this.#text[at++] !== comma) return nowhere;
      isFirst = false;
      const end = this.#string(at);
      if (end === nowhere || this.#text[end] !== colon) return nowhere;
      const key = JSON.parse(this.#text.toString('utf8', at, end)) as string;
      if (seen.has(key) || key === '__proto__') return nowhere;
      seen.add(key);
      at = this.#value(end + 1, fields[key], index, key);
      if (at === nowhere) return nowhere;
    }
    return at + 1;
  }

  #value(at: number, value: unknown, index: number, key: string | number): number {
    if (typeof value === 'object' && value !== null && !(value instanceof ExactInteger))
      return this.container(at, value, index, key);
    const end = this.#text[at] === quote ? this.#string(at) : this.#bare(at);
    const { starts, ends, ofScalar, keys } = this.outline;
    starts.push(at);
    ends.push(end);
    ofScalar.push(index);
    keys.push(key);
    return end === at ? nowhere : end;
  }

  #string(opening: number): number {
    if (this.#text[opening] !== quote) return nowhere;
    for (let at = opening + 1; at < this.#text.length; at++) {
      const byte = this.#text[at];
      if (byte === quote) return at + 1;
      if (byte === backslash) at++;
    }
    return nowhere;
  }

  #bare(start: number): number {
    let at = start;
    for (; at < this.#text.length; at++) {
      const byte = this.#text[at];
      if (byte === comma || byte === closeBrace || byte === closeBracket || (byte ?? 0) <= 0x20) break;
    }
    return at;
  }
}
