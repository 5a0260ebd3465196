/** A JSON value without fractions. The pages of this server need no more. */
export type CborValue = string | number | boolean | null | readonly CborValue[] | { readonly [key: string]: CborValue };

/** The tag of self-described CBOR, 55799. */
const selfDescribed = Buffer.from([0xd9, 0xd9, 0xf7]);

/** Encodes like the Go binary: text is a byte string, and the value has the tag of self-described CBOR. */
export function encodeCbor(value: CborValue): Buffer {
  return Buffer.concat([selfDescribed, ...partsOf(value)]);
}

const majorType = { unsigned: 0, negative: 1, bytes: 2, array: 4, map: 5 } as const;

function partsOf(value: CborValue): Buffer[] {
  if (value === null) return [Buffer.from([0xf6])];
  if (typeof value === 'boolean') return [Buffer.from([value ? 0xf5 : 0xf4])];
  if (typeof value === 'number') return [numberHead(value)];
  if (typeof value === 'string') {
    const bytes = Buffer.from(value, 'utf8');
    return [head(majorType.bytes, bytes.length), bytes];
  }
  if (isList(value)) return [head(majorType.array, value.length), ...value.flatMap(partsOf)];
  const entries = Object.entries(value);
  return [
    head(majorType.map, entries.length),
    ...entries.flatMap(([key, item]) => [...partsOf(key), ...partsOf(item)]),
  ];
}

function isList(value: object): value is readonly CborValue[] {
  return Array.isArray(value);
}

function numberHead(value: number): Buffer {
  if (!Number.isSafeInteger(value)) throw new RangeError(`${value} is not a whole number`);
  return value >= 0 ? head(majorType.unsigned, value) : head(majorType.negative, -1 - value);
}

/** The type and a count, in the fewest bytes. */
function head(type: number, count: number): Buffer {
  const first = type << 5;
  if (count < 24) return Buffer.from([first | count]);
  if (count < 2 ** 8) return Buffer.from([first | 24, count]);
  if (count < 2 ** 16) return Buffer.from([first | 25, count >> 8, count & 0xff]);
  const wide = Buffer.alloc(9);
  wide.writeUInt8(first | 27);
  wide.writeBigUInt64BE(BigInt(count), 1);
  return wide;
}
