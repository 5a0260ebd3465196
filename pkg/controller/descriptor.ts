import type * as z from 'zod';

import type { Controller, ControllerContext } from './context.ts';

/** What the process knows of a controller before it runs: enough for flags, `--help`, `--controllers` and RBAC. */
export interface ControllerDescriptor {
  /** The public id, as in `--controllers`. Never changes. */
  readonly name: string;
  /** Older names that `--controllers` still takes. */
  readonly aliases: readonly string[];
  /** Gates that must all be on for the controller to run. */
  readonly requiredGates: readonly string[];
  readonly onByDefault: boolean;
  /** The zod schema whose keys are flags. */
  readonly options: z.ZodObject;
  /**
   * Checks the options, so that bad ones fail before anything has started. Given are the flags that were set, by name
   * and as values of their Go type: durations as milliseconds, numbers and booleans as such, lists as string arrays.
   */
  bind(rawOptions: unknown): (context: ControllerContext) => Controller;
}

export interface ControllerSpec<S extends z.ZodObject> {
  readonly name: string;
  readonly aliases?: readonly string[];
  readonly requiredGates?: readonly string[];
  readonly onByDefault?: boolean;
  readonly options: S;
  readonly create: (context: ControllerContext, options: z.output<S>) => Controller;
}

export function defineController<S extends z.ZodObject>(spec: ControllerSpec<S>): ControllerDescriptor {
  const { name, aliases = [], requiredGates = [], onByDefault = true, options, create } = spec;
  return {
    name,
    aliases,
    requiredGates,
    onByDefault,
    options,
    bind(rawOptions) {
      const parsed = options.parse(rawOptions);
      return (context) => create(context, parsed);
    },
  };
}
