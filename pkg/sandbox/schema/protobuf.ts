import {
  createField,
  decodeMessage,
  type Encoding,
  type Field,
  type Fields,
  type Message,
  type Span,
} from '../../protobuf/index.ts';
import type { ObjectType, ValueType } from './schema.ts';

const known = new Map<ObjectType, Message>();

/** The JSON form of an encoded object. Throws `ProtobufError`. */
export function decodeProtobuf(content: Span, type: ObjectType): Fields {
  return decodeMessage(messageOf(type), content);
}

function messageOf(type: ObjectType): Message {
  const present = known.get(type);
  if (present !== undefined) return present;
  const fields: (Field | undefined)[] = [];
  const message: Message = { fields, nullable: [] }; // what an object lacks, the sandbox adds
  known.set(type, message); // before its fields are read: some types contain themselves
  for (const [number, target] of type.numbers) {
    fields[number] = typeof target === 'string' ? fieldOf(type, target) : inlined(target);
  }
  return message;
}

function inlined(type: ObjectType): Field {
  return createField({ name: '', shape: 'inlined', type: messageOf(type), omitsZero: false });
}

function fieldOf({ fields }: ObjectType, name: string): Field | undefined {
  const field = fields.get(name);
  if (field === undefined) return undefined;
  const { type } = field;
  switch (type.kind) {
    case 'list':
      return createField({ name, shape: 'list', type: encodingOf(type.item), omitsZero: false });
    case 'map':
      return createField({ name, shape: 'map', type: encodingOf(type.value), omitsZero: false });
    default:
      return createField({ name, shape: 'one', type: encodingOf(type), omitsZero: false });
  }
}

function encodingOf(type: ValueType): Encoding | Message {
  switch (type.kind) {
    case 'object':
      return messageOf(type.type);
    case 'scalar':
      return type.name === 'any' ? 'json' : type.name;
    default:
      return 'strings'; // no other lists are in lists or maps
  }
}
