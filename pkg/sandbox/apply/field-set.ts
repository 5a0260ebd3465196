import { ownValue, setOwn } from '../../api/index.ts';
import { isFields, type Fields } from '../schema/index.ts';
import type { ItemKey, Shape } from './shape.ts';

/** One step on the way to a field, as managed fields write it: `f:name`, `k:{"name":"x"}`, `v:"x"`. */
export type Step = string;
export type Path = readonly Step[];

/** Owned fields, by the text of their path. */
export type FieldSet = ReadonlyMap<string, Path>;

const textOf = (path: Path): string => path.join('\u{0}');

/** The fields that a value has. */
export function fieldsOf(value: unknown, shape: Shape): FieldSet {
  const set = new Map<string, Path>();
  collect(value, shape, [], set);
  return set;
}

function collect(value: unknown, shape: Shape, path: Path, set: Map<string, Path>): void {
  const add = (own: Path): void => void set.set(textOf(own), own);
  if (shape.kind === 'fields' && isFields(value) && Object.keys(value).length > 0) {
    for (const [name, inner] of Object.entries(value)) {
      if (inner !== undefined && inner !== null) collect(inner, shape.child(name), [...path, `f:${name}`], set);
    }
  } else if (shape.kind === 'items' && Array.isArray(value) && value.length > 0) {
    for (const item of value) {
      const own = [...path, stepOf(item, shape.keys)];
      add(own);
      collect(item, shape.item, own, set);
    }
  } else if (shape.kind === 'values' && Array.isArray(value) && value.length > 0) {
    for (const item of value) add([...path, `v:${JSON.stringify(item)}`]);
  } else if (path.length > 0) add(path);
}

/** The maps in a value that are not empty. */
export function mapsOf(value: unknown, shape: Shape): FieldSet {
  const set = new Map<string, Path>();
  const visit = (each: unknown, its: Shape, path: Path): void => {
    if (its.kind !== 'fields' || !isFields(each)) return;
    const entries = Object.entries(each);
    if (its.isMap === true && entries.length > 0) set.set(textOf(path), path);
    for (const [name, inner] of entries) visit(inner, its.child(name), [...path, `f:${name}`]);
  };
  visit(value, shape, []);
  return set;
}

/** The step to an item of a list: the values of its keys, in the order of their names. */
export function stepOf(item: unknown, keys: readonly ItemKey[]): Step {
  const fields = isFields(item) ? item : {};
  const values: Fields = {};
  for (const { name, fallback } of keys.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const value = ownValue(fields, name) ?? fallback;
    if (value !== undefined) setOwn(values, name, value);
  }
  return `k:${JSON.stringify(values)}`;
}

export function union(a: FieldSet, b: FieldSet): FieldSet {
  return new Map([...a, ...b]);
}

export function subtract(a: FieldSet, b: FieldSet): FieldSet {
  return new Map([...a].filter(([text]) => !b.has(text)));
}

export function intersect(a: FieldSet, b: FieldSet): FieldSet {
  return new Map([...a].filter(([text]) => b.has(text)));
}

export function filterPaths(set: FieldSet, keeps: (path: Path) => boolean): FieldSet {
  return new Map([...set].filter(([, path]) => keeps(path)));
}

/** Whether the set has a field below the path. */
export function hasBelow(set: FieldSet, path: Path): boolean {
  const prefix = `${textOf(path)}\u{0}`;
  return [...set.keys()].some((text) => text.startsWith(prefix));
}

/** The set in the form of `metadata.managedFields`: nested steps, with `.` for a step that is itself owned. */
export function toFieldsV1(set: FieldSet): Fields {
  const root: Fields = {};
  for (const path of set.values()) {
    let node = root;
    for (const step of path) {
      const next = ownValue(node, step);
      const inner: Fields = isFields(next) ? next : {};
      node[step] = inner;
      node = inner;
    }
  }
  for (const path of set.values()) {
    const node = path.reduce<Fields>((place, step) => place[step] as Fields, root); // made above
    if (Object.keys(node).length > 0) node['.'] = {};
  }
  return root;
}

export function fromFieldsV1(fields: unknown): FieldSet {
  const set = new Map<string, Path>();
  const visit = (node: unknown, path: Path): void => {
    const inner = isFields(node) ? node : {};
    const isOwned = Object.keys(inner).length === 0 || inner['.'] !== undefined;
    if (isOwned && path.length > 0) set.set(textOf(path), path);
    for (const [step, below] of Object.entries(inner)) if (step !== '.') visit(below, [...path, step]);
  };
  visit(fields, []);
  return set;
}

/** A path as messages show it: `.spec.containers[name="x"].image`. */
export function describePath(path: Path): string {
  return path
    .map((step) => {
      if (step.startsWith('f:')) return `.${step.slice(2)}`;
      if (step.startsWith('v:')) return `[=${step.slice(2)}]`;
      const keys = JSON.parse(step.slice(2)) as Fields; // as `stepOf` wrote it
      return `[${Object.entries(keys)
        .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
        .join(',')}]`;
    })
    .join('');
}
