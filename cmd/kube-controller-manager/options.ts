import { isDeepStrictEqual } from 'node:util';

import type { ControllerDescriptor } from '../../pkg/controller/index.ts';
import { FlagError, readFlag, readFlags, type GivenFlags } from '../../pkg/flags/index.ts';
import { checkDurations, InvalidDurationsError } from '../../pkg/leaderelection/index.ts';
import { selectControllers, type ControllerSelection } from './controller-selection.ts';
import { exitCodes, StartupError } from './exit-codes.ts';
import { resolveGates, type ResolvedGates } from './feature-gates.ts';
import { collectFlags, processFlags, type AllFlags, type ProcessOptions } from './flags/index.ts';

/** The command line and the configuration file, parsed and checked before anything starts. */
export interface Options {
  readonly flags: ProcessOptions;
  /** The declarations of all flags, those of controllers included. */
  readonly allFlags: AllFlags;
  /** The value of each flag in `allFlags`. */
  readonly values: ReadonlyMap<string, unknown>;
  /** The flags that were set, even if to their default. */
  readonly given: GivenFlags;
  readonly gates: ResolvedGates;
  readonly controllers: ControllerSelection;
  /** Each line names a setting that has no effect. They are logged once. */
  readonly notes: readonly string[];
}

/** Throws a `StartupError` whose message names the flag, gate or controller that is wrong. */
export function resolveOptions(given: GivenFlags, registered: readonly ControllerDescriptor[]): Options {
  const allFlags = collectFlags(registered);
  const values = withExitCode(() => parseValues(allFlags, given));
  const flags = readFlags(processFlags, given);
  checkFlags(flags);
  const gates = resolveGates(flags['feature-gates']);
  checkGatedFlags(flags, gates);
  const controllers = selectControllers(flags.controllers, registered, gates);
  const notes = [
    ...noteFlags(allFlags, values),
    ...noteControllers(controllers),
    ...gates.withoutEffect.map((gate) => `--feature-gates: ${gate} has no effect in this build`),
  ];
  return { flags, allFlags, values, given, gates, controllers, notes };
}

/**
 * Checks what the enabled controllers read from flags, files included: they are created when the process leads, which
 * may be much later. Throws a `StartupError` that names the flag.
 */
export function checkControllerFlags({ controllers, given }: Options): void {
  withExitCode(() => controllers.enabled.forEach((descriptor) => void descriptor.bind(given)));
}

function withExitCode<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof FlagError)) throw error;
    const exitCode = error.reason === 'UnusableFile' ? exitCodes.environment : exitCodes.usage;
    throw new StartupError(exitCode, error.message, { cause: error });
  }
}

function parseValues(allFlags: AllFlags, given: GivenFlags): ReadonlyMap<string, unknown> {
  return new Map([...allFlags].map(([name, flag]) => [name, readFlag(name, flag, given.get(name))]));
}

/** Flags without effect that differ from their default. */
function noteFlags(allFlags: AllFlags, values: ReadonlyMap<string, unknown>): string[] {
  return [...allFlags].flatMap(([name, flag]) => {
    if (flag.noEffect === undefined || isDeepStrictEqual(values.get(name), readFlag(name, flag, undefined))) return [];
    return flag.noEffect === true ? [`--${name} has no effect in this build`] : [`--${name}: ${flag.noEffect}`];
  });
}

function noteControllers({ gatedOff }: ControllerSelection): string[] {
  return gatedOff.length === 0 ? [] : [`--controllers: off because of feature gates: ${gatedOff.join(', ')}`];
}

type Rule = (flags: ProcessOptions) => string | undefined;

/** Rules for flags that depend on each other. A rule returns the whole error message. */
const rules: readonly Rule[] = [
  (flags) =>
    flags['leader-elect'] && flags['leader-elect-resource-lock'] !== 'leases'
      ? `--leader-elect-resource-lock: must be "leases", got "${flags['leader-elect-resource-lock']}"`
      : undefined,
  (flags) => {
    const missing = (['leader-elect-resource-name', 'leader-elect-resource-namespace'] as const).find(
      (name) => flags['leader-elect'] && flags[name] === '',
    );
    return missing === undefined ? undefined : `--${missing}: must not be empty`;
  },
  (flags) =>
    (flags['tls-cert-file'] === '') === (flags['tls-private-key-file'] === '')
      ? undefined
      : '--tls-cert-file and --tls-private-key-file must be set together',
];

function checkFlags(flags: ProcessOptions): void {
  for (const rule of rules) {
    const problem = rule(flags);
    if (problem !== undefined) throw new StartupError(exitCodes.usage, problem);
  }
  if (!flags['leader-elect']) return;
  try {
    checkDurations(electionDurations(flags));
  } catch (error) {
    if (!(error instanceof InvalidDurationsError)) throw error;
    throw new StartupError(exitCodes.usage, error.message, { cause: error });
  }
}

/** Logging options that are still behind feature gates, as in Go. */
function checkGatedFlags(flags: ProcessOptions, gates: ResolvedGates): void {
  const refuse = (flag: string, gate: string): never => {
    throw new StartupError(exitCodes.usage, `--${flag}: feature gate ${gate} is off`);
  };
  if (flags['logging-format'] === 'json' && !gates.isEnabled('LoggingBetaOptions')) {
    refuse('logging-format', 'LoggingBetaOptions');
  }
  const alpha = (
    [
      'log-json-split-stream',
      'log-text-split-stream',
      'log-json-info-buffer-size',
      'log-text-info-buffer-size',
    ] as const
  ).find((name) => Boolean(flags[name]));
  if (alpha !== undefined && !gates.isEnabled('LoggingAlphaOptions')) refuse(alpha, 'LoggingAlphaOptions');
}

export function electionDurations(flags: ProcessOptions): Parameters<typeof checkDurations>[0] {
  return {
    leaseDurationMs: flags['leader-elect-lease-duration'],
    renewDeadlineMs: flags['leader-elect-renew-deadline'],
    retryPeriodMs: flags['leader-elect-retry-period'],
  };
}
