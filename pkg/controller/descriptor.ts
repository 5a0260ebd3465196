import { checkFlagFiles, readFlags, type FlagTable, type GivenFlags, type ValuesOf } from '../flags/index.ts';
import type { Controller, ControllerContext } from './context.ts';

/** The names and flags of a controller, also of one that runs elsewhere: enough for `--help` and `--controllers`. */
export interface ControllerFacts {
  /** The public id, as in `--controllers`. Never changes. */
  readonly name: string;
  /** Older names that `--controllers` still accepts. */
  readonly aliases: readonly string[];
  /** The controller runs only if all of these gates are on. */
  readonly requiredGates: readonly string[];
  readonly onByDefault: boolean;
  /** The flags that the controller reads. A flag that several controllers read is one object, named by each. */
  readonly flags: FlagTable;
}

/** A controller whose flags are not read yet. */
export interface ControllerDescriptor extends ControllerFacts {
  /**
   * Reads the controller's flags and checks the files that they name. Throws a `FlagError`: a bad flag fails before
   * anything starts.
   */
  bind(given: GivenFlags): (context: ControllerContext) => Controller;
}

export interface FactsSpec<F extends FlagTable> {
  readonly name: string;
  readonly aliases?: readonly string[];
  readonly requiredGates?: readonly string[];
  /** True unless set. */
  readonly onByDefault?: boolean;
  readonly flags?: F;
}

export interface ControllerSpec<F extends FlagTable> extends FactsSpec<F> {
  /** Throws a `FlagError` if the flags contradict each other, or name files that do not fit together. */
  readonly check?: (options: ValuesOf<F>) => void;
  readonly create: (context: ControllerContext, options: ValuesOf<F>) => Controller;
}

export function defineController<F extends FlagTable = FlagTable>(spec: ControllerSpec<F>): ControllerDescriptor {
  const { check, create, flags } = spec;
  return {
    ...describeController(spec),
    bind(given) {
      const table = flags ?? ({} as F); // a controller without flags reads none
      const options = readFlags(table, given);
      checkFlagFiles(table, options);
      check?.(options);
      return (context) => create(context, options);
    },
  };
}

/** Fills in the defaults of a spec. */
export function describeController(spec: FactsSpec<FlagTable>): ControllerFacts {
  const { name, aliases = [], requiredGates = [], onByDefault = true, flags = {} } = spec;
  return { name, aliases, requiredGates, onByDefault, flags };
}
