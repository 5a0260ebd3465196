import type { Field } from './message.ts';

export type Fields = Record<string, unknown>;

/** So many combinations of fields are remembered. A cluster has a few hundred. */
const mostShapes = 10_000;

/** The fields that some object has, in their order. */
class Shape {
  static #count = 0;
  readonly #names: readonly string[];
  readonly #next = new Map<Field, Shape>();
  #empty: Fields | undefined;

  constructor(names: readonly string[]) {
    this.#names = names;
  }

  /** The shape with one more field. */
  with(field: Field): Shape {
    const known = this.#next.get(field);
    if (known !== undefined) return known;
    const next = new Shape([...this.#names, field.name]);
    if (Shape.#count++ < mostShapes) this.#next.set(field, next);
    return next;
  }

  /** An object with these fields, all null. V8 gives an object from JSON just the room it needs, and a copy of it too. */
  create(): Fields {
    this.#empty ??= JSON.parse(`{${this.#names.map((name) => `${JSON.stringify(name)}:null`).join(',')}}`) as Fields;
    return { ...this.#empty };
  }
}

const noFields = new Shape([]);

/**
 * An object with these fields and values.
 *
 * The gain over adding them to an empty object: nine fields take 96 bytes instead of 120, and a pod 1 kB less.
 */
export function createObject(fields: readonly Field[], values: readonly unknown[]): Fields {
  let shape = noFields;
  for (const field of fields) shape = shape.with(field);
  const object = shape.create();
  for (const [index, { name }] of fields.entries()) object[name] = values[index];
  return object;
}

/** The same, if another object has the same fields: 30 ns instead of 150 ns where few values differ. */
export function createLike(other: Readonly<Fields>, fields: readonly Field[], values: readonly unknown[]): Fields {
  const object = { ...other };
  for (let index = 0; index < fields.length; index++) {
    const name = fields[index]?.name ?? '';
    if (object[name] !== values[index]) object[name] = values[index];
  }
  return object;
}

export function countFields(object: Readonly<Fields>): number {
  let count = 0;
  for (const _ in object) count++;
  return count;
}
