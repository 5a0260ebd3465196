import { readFileSync } from 'node:fs';

import type * as z from 'zod';

import { formatValue, parseOccurrences, type FlagType, type FlagValue } from './go-types.ts';

/**
 * The one declaration of a flag. The parser, `--help`, `/flagz`, `/configz` and `--config` all read it. The name of the
 * flag is its key in a `FlagTable`.
 */
export interface Flag<T extends FlagType = FlagType> extends FlagFacts {
  readonly type: T;
  /** The default in flag syntax. Empty means Go's zero value. */
  readonly initial: string;
  readonly check?: z.ZodType | undefined;
}

interface FlagFacts {
  readonly help: string;
  /** The path in a configuration file and in `/configz`, such as `JobController.ConcurrentJobSyncs`. */
  readonly config?: string | undefined;
  /** The section of `--help`. A controller's flag is in the section of its controller unless it says otherwise. */
  readonly group?: string | undefined;
  /** The flag names a file. This function throws if the content of the file cannot be used. */
  readonly content?: ((text: string) => unknown) | undefined;
  /** A flag of this project: the Go binary does not have it. */
  readonly own?: true | undefined;
  /** The flag is accepted and ignored. A text says what does not happen because of that. */
  readonly noEffect?: true | string | undefined;
}

export interface FlagSpec<T extends FlagType> extends FlagFacts {
  /** Go's zero value if absent. Durations and lists are in flag syntax. */
  readonly default?: DefaultOf<T>;
  /** Refuses values that have the right type but make no sense. Its message completes "--flag: …". */
  readonly check?: z.ZodType<unknown, FlagValue<T>>;
}

type DefaultOf<T extends FlagType> = T extends 'duration' | 'quantity'
  ? string
  : FlagValue<T> extends number | boolean
    ? FlagValue<T>
    : string;

/** Declares a flag. `type` is the name that the help of the Go binary prints. */
export function flag<T extends FlagType>(type: T, spec: FlagSpec<T>): Flag<T> {
  const { default: initial = '', ...facts } = spec;
  return { ...facts, type, initial: String(initial) };
}

/** Flags by name. */
export type FlagTable = Readonly<Record<string, Flag>>;

/** The values of a table, by flag name. */
export type ValuesOf<Table extends FlagTable> = { readonly [Name in keyof Table]: FlagValue<Table[Name]['type']> };

/** The occurrences of each flag that was set, in order, as text. */
export type GivenFlags = ReadonlyMap<string, readonly string[]>;

export class FlagError extends Error {
  override readonly name = 'FlagError';
  /** `UnusableFile`: the value is well-formed, but the file it names cannot be used. */
  readonly reason: 'InvalidValue' | 'UnusableFile';
  readonly flag: string;

  constructor(reason: FlagError['reason'], flag: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
    this.flag = flag;
  }
}

/** Parses and checks the flags of a table. Throws a `FlagError` that names the flag. */
export function readFlags<Table extends FlagTable>(table: Table, given: GivenFlags): ValuesOf<Table> {
  const values = Object.entries(table).map(([name, declared]) => [name, readFlag(name, declared, given.get(name))]);
  return Object.fromEntries(values) as ValuesOf<Table>; // each value was parsed by its own declaration
}

/** The value of one flag; its default if `occurrences` is absent. Throws a `FlagError` that names the flag. */
export function readFlag<T extends FlagType>(
  name: string,
  { type, initial, check }: Flag<T>,
  occurrences: readonly string[] | undefined,
): FlagValue<T> {
  const parsed = parseOccurrences(type, occurrences ?? (initial === '' ? [] : [initial]));
  if (!parsed.ok) {
    throw new FlagError(
      'InvalidValue',
      name,
      `invalid argument "${parsed.text}" for "--${name}" flag: ${parsed.problem}`,
    );
  }
  const { value } = parsed;
  const checked = check?.safeParse(value);
  if (checked?.success === false) {
    const problem = checked.error.issues[0]?.message ?? 'is not valid';
    const shown = type === 'string' ? JSON.stringify(value) : formatValue(type, value);
    throw new FlagError('InvalidValue', name, `--${name}: ${problem}, got ${shown}`);
  }
  return value;
}

/**
 * Reads every file that these flags name and drops the content: a file that cannot be used ends the start, although
 * it may not be needed for a long time. Throws a `FlagError` that names the flag.
 */
export function checkFlagFiles(table: FlagTable, values: Readonly<Record<string, unknown>>): void {
  for (const [name, { content }] of Object.entries(table)) {
    const path = values[name];
    if (content === undefined || typeof path !== 'string') continue;
    try {
      readFlagFile(path, content);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      throw new FlagError('UnusableFile', name, `--${name}: ${path}: ${why}`, { cause: error });
    }
  }
}

/** The content of the file that a flag names. Undefined if the flag is empty. */
export function readFlagFile<T>(path: string, content: (text: string) => T): T | undefined {
  return path === '' ? undefined : content(readFileSync(path, 'utf8'));
}
