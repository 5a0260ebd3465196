import { ownValue, setOwn } from '../../api/index.ts';
import { badRequest } from '../failure.ts';
import { isFields, type Field, type Fields, type ObjectType, type ValueType } from '../schema/index.ts';

const setOrder = '$setElementOrder/';
const deletePrimitives = '$deleteFromPrimitiveList/';

/**
 * The object after a strategic merge patch: lists with a merge key are merged item by item. Changes neither the object
 * nor the patch.
 */
export function applyStrategicMerge(object: Fields, patch: Fields, type: ObjectType): Fields {
  return mergeObject(object, patch, { kind: 'object', type });
}

function mergeObject(object: Fields, patch: Fields, type: ValueType): Fields {
  const directive = patch['$patch'];
  if (directive === 'replace') return withoutDirectives(patch);
  if (directive === 'delete') return {};
  if (directive !== undefined && directive !== 'merge') {
    throw badRequest(`Unrecognized patch type ${JSON.stringify(directive)}`);
  }
  const result: Fields = { ...object };
  const retained = patch['$retainKeys'];
  if (Array.isArray(retained)) {
    for (const name of Object.keys(result)) if (!retained.includes(name)) delete result[name];
  }
  for (const [name, value] of Object.entries(patch)) {
    if (name.startsWith(deletePrimitives)) deleteFromList(result, name.slice(deletePrimitives.length), value);
    if (name.startsWith('$')) continue;
    const field = fieldOf(type, name);
    if (value === null) delete result[name];
    else setOwn(result, name, mergeValue(ownValue(result, name), value, field, patch[`${setOrder}${name}`]));
  }
  for (const [name, order] of Object.entries(patch)) {
    if (!name.startsWith(setOrder)) continue;
    const list = name.slice(setOrder.length);
    const items = ownValue(result, list);
    if (!Object.hasOwn(patch, list) && Array.isArray(items))
      result[list] = orderItems(items, items, order, fieldOf(type, list));
  }
  return result;
}

interface FieldRule {
  readonly type: ValueType;
  readonly merges: boolean;
  readonly mergeKey: string | undefined;
}

const anything: ValueType = { kind: 'scalar', name: 'any' };
const plainField: FieldRule = { type: anything, merges: false, mergeKey: undefined };

function fieldOf(type: ValueType, name: string): FieldRule {
  if (type.kind === 'map') return { ...plainField, type: type.value };
  if (type.kind !== 'object') return plainField;
  const field: Field | undefined = type.type.fields.get(name);
  if (field === undefined) return plainField;
  return { type: field.type, merges: field.strategies.includes('merge'), mergeKey: field.mergeKey };
}

function mergeValue(present: unknown, value: unknown, field: FieldRule, order: unknown): unknown {
  if (Array.isArray(value)) {
    if (!field.merges) return value;
    const before = Array.isArray(present) ? present : [];
    return orderItems(mergeList(before, value, field), before, order ?? value, field);
  }
  if (!isFields(value)) return value;
  return mergeObject(isFields(present) ? present : {}, value, field.type);
}

function mergeList(before: readonly unknown[], patch: readonly unknown[], field: FieldRule): unknown[] {
  const { mergeKey, type } = field;
  if (mergeKey === undefined) return [...new Set([...before, ...patch])]; // of plain values
  const itemType = type.kind === 'list' ? type.item : anything;
  if (patch.some((item) => isFields(item) && item['$patch'] === 'replace')) {
    return patch.filter((item) => !(isFields(item) && item['$patch'] === 'replace'));
  }
  let result = [...before];
  for (const item of patch) {
    if (!isFields(item)) throw badRequest('expected an object in a list that is merged by key');
    const key = item[mergeKey];
    if (key === undefined)
      throw badRequest(`map: ${JSON.stringify(item)} does not contain declared merge key: ${mergeKey}`);
    const index = result.findIndex((each) => isFields(each) && each[mergeKey] === key);
    const present = result[index];
    if (item['$patch'] === 'delete') result = result.filter((each) => !(isFields(each) && each[mergeKey] === key));
    else if (isFields(present)) result[index] = mergeObject(present, item, itemType);
    else result.push(mergeObject({}, item, itemType));
  }
  return result;
}

/**
 * Items that the patch orders follow its order. Items that it does not mention keep their places between them, after
 * new items. A patch without an order directive implies its own order.
 */
function orderItems(
  items: readonly unknown[],
  before: readonly unknown[],
  order: unknown,
  field: FieldRule,
): unknown[] {
  if (!Array.isArray(order)) return [...items];
  const { mergeKey } = field;
  const keyOf = (item: unknown): unknown => (mergeKey !== undefined && isFields(item) ? item[mergeKey] : item);
  const wanted = order.map(keyOf);
  const placeBefore = (item: unknown): number => before.findIndex((each) => keyOf(each) === keyOf(item));
  const ordered = items
    .filter((item) => wanted.includes(keyOf(item)))
    .sort((a, b) => wanted.indexOf(keyOf(a)) - wanted.indexOf(keyOf(b)));
  const others = items.filter((item) => !wanted.includes(keyOf(item)));
  const result: unknown[] = [];
  for (const item of ordered) {
    const place = placeBefore(item);
    const earlier = others.findIndex((each) => placeBefore(each) > place);
    if (place >= 0) result.push(...others.splice(0, earlier < 0 ? others.length : earlier));
    result.push(item);
  }
  return [...result, ...others];
}

function deleteFromList(object: Fields, name: string, values: unknown): void {
  const list = ownValue(object, name);
  if (!Array.isArray(list) || !Array.isArray(values)) return;
  object[name] = list.filter((item) => !values.includes(item));
}

function withoutDirectives(patch: Fields): Fields {
  return Object.fromEntries(Object.entries(patch).filter(([name]) => !name.startsWith('$')));
}
