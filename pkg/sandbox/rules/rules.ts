import type { KubeObject, ObjectKey, UntypedObject } from '../../api/index.ts';
import type { FieldError } from '../failure.ts';

/** What rules may ask of the server while an object is written. */
export interface WriteContext {
  readonly nowMs: number;
  find(storage: string, key: ObjectKey): UntypedObject | undefined;
  list(storage: string): Iterable<UntypedObject>;
  random(): number;
}

/**
 * What is particular to one kind. The object is a draft that nobody else has seen: rules that prepare it change it, rules
 * that validate it do not. In this order: `defaults`, then `beforeCreate` or `beforeUpdate`, then validation.
 */
export interface Rules<T extends KubeObject = KubeObject> {
  /** Whether the object counts changes of its specification. */
  readonly tracksGeneration?: boolean | undefined;
  /** Whether an annotation counts as a change of the specification. */
  readonly countsAnnotations?: boolean | undefined;
  /** Whether what a client says about the status of a new object is believed. */
  readonly keepsStatusOnCreate?: boolean | undefined;
  /** What a delete does to dependents when it does not say. Default: the garbage collector takes them. */
  readonly orphansByDefault?: boolean | undefined;
  /** Whether a delete answers with the object rather than with a Status. */
  readonly returnsDeleted?: boolean | undefined;
  /** Why a name is not allowed. Default: it has to be a DNS subdomain. */
  readonly nameProblem?: ((name: string) => string | undefined) | undefined;
  defaults?(object: T): void;
  beforeCreate?(object: T, context: WriteContext): void;
  beforeUpdate?(object: T, old: T, context: WriteContext): void;
  beforeStatusUpdate?(object: T, old: T): void;
  validate?(object: T): FieldError[];
  validateUpdate?(object: T, old: T): FieldError[];
  /** Runs for updates of the status alone. */
  validateStatus?(object: T, old: T): FieldError[];
}

/** The rules of a kind, for a table of all of them: objects reach them only through the kind they belong to. */
export function defineRules<T extends KubeObject>(rules: Rules<T>): Rules {
  return rules;
}

export function required(field: string, detail = ''): FieldError {
  return { type: 'Required', field, detail };
}

export function invalidValue(field: string, value: unknown, detail: string): FieldError {
  return { type: 'Invalid', field, value, detail };
}

export function unsupported(field: string, value: unknown, supported: readonly string[]): FieldError {
  const detail = `supported values: ${supported.map((each) => JSON.stringify(each)).join(', ')}`;
  return { type: 'NotSupported', field, value, detail };
}

/** Complains when a field differs from what it was. */
export function immutable(field: string, isSame: boolean, value: unknown): FieldError[] {
  return isSame ? [] : [invalidValue(field, value, 'field is immutable')];
}

export function notNegative(field: string, value: number | undefined): FieldError[] {
  if (value === undefined || value >= 0) return [];
  return [invalidValue(field, value, 'must be greater than or equal to 0')];
}
