export { conform, isFields, TypeMismatch } from './conform.ts';
export type { Fields } from './conform.ts';
export { decodeProtobuf } from './protobuf.ts';
export { objectType } from './schema.ts';
export type { Field, ObjectType, ScalarName, ValueType } from './schema.ts';
