import { ownValue, setOwn } from '../../api/index.ts';
import { isFields, type Fields } from '../schema/index.ts';
import { stepOf, type Path } from './field-set.ts';
import type { Shape } from './shape.ts';

/** A stored value, merged with the applied one. */
export function mergeApplied(live: unknown, applied: unknown, shape: Shape): unknown {
  if (shape.kind === 'fields' && isFields(live) && isFields(applied)) {
    const result: Fields = { ...live };
    for (const [name, value] of Object.entries(applied)) {
      if (value !== null) setOwn(result, name, mergeApplied(ownValue(live, name), value, shape.child(name)));
    }
    return result;
  }
  if (shape.kind === 'items' && Array.isArray(live) && Array.isArray(applied)) {
    const byStep = new Map<string, unknown>(live.map((item) => [stepOf(item, shape.keys), item]));
    for (const item of applied) {
      const step = stepOf(item, shape.keys);
      byStep.set(step, mergeApplied(byStep.get(step), item, shape.item));
    }
    return [...byStep.values()];
  }
  if (shape.kind === 'values' && Array.isArray(live) && Array.isArray(applied)) {
    return [...new Map([...live, ...applied].map((item) => [JSON.stringify(item), item])).values()];
  }
  return applied;
}

/** The value at a path. */
export function valueAt(value: unknown, path: Path, shape: Shape): unknown {
  const [step, ...rest] = path;
  if (step === undefined) return value;
  if (step.startsWith('f:')) {
    const name = step.slice(2);
    return isFields(value) ? valueAt(ownValue(value, name), rest, childOf(shape, name)) : undefined;
  }
  if (!Array.isArray(value)) return undefined;
  if (step.startsWith('v:')) return value.find((item) => `v:${JSON.stringify(item)}` === step);
  const keys = shape.kind === 'items' ? shape.keys : [];
  const found: unknown = value.find((item) => stepOf(item, keys) === step);
  return valueAt(found, rest, shape.kind === 'items' ? shape.item : shape);
}

/** The value without the field or item at a path. */
export function without(value: unknown, path: Path, shape: Shape): unknown {
  const [step, ...rest] = path;
  if (step === undefined) return undefined;
  if (step.startsWith('f:') && isFields(value)) {
    const name = step.slice(2);
    if (!Object.hasOwn(value, name)) return value;
    const inner = without(value[name], rest, childOf(shape, name));
    const { [name]: _removed, ...others } = value;
    return inner === undefined ? others : { ...others, [name]: inner };
  }
  if (!Array.isArray(value)) return value;
  const isMeant = (item: unknown): boolean =>
    step.startsWith('v:')
      ? `v:${JSON.stringify(item)}` === step
      : stepOf(item, shape.kind === 'items' ? shape.keys : []) === step;
  const items = value.flatMap((item: unknown) => {
    if (!isMeant(item)) return [item];
    const inner = rest.length === 0 ? undefined : without(item, rest, shape.kind === 'items' ? shape.item : shape);
    return inner === undefined ? [] : [inner];
  });
  return items;
}

const whole: Shape = { kind: 'whole' };

function childOf(shape: Shape, name: string): Shape {
  return shape.kind === 'fields' ? shape.child(name) : whole;
}
