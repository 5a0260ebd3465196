import type { ControllerDescriptor, ControllerFacts } from '../../../pkg/controller/index.ts';
import type { Flag, FlagTable, ValuesOf } from '../../../pkg/flags/index.ts';
import { knownControllers } from '../known-controllers.ts';
import { debuggingFlags, genericFlags, globalFlags, leaderMigrationFlags, miscFlags } from './generic.ts';
import { compareGroups, groupOfController } from './groups.ts';
import { logsFlags, metricsFlags } from './observability.ts';
import { authenticationFlags, authorizationFlags, servingFlags } from './serving.ts';

/** The flags that belong to no controller. */
export const processFlags = {
  ...debuggingFlags,
  ...leaderMigrationFlags,
  ...genericFlags,
  ...servingFlags,
  ...authenticationFlags,
  ...authorizationFlags,
  ...metricsFlags,
  ...logsFlags,
  ...miscFlags,
  ...globalFlags,
};

export type ProcessOptions = ValuesOf<typeof processFlags>;

/** A flag with its section of `--help`. */
export interface GroupedFlag extends Flag {
  readonly group: string;
}

/** Every flag of the process, by name and in the order of `--help`: by section, then by name. */
export type AllFlags = ReadonlyMap<string, GroupedFlag>;

/**
 * Collects the flags of the process, of its controllers, and of those controllers of Kubernetes that it does not have.
 * Throws a `DuplicateFlagError` if two declarations have the same name.
 */
export function collectFlags(controllers: readonly ControllerDescriptor[]): AllFlags {
  const declared = new Map<string, Flag>();
  const collected: [string, GroupedFlag][] = [];
  const add = (table: FlagTable, defaults: { readonly group: string; readonly noEffect?: true }): void => {
    for (const [name, flag] of Object.entries(table)) {
      const first = declared.get(name);
      if (first === flag) continue; // shared by several controllers
      if (first !== undefined) throw new DuplicateFlagError(name);
      declared.set(name, flag);
      collected.push([name, { ...defaults, ...flag, group: flag.group ?? defaults.group }]);
    }
  };
  add(processFlags, { group: 'Generic' });
  const built: ReadonlySet<ControllerFacts> = new Set(controllers);
  for (const each of knownControllers(controllers)) {
    add(each.flags, { group: groupOfController(each.name), ...(built.has(each) ? {} : { noEffect: true }) });
  }
  const byPlace = ([a, { group }]: [string, GroupedFlag], [b, other]: [string, GroupedFlag]): number =>
    compareGroups(group, other.group) || (a < b ? -1 : 1);
  return new Map(collected.sort(byPlace));
}

/** Two declarations of one flag. A flag that several controllers read must be one object. */
export class DuplicateFlagError extends Error {
  override readonly name = 'DuplicateFlagError';
  readonly reason = 'DuplicateFlag';

  constructor(flag: string) {
    super(`--${flag} is declared twice`);
  }
}
