export { conform, isFields, TypeMismatch } from './conform.ts';
export type { Fields, Findings } from './conform.ts';
export { decodeProtobuf, ProtobufError, readEnvelope } from './protobuf.ts';
export { canonicalQuantity } from './quantity.ts';
export { objectType, typeNames } from './schema.ts';
export type { Field, ObjectType, ScalarName, ValueType } from './schema.ts';
