import { parseJson } from '../api/index.ts';
import { outline, type Outline } from './json-outline.ts';

/** Objects of one kind take few shapes at a time: just made, scheduled, running, on their way out. */
const mostModels = 8;
/** Larger texts are rare, and would have to be kept. */
const mostModelBytes = 64 * 1024;
/** After so many texts like none before them, the next are not expected to be of use either. */
const patience = 16;

/**
 * Parses JSON texts that resemble each other, as objects of one owner do, and versions of one object. What a text has in
 * common with an earlier one is not parsed again, but taken from there: it costs a comparison of bytes, and no memory.
 *
 * So values may share parts, and are to be read only. Texts must have no blanks between tokens, else nothing is gained.
 */
export class SimilarJson {
  /** The one that fitted last comes first. */
  readonly #models: Model[] = [];
  #misses = 0;

  /** The text is not kept, and may be overwritten afterwards. */
  parse(text: Buffer): unknown {
    for (const [index, model] of this.#models.entries()) {
      if (!model.fits(text)) continue;
      this.#misses = 0;
      if (index > 0) this.#moveToFront(index, model);
      return model.read(text);
    }
    const value: unknown = parseJson(text);
    this.#misses += 1;
    if (this.#misses <= patience || this.#misses % patience === 0) this.#learn(text, value);
    return value;
  }

  #moveToFront(index: number, model: Model): void {
    this.#models.copyWithin(1, 0, index);
    this.#models[0] = model;
  }

  #learn(text: Buffer, value: unknown): void {
    if (text.length > mostModelBytes) return;
    const found = outline(text, value);
    if (found === undefined) return;
    if (this.#models.length === mostModels) this.#models.pop();
    this.#models.unshift(new Model(text, found));
  }
}

const quote = 0x22;
const backslash = 0x5c;
const firstPrintable = 0x20;
const beyondAscii = 0x80;

/** What is known of how a string is written. */
const plain = 0;
const unicode = 1;
const escaped = 2;
/** A number, true, false or null. */
const bare = 3;

/** A text, where its scalars stand, and the value that it stands for. Becomes each text that it has read. */
class Model {
  readonly #outline: Outline;
  #text: Buffer;
  #length: number;
  /** The scalars of the other text that differ: which they are, where they begin and end there, and how they are written. */
  readonly #changed: number[] = [];
  readonly #from: number[] = [];
  readonly #to: number[] = [];
  readonly #writing: number[] = [];
  readonly #values: unknown[] = [];
  #changes = 0;
  /** In which round each container was made: those of earlier rounds are others' as well. */
  readonly #madeIn: number[];
  #round = 0;

  constructor(text: Buffer, found: Outline) {
    this.#outline = found;
    this.#text = Buffer.from(text);
    this.#length = text.length;
    this.#madeIn = found.containers.map(() => 0);
  }

  /** Whether the texts differ in nothing but scalars. Remembers which, for `read`. */
  fits(text: Buffer): boolean {
    const own = this.#text;
    const ownLength = this.#length;
    const { length } = text;
    const { starts, ends } = this.#outline;
    let at = 0;
    let ownAt = 0;
    let scalar = 0;
    this.#changes = 0;
    for (;;) {
      while (ownAt < ownLength && own[ownAt] === text[at]) {
        ownAt++;
        at++;
      }
      if (ownAt === ownLength && at === length) return true;
      while (scalar < ends.length && (ends[scalar] as number) < ownAt) scalar++;
      if (scalar === ends.length) return false;
      const start = starts[scalar] as number;
      const end = ends[scalar] as number;
      if (ownAt < start) return false; // a key, or a bracket
      const from = at - (ownAt - start);
      const to = this.#measure(text, from);
      if (to < 0 || (ownAt === end && to <= at)) return false; // behind it, unless it goes on
      this.#changed[this.#changes] = scalar;
      this.#from[this.#changes] = from;
      this.#to[this.#changes] = to;
      this.#changes += 1;
      ownAt = end;
      at = to;
      scalar += 1;
    }
  }

  /** The value of the text that was found to fit. */
  read(text: Buffer): unknown {
    const { containers, ofScalar, keys } = this.#outline;
    // All of them first: what is no JSON after all must leave the model as it is.
    for (let change = 0; change < this.#changes; change++) this.#values[change] = this.#valueOf(text, change);
    this.#round += 1;
    for (let change = 0; change < this.#changes; change++) {
      const scalar = this.#changed[change] as number;
      this.#own(ofScalar[scalar] as number)[keys[scalar] as string] = this.#values[change];
    }
    this.#become(text);
    return containers[0];
  }

  /** The end of the scalar that begins there; -1 if there is none. */
  #measure(text: Buffer, from: number): number {
    const first = text[from] as number;
    if (first === quote) return this.#measureString(text, from);
    let to = from;
    while (isBare(text[to])) to++;
    this.#writing[this.#changes] = bare;
    return to === from ? -1 : to;
  }

  #measureString(text: Buffer, from: number): number {
    let writing = plain;
    for (let at = from + 1; at < text.length; at++) {
      const byte = text[at] as number;
      if (byte === quote) {
        this.#writing[this.#changes] = writing;
        return at + 1;
      }
      if (byte < firstPrintable) return -1;
      if (byte === backslash) {
        writing = escaped;
        at++;
      } else if (byte >= beyondAscii && writing === plain) writing = unicode;
    }
    return -1;
  }

  #valueOf(text: Buffer, change: number): unknown {
    const from = this.#from[change] as number;
    const to = this.#to[change] as number;
    switch (this.#writing[change]) {
      case plain:
        return text.toString('latin1', from + 1, to - 1);
      case unicode:
        return text.toString('utf8', from + 1, to - 1);
      default:
        return parseJson(text.subarray(from, to));
    }
  }

  /** A container that nobody else has: made anew, as are those that it is in. */
  #own(index: number): Record<string, unknown> {
    const { containers, parents, keysInParents } = this.#outline;
    const current = containers[index] as object;
    if (this.#madeIn[index] === this.#round) return current as Record<string, unknown>;
    const copy = (Array.isArray(current) ? current.slice() : { ...current }) as Record<string, unknown>;
    containers[index] = copy;
    this.#madeIn[index] = this.#round;
    const parent = parents[index] as number;
    if (parent >= 0) this.#own(parent)[keysInParents[index] as string] = copy;
    return copy;
  }

  #become(text: Buffer): void {
    if (this.#text.length < text.length) this.#text = Buffer.allocUnsafeSlow(text.length + (text.length >> 2));
    text.copy(this.#text);
    this.#length = text.length;
    const { starts, ends } = this.#outline;
    let shift = 0;
    let change = 0;
    for (
      let scalar = this.#changed[0] ?? 0;
      change < this.#changes || (shift !== 0 && scalar < ends.length);
      scalar++
    ) {
      if (change < this.#changes && this.#changed[change] === scalar) {
        starts[scalar] = this.#from[change] as number;
        shift = (this.#to[change] as number) - (ends[scalar] as number);
        ends[scalar] = this.#to[change] as number;
        change += 1;
      } else {
        starts[scalar] = (starts[scalar] as number) + shift;
        ends[scalar] = (ends[scalar] as number) + shift;
      }
    }
  }
}

/** A byte of a number, true, false or null. */
function isBare(byte: number | undefined): boolean {
  if (byte === undefined) return false;
  return (byte >= 0x61 && byte <= 0x7a) || (byte >= 0x2b && byte <= 0x39 && byte !== 0x2c) || byte === 0x45;
}
