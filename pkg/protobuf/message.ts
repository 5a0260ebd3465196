/** How a value that is not a message is encoded. Each has its own form in JSON. */
export type Encoding =
  | 'string'
  | 'integer'
  | 'number'
  | 'boolean'
  | 'time'
  | 'microtime'
  | 'quantity'
  | 'int-or-string'
  | 'bytes'
  | 'json'
  /** A message around a list of strings: maps cannot have lists as values. */
  | 'strings';

export interface Field {
  readonly name: string;
  /** Of each value: 0 for a varint, 1 for eight bytes, 2 for bytes with their length. */
  readonly wireType: number;
  /** In JSON, the fields of an inlined message are fields of the message around it. */
  readonly shape: 'one' | 'list' | 'map' | 'inlined';
  readonly type: Encoding | Message;
  /** JSON omits the field if its value is zero. Go encodes zero values in protobuf. */
  readonly omitsZero: boolean;
}

export function createField(field: Omit<Field, 'wireType'>): Field {
  const { type } = field;
  const wireType = type === 'integer' || type === 'boolean' ? 0 : type === 'number' ? 1 : 2;
  return { ...field, wireType };
}

/** The fields of a message by their numbers. Fields that are not described are skipped. */
export interface Message {
  readonly fields: readonly (Field | undefined)[];
  /** Lists and maps that JSON has as null if they are empty. */
  readonly nullable: readonly Field[];
}

/**
 * Messages as text: for each message its fields by number, `name type`, such as `conditions []core.v1.PodCondition?`.
 * `[]` marks a list, `{}` a map, `?` a value that is omitted if it is zero or empty, `@` an inlined message, which has no name.
 */
export type MessageTable = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** Reads messages from a table, each once, when it is needed. */
export function createMessages(table: MessageTable): (name: string) => Message {
  const known = new Map<string, Message>();
  const message = (name: string): Message => {
    const present = known.get(name);
    if (present !== undefined) return present;
    const fields: (Field | undefined)[] = [];
    const nullable: Field[] = [];
    const described = { fields, nullable };
    known.set(name, described); // before its fields are read: some messages contain themselves
    for (const [number, text] of Object.entries(table[name] ?? {})) {
      const field = readField(text, message);
      fields[Number(number)] = field;
      if ((field.shape === 'list' || field.shape === 'map') && !field.omitsZero) nullable.push(field);
    }
    return described;
  };
  return message;
}

const encodings: ReadonlySet<string> = new Set<Encoding>([
  'string',
  'integer',
  'number',
  'boolean',
  'time',
  'microtime',
  'quantity',
  'int-or-string',
  'bytes',
  'json',
  'strings',
]);

function readField(text: string, message: (name: string) => Message): Field {
  const [, name = '', mark = '', type = '', zero = ''] = /^(?:(\S+) )?(\[\]|\{\}|@)?(.*?)(\?)?$/.exec(text) ?? [];
  const shape = mark === '[]' ? 'list' : mark === '{}' ? 'map' : mark === '@' ? 'inlined' : 'one';
  const encoding = encodings.has(type) ? (type as Encoding) : message(type);
  return createField({ name, shape, type: encoding, omitsZero: zero === '?' });
}
