import { setOwn } from '../api/index.ts';
import { Cursor, ProtobufError } from './cursor.ts';
import { EqualBytes } from './equal-bytes.ts';
import type { Encoding, Field, Message } from './message.ts';
import { countFields, createLike, createObject, type Fields } from './shape.ts';
import { readValue } from './values.ts';

/** Part of encoded bytes. */
export interface Span {
  readonly bytes: Buffer;
  readonly start: number;
  readonly end: number;
}

/** An object that was decoded before, and its bytes. */
export interface Model {
  readonly span: Span;
  readonly value: Readonly<Fields>;
}

/**
 * A message as the object that JSON has for it. Parts whose bytes are equal to those of a model are not decoded: the result
 * shares them with the model, so neither may be changed. Throws `ProtobufError`.
 */
export function decodeMessage(message: Message, span: Span, model?: Model): Fields {
  return new Decoder(span, model).decode(message, span.end, model?.value);
}

/** The fields of an object while it is decoded. */
interface Found {
  readonly fields: Field[];
  readonly values: unknown[];
  /** The model has all of these fields too. */
  areKnown: boolean;
}

/** Go writes fields in the order of their numbers, and the values of a list or map one after the other. */
class Decoder {
  readonly #own: Cursor;
  /** At the field of the model that `#modelTag` belongs to, in the message that corresponds to the decoded one. */
  readonly #model: Cursor;
  #modelEnd: number;
  /** 0 if the model has no further field. */
  #modelTag = 0;
  readonly #equal: EqualBytes;

  constructor(own: Span, model: Model | undefined) {
    const { bytes, start, end } = model?.span ?? { bytes: own.bytes, start: 0, end: 0 };
    this.#own = new Cursor(own.bytes, own.start);
    this.#model = new Cursor(bytes, start);
    this.#modelEnd = end;
    this.#equal = new EqualBytes(own.bytes, bytes);
  }

  /** The message up to `end`. `known` is the object of the corresponding message of the model. */
  decode(message: Message, end: number, known: Readonly<Fields> | undefined): Fields {
    const found: Found = { fields: [], values: [], areKnown: known !== undefined };
    this.#read(found, message, end, known);
    const { fields, values, areKnown } = found;
    return areKnown && known !== undefined && fields.length === countFields(known)
      ? createLike(known, fields, values)
      : createObject(fields, values);
  }

  #read(found: Found, message: Message, end: number, known: Readonly<Fields> | undefined): void {
    const own = this.#own;
    this.#modelTag = 0;
    if (known !== undefined) this.#nextModelField();
    while (own.at < end) {
      const tag = own.varint();
      const field = message.fields[tag >>> 3];
      if (field === undefined) {
        own.at = own.endOf(tag & 7); // a field of a later version, or one that nobody reads
        continue;
      }
      if ((tag & 7) !== field.wireType) throw new ProtobufError(`${field.name} has another type`);
      this.#seekModelField(tag);
      if (field.shape === 'inlined') {
        this.#inlined(found, field, tag, known);
        continue;
      }
      const knownValue = known?.[field.name];
      const value = this.#value(field, { tag, end, known: knownValue });
      if (field.omitsZero && isZero(value)) continue;
      found.fields.push(field);
      found.values.push(value);
      if (knownValue === undefined) found.areKnown = false;
    }
    if (own.at > end) throw new ProtobufError('a field is longer than its message');
    for (const field of message.nullable) {
      if (found.fields.includes(field)) continue;
      found.fields.push(field);
      found.values.push(null);
      found.areKnown = false;
    }
  }

  #value(field: Field, run: Run): unknown {
    switch (field.shape) {
      case 'list':
        return this.#list(field.type, run);
      case 'map':
        return this.#map(field.type, run);
      default:
        return this.#next(run.tag, field.type, run.known);
    }
  }

  /** The value that begins here. It corresponds to the model's current field if that has the same tag. */
  #next(tag: number, type: Encoding | Message, known: unknown): unknown {
    const own = this.#own;
    const end = own.endOf(tag & 7);
    if (this.#modelTag !== tag) {
      const value = this.#decodeNext(type, end, 0, undefined);
      own.at = end;
      return value;
    }
    const model = this.#model;
    const modelEnd = model.endOf(tag & 7);
    const isEqual = modelEnd - model.at === end - own.at && this.#equal.isEqual(own.at, end, model.at);
    const value = isEqual ? known : this.#decodeNext(type, end, modelEnd, known);
    own.at = end;
    model.at = modelEnd;
    this.#nextModelField();
    return value;
  }

  #decodeNext(type: Encoding | Message, end: number, modelEnd: number, known: unknown): unknown {
    if (typeof type === 'string') return readValue(type, this.#own, end);
    const outerEnd = this.#modelEnd;
    const outerTag = this.#modelTag;
    this.#modelEnd = modelEnd;
    const object = this.decode(type, end, isFields(known) ? known : undefined);
    this.#modelEnd = outerEnd;
    this.#modelTag = outerTag;
    return object;
  }

  #inlined(found: Found, { type }: Field, tag: number, known: Readonly<Fields> | undefined): void {
    if (typeof type === 'string') return; // only messages can be inlined
    const end = this.#own.endOf(tag & 7);
    const hasModel = this.#modelTag === tag;
    const modelEnd = hasModel ? this.#model.endOf(tag & 7) : 0;
    const outerEnd = this.#modelEnd;
    this.#modelEnd = modelEnd;
    this.#read(found, type, end, hasModel ? known : undefined);
    this.#modelEnd = outerEnd;
    this.#modelTag = 0;
    if (!hasModel) return;
    this.#model.at = modelEnd;
    this.#nextModelField();
  }

  #list(type: Encoding | Message, { tag, end, known }: Run): unknown {
    const knownItems: readonly unknown[] = Array.isArray(known) ? known : [];
    const items: unknown[] = [];
    let isShared = true;
    do {
      const knownItem = knownItems[items.length];
      const item = this.#next(tag, type, knownItem);
      if (item !== knownItem) isShared = false;
      items.push(item);
    } while (this.#continues(tag, end));
    // A copy has no room for further items.
    return isShared && items.length === knownItems.length ? known : items.slice();
  }

  #map(type: Encoding | Message, { tag, end, known }: Run): unknown {
    const start = this.#own.at;
    let isShared = known !== undefined;
    do {
      if (!this.#skipEqualEntry(tag)) isShared = false;
    } while (this.#continues(tag, end));
    if (isShared && this.#modelTag !== tag) return known;
    this.#own.at = start;
    const entries: Fields = {};
    do this.#entry(entries, type);
    while (this.#continues(tag, end));
    return entries;
  }

  /** Whether the entry that begins here is also the model's next entry. */
  #skipEqualEntry(tag: number): boolean {
    const own = this.#own;
    const model = this.#model;
    const end = own.endOf(2);
    const hasModel = this.#modelTag === tag;
    const modelEnd = hasModel ? model.endOf(2) : 0;
    const isEqual = modelEnd - model.at === end - own.at && this.#equal.isEqual(own.at, end, model.at);
    own.at = end;
    if (!hasModel) return false;
    model.at = modelEnd;
    this.#nextModelField();
    return isEqual;
  }

  /** Adds an entry of a map, which is a message of a key and a value. */
  #entry(entries: Fields, type: Encoding | Message): void {
    const own = this.#own;
    const end = own.endOf(2);
    let name = '';
    let value: unknown = type === 'string' ? '' : undefined;
    while (own.at < end) {
      const tag = own.varint();
      const partEnd = own.endOf(tag & 7);
      if (tag >>> 3 === 1) name = own.bytes.toString(undefined, own.at, partEnd);
      else if (tag >>> 3 === 2) value = this.#decodeNext(type, partEnd, 0, undefined);
      own.at = partEnd;
    }
    setOwn(entries, name, value);
  }

  /** Whether the next field has the same tag, and so belongs to the same list or map. If it does, its tag is read. */
  #continues(tag: number, end: number): boolean {
    const own = this.#own;
    if (own.at >= end) return false;
    const start = own.at;
    if (own.varint() === tag) return true;
    own.at = start;
    return false;
  }

  #seekModelField(tag: number): void {
    while (this.#modelTag !== 0 && this.#modelTag >>> 3 < tag >>> 3) {
      this.#model.at = this.#model.endOf(this.#modelTag & 7);
      this.#nextModelField();
    }
  }

  #nextModelField(): void {
    this.#modelTag = this.#model.at < this.#modelEnd ? this.#model.varint() : 0;
  }
}

/** The values of a field up to `end`, of which the first begins here. */
interface Run {
  readonly tag: number;
  readonly end: number;
  readonly known: unknown;
}

function isZero(value: unknown): boolean {
  return value === '' || value === 0 || value === false || value === undefined || value === null;
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null;
}
