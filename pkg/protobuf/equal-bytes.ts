/**
 * Compares parts of two byte sequences, each byte about once: a part is often compared as a whole, found different, and then
 * compared field by field.
 */
export class EqualBytes {
  readonly #own: Buffer;
  readonly #model: Buffer;
  /** Bytes from `#from` up to `#until` equal those at `#shift` from them. */
  #from = 0;
  #until = 0;
  #shift = 0;

  constructor(own: Buffer, model: Buffer) {
    this.#own = own;
    this.#model = model;
  }

  /** Whether the bytes from `start` to `end` equal those of the model from `modelStart` on. */
  isEqual(start: number, end: number, modelStart: number): boolean {
    const shift = modelStart - start;
    if (shift !== this.#shift || start < this.#from || start > this.#until) {
      this.#shift = shift;
      this.#from = start;
      this.#until = start;
    }
    const own = this.#own;
    const model = this.#model;
    let at = this.#until;
    while (at < end && own[at] === model[at + shift]) at++;
    this.#until = at;
    return at >= end;
  }
}
