/** Decodes the CBOR of `/flagz` and `/statusz`: the tag of self-described CBOR, and text as byte strings. */
export function decodeCbor(bytes: Buffer): unknown {
  let at = 3; // after the tag
  const count = (short: number): number => {
    if (short < 24) return short;
    const width = 2 ** (short - 24);
    at += width;
    return bytes.readUIntBE(at - width, width);
  };
  const times = <T>(length: number, read: () => T): T[] => Array.from({ length }, read);
  const read = (): unknown => {
    const head = bytes.readUInt8(at++);
    const value = count(head & 31);
    switch (head >> 5) {
      case 0:
        return value;
      case 2:
        at += value;
        return bytes.toString('utf8', at - value, at);
      case 4:
        return times(value, read);
      case 5:
        return Object.fromEntries(times(value, () => [String(read()), read()]));
      default:
        throw new Error(`byte ${at}: not expected in such a page: ${head}`);
    }
  };
  return read();
}
