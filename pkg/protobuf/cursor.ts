/** Bytes that are not the message they should be. */
export class ProtobufError extends Error {
  override readonly name = 'ProtobufError';
  readonly reason = 'BadRequest';
}

/** A position in encoded bytes. Reading advances it. Bytes that end too soon throw `ProtobufError`. */
export class Cursor {
  readonly bytes: Buffer;
  at: number;

  constructor(bytes: Buffer, at = 0) {
    this.bytes = bytes;
    this.at = at;
  }

  /** A tag or a length, which fits 32 bits. */
  varint(): number {
    const first = this.bytes[this.at++] ?? 0;
    if (first < 0x80) return this.#checked(first);
    let result = first & 0x7f;
    for (let shift = 7; shift < 35; shift += 7) {
      const byte = this.bytes[this.at++] ?? 0;
      result |= (byte & 0x7f) << shift;
      if (byte < 0x80) return this.#checked(result);
    }
    throw new ProtobufError('a length is too long');
  }

  /** An int64. A bigint only if a `number` may not hold it: bigints are slow. */
  integer(): number | bigint {
    const start = this.at;
    let result = 0;
    for (let scale = 1; scale < 2 ** 49; scale *= 0x80) {
      const byte = this.bytes[this.at++] ?? 0;
      result += (byte & 0x7f) * scale;
      if (byte < 0x80) return this.#checked(result);
    }
    this.at = start;
    return this.#bigint();
  }

  /** Negative numbers are in two's complement. */
  #bigint(): bigint {
    let result = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.bytes[this.at++] ?? 0;
      result |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) {
        this.#checked(0);
        return BigInt.asIntN(64, result);
      }
    }
    throw new ProtobufError('a number is too long');
  }

  /** The end of the value that begins here, after its tag. */
  endOf(wireType: number): number {
    let end = this.at;
    if (wireType === 2) {
      const length = this.varint();
      end = this.at + length;
    } else if (wireType === 0) {
      while ((this.bytes[end] ?? 0) >= 0x80) end++;
      end += 1;
    } else if (wireType === 1) end += 8;
    else if (wireType === 5) end += 4;
    else throw new ProtobufError(`unknown wire type ${wireType}`);
    if (end < this.at || end > this.bytes.length) throw new ProtobufError('unexpected end');
    return end;
  }

  #checked(value: number): number {
    if (value < 0 || this.at > this.bytes.length) throw new ProtobufError('unexpected end');
    return value;
  }
}
