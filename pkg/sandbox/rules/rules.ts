import type { KubeObject, ObjectKey, UntypedObject } from '../../api/index.ts';
import type { FieldError } from '../failure.ts';

/** The services of the server that rules may use while an object is written. */
export interface WriteContext {
  readonly nowMs: number;
  /** The feature gates that are on. */
  readonly featureGates: ReadonlySet<string>;
  find(storage: string, key: ObjectKey): UntypedObject | undefined;
  list(storage: string): Iterable<UntypedObject>;
  random(): number;
}

/**
 * The rules of one kind. The object is a draft that no other code holds: rules that prepare it change it, rules that
 * validate it do not. The order is `defaults`, then `beforeCreate` or `beforeUpdate`, then validation.
 */
export interface Rules<T extends KubeObject = KubeObject> {
  /** Whether the object has a generation, which counts changes of its specification. */
  readonly tracksGeneration?: boolean | undefined;
  /** Whether an annotation counts as a change of the specification. */
  readonly countsAnnotations?: boolean | undefined;
  /** Whether the status in a create request is kept. */
  readonly keepsStatusOnCreate?: boolean | undefined;
  /**
   * The propagation policy of a delete that does not set one. Default: background deletion by the garbage collector.
   */
  readonly orphansByDefault?: boolean | undefined;
  /** Whether a delete returns the object instead of a Status. */
  readonly returnsDeleted?: boolean | undefined;
  /** Why a name is not valid. Default: it must be a DNS subdomain. */
  readonly nameProblem?: ((name: string) => string | undefined) | undefined;
  defaults?(object: T): void;
  beforeCreate?(object: T, context: WriteContext): void;
  beforeUpdate?(object: T, old: T, context: WriteContext): void;
  beforeStatusUpdate?(object: T, old: T, context: WriteContext): void;
  beforeApproval?(object: T, old: T, context: WriteContext): void;
  /** Runs for new and for changed objects. `old` is absent for a new one. */
  validate?(object: T, old?: T): FieldError[];
  validateUpdate?(object: T, old: T): FieldError[];
  /** What an admission plugin refuses in an update that is valid: throws a `Failure`. */
  admitUpdate?(object: T, old: T, context: WriteContext): void;
  /** Runs for updates of the status alone. */
  validateStatus?(object: T, old: T): FieldError[];
}

/** The rules of a kind, typed for a table of all kinds: objects reach them only through their own kind. */
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

/** Reports an error if a field has changed. */
export function immutable(field: string, isSame: boolean, value: unknown): FieldError[] {
  return isSame ? [] : [invalidValue(field, value, 'field is immutable')];
}

export function notNegative(field: string, value: number | undefined): FieldError[] {
  if (value === undefined || value >= 0) return [];
  return [invalidValue(field, value, 'must be greater than or equal to 0')];
}
