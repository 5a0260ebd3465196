import { ownValue } from '../../api/index.ts';
import type { Resource } from '../registry/index.ts';
import { isFields, type Field, type Fields, type ValueType } from '../schema/index.ts';

/** How the ownership of a value is divided. */
export type Shape =
  /** One owner for the whole value. */
  | { readonly kind: 'whole' }
  /** Each field may have its own owners. So may the map itself. */
  | { readonly kind: 'fields'; readonly isMap?: true; child(name: string): Shape }
  /** Each item may have its own owners. These fields identify an item. */
  | { readonly kind: 'items'; readonly keys: readonly ItemKey[]; readonly item: Shape }
  /** Each value may have its own owners. */
  | { readonly kind: 'values' };

export interface ItemKey {
  readonly name: string;
  /** The values of keys that an item does not set. */
  readonly fallback: unknown;
}

const whole: Shape = { kind: 'whole' };

export function shapeOf({ type }: Resource): Shape {
  if (type.kind === 'built-in') return shapeOfType({ kind: 'object', type: type.object }, undefined);
  const { schema = {} } = type.custom;
  return { kind: 'fields', child: (name) => (name === 'metadata' ? metadataShape : shapeOfProperty(schema, name)) };
}

const metadataShape: Shape = {
  kind: 'fields',
  child(name) {
    if (name === 'labels' || name === 'annotations') return { kind: 'fields', isMap: true, child: () => whole };
    if (name === 'finalizers') return { kind: 'values' };
    if (name !== 'ownerReferences') return whole;
    return { kind: 'items', keys: [{ name: 'uid', fallback: undefined }], item: whole };
  },
};

function shapeOfType(type: ValueType, field: Field | undefined): Shape {
  if (field?.listType === 'atomic') return whole;
  switch (type.kind) {
    case 'scalar':
      return whole;
    case 'map':
      return { kind: 'fields', isMap: true, child: () => shapeOfType(type.value, undefined) };
    case 'object': {
      const { atomic, fields } = type.type;
      if (atomic) return whole;
      const child = (name: string): Shape => {
        const inner = fields.get(name);
        return inner === undefined ? whole : shapeOfType(inner.type, inner);
      };
      return { kind: 'fields', child };
    }
    case 'list':
      return shapeOfList(type.item, field);
  }
}

function shapeOfList(item: ValueType, field: Field | undefined): Shape {
  if (field?.listType === 'set') return { kind: 'values' };
  if (field?.listType !== 'map') return whole;
  const fields = item.kind === 'object' ? item.type.fields : undefined;
  const keys = field.listKeys.map((name) => ({ name, fallback: fields?.get(name)?.default }));
  return { kind: 'items', keys, item: shapeOfType(item, undefined) };
}

/** The shape of a custom resource, as far as its schema says. */
function shapeOfProperty(schema: Fields, name: string): Shape {
  const properties = isFields(schema['properties']) ? schema['properties'] : {};
  const property = ownValue(properties, name) ?? schema['additionalProperties'];
  return isFields(property) ? shapeOfSchema(property) : whole;
}

function shapeOfSchema(schema: Fields): Shape {
  if (schema['x-kubernetes-map-type'] === 'atomic') return whole;
  if (schema['type'] === 'object') return { kind: 'fields', child: (name) => shapeOfProperty(schema, name) };
  if (schema['type'] !== 'array') return whole;
  if (schema['x-kubernetes-list-type'] === 'set') return { kind: 'values' };
  const names = schema['x-kubernetes-list-map-keys'];
  const { items } = schema;
  if (schema['x-kubernetes-list-type'] !== 'map' || !Array.isArray(names) || !isFields(items)) return whole;
  const properties = isFields(items['properties']) ? items['properties'] : {};
  const keys = names.map((name: unknown) => {
    const property = properties[String(name)];
    return { name: String(name), fallback: isFields(property) ? property['default'] : undefined };
  });
  return { kind: 'items', keys, item: shapeOfSchema(items) };
}
