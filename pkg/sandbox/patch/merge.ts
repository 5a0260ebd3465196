import { ownValue, setOwn } from '../../api/index.ts';
import { isFields, type Fields } from '../schema/index.ts';

/** The object after a JSON merge patch (RFC 7396). */
export function applyMerge(object: Fields, patch: Fields): Fields {
  const result: Fields = { ...object };
  for (const [name, value] of Object.entries(patch)) {
    const present = ownValue(result, name);
    if (value === null) delete result[name];
    else setOwn(result, name, isFields(value) ? applyMerge(isFields(present) ? present : {}, value) : value);
  }
  return result;
}
