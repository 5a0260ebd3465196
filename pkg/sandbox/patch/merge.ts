import { isFields, type Fields } from '../schema/index.ts';

/** The object after a JSON merge patch (RFC 7396). */
export function applyMerge(object: Fields, patch: Fields): Fields {
  const result: Fields = { ...object };
  for (const [name, value] of Object.entries(patch)) {
    const present = result[name];
    if (value === null) delete result[name];
    else if (isFields(value)) result[name] = applyMerge(isFields(present) ? present : {}, value);
    else result[name] = value;
  }
  return result;
}
