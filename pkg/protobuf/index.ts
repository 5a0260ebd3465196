export { ProtobufError } from './cursor.ts';
export { decodeMessage } from './decode.ts';
export type { Span } from './decode.ts';
export { createField } from './message.ts';
export type { Encoding, Field, Message } from './message.ts';
export { ObjectDecoder } from './object-decoder.ts';
export { decodeObject, messageOf, readEnvelope, readWatchEvent } from './objects.ts';
export type { Fields } from './shape.ts';
