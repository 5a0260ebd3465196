import { copyOf } from './cached.ts';
import { ownValue, setOwn } from './own.ts';

type Fields = Record<string, unknown>;

/** Sets the defaults of a structural schema. Changes the value. */
export function fillDefaults(value: unknown, schema: Fields): void {
  if (Array.isArray(value)) {
    const { items } = schema;
    if (isFields(items)) for (const item of value) fillDefaults(item, items);
    return;
  }
  if (!isFields(value)) return;
  const properties = isFields(schema['properties']) ? schema['properties'] : {};
  for (const [name, property] of Object.entries(properties)) {
    if (!isFields(property)) continue;
    if (ownValue(value, name) === undefined && property['default'] !== undefined) {
      setOwn(value, name, copyOf(property['default']));
    }
    if (ownValue(value, name) === null && property['nullable'] !== true) {
      if (property['default'] === undefined) delete value[name];
      else setOwn(value, name, copyOf(property['default']));
    }
    fillDefaults(ownValue(value, name), property);
  }
  const additional = schema['additionalProperties'];
  if (!isFields(additional)) return;
  for (const [name, item] of Object.entries(value))
    if (ownValue(properties, name) === undefined) fillDefaults(item, additional);
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
