import { Cursor, ProtobufError } from './cursor.ts';
import { decodeMessage, type Span } from './decode.ts';
import { createMessages, type Message } from './message.ts';
import type { Fields } from './shape.ts';
import table from './messages.json' with { type: 'json' };

const messages = createMessages(table.messages);
const names: ReadonlyMap<string, string> = new Map(Object.entries(table.kinds));

/** The message of a kind that is described. */
export function messageOf(apiVersion: string, kind: string): Message | undefined {
  const name = names.get(`${apiVersion}/${kind}`);
  return name === undefined ? undefined : messages(name);
}

/** An event of a watch: its type, and the envelope of its object. Throws `ProtobufError`. */
export function readWatchEvent(bytes: Buffer): { readonly type: string; readonly object: Span } {
  const whole = { bytes, start: 0, end: bytes.length };
  const type = firstField(1, whole);
  const wrapped = firstField(2, whole);
  const object = wrapped === undefined ? undefined : firstField(1, wrapped);
  if (type === undefined || object === undefined) throw new ProtobufError('an event without a type or an object');
  return { type: bytes.toString(undefined, type.start, type.end), object };
}

/** The first value of a field in a message. */
export function firstField(number: number, { bytes, start, end }: Span): Span | undefined {
  const cursor = new Cursor(bytes, start);
  while (cursor.at < end) {
    const tag = cursor.varint();
    const fieldEnd = cursor.endOf(tag & 7);
    if (tag >>> 3 === number) return { bytes, start: cursor.at, end: fieldEnd };
    cursor.at = fieldEnd;
  }
  return undefined;
}

/** The prefix of an encoded object. */
const magic = Buffer.from('k8s\0');

/** An encoded object with its type. */
export interface Envelope {
  readonly apiVersion: string;
  readonly kind: string;
  readonly content: Span;
}

/** Opens the envelope of an object. Throws `ProtobufError`. */
export function readEnvelope({ bytes, start, end }: Span): Envelope {
  const contentStart = start + magic.length;
  if (bytes.compare(magic, 0, magic.length, start, Math.min(contentStart, end)) !== 0) {
    throw new ProtobufError('the body is not Kubernetes protobuf');
  }
  const envelope = { bytes, start: contentStart, end };
  const type = firstField(1, envelope);
  return {
    apiVersion: textIn(1, type),
    kind: textIn(2, type),
    content: firstField(2, envelope) ?? { bytes, start: end, end },
  };
}

function textIn(number: number, message: Span | undefined): string {
  const text = message === undefined ? undefined : firstField(number, message);
  return text === undefined ? '' : text.bytes.toString(undefined, text.start, text.end);
}

/** An object in its envelope, as JSON has it. Throws `ProtobufError`, also for a kind that is not described. */
export function decodeObject(span: Span): Fields {
  const { apiVersion, kind, content } = readEnvelope(span);
  return { apiVersion, kind, ...decodeMessage(describedMessage(apiVersion, kind), content) };
}

/** Throws `ProtobufError` for a kind that is not described. */
export function describedMessage(apiVersion: string, kind: string): Message {
  const message = messageOf(apiVersion, kind);
  if (message === undefined) throw new ProtobufError(`${apiVersion} ${kind} is not described`);
  return message;
}
