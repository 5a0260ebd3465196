import type { ControllerDescriptor } from '../../pkg/controller/index.ts';
import { checkDurations, InvalidDurationsError } from '../../pkg/leaderelection/index.ts';
import { selectControllers, type ControllerSelection } from './controller-selection.ts';
import { exitCodes, StartupError } from './exit-codes.ts';
import { resolveGates, type ResolvedGates } from './feature-gates.ts';
import { allFlags, FlagError, initialValue, parseFlag, processFlagNames, type ProcessOptions } from './flags/index.ts';

/** Everything that the command line and the configuration file say, checked before anything starts. */
export interface Options {
  readonly flags: ProcessOptions;
  /** Every flag, those of controllers too. */
  readonly values: ReadonlyMap<string, unknown>;
  /** Flags that were set, be it to their default. */
  readonly given: ReadonlySet<string>;
  readonly gates: ResolvedGates;
  readonly controllers: ControllerSelection;
  /** What was asked for and does not happen, a line each, to be said once in the log. */
  readonly notes: readonly string[];
}

export type GivenFlags = ReadonlyMap<string, readonly string[]>;

/** Throws a `StartupError` whose message names the flag, gate or controller that is wrong. */
export function resolveOptions(given: GivenFlags, registered: readonly ControllerDescriptor[]): Options {
  const values = parseValues(given);
  const flags = Object.fromEntries([...values].filter(([name]) => processFlagNames.has(name))) as ProcessOptions;
  checkFlags(flags);
  const gates = resolveGates(flags['feature-gates']);
  checkGatedFlags(flags, gates);
  const controllers = selectControllers(flags.controllers, registered, gates);
  const owned = new Set(registered.flatMap(({ options }) => Object.keys(options.shape)));
  const changed = [...given.keys()].filter((name) => !isInitial(name, values.get(name)));
  const notes = [
    ...changed.filter((name) => !hasEffect(name, owned)).map((name) => `--${name} has no effect in this build`),
    ...noteControllers(controllers),
    ...gates.withoutEffect.map((gate) => `--feature-gates: ${gate} changes nothing that this build does`),
  ];
  if (flags['allocate-node-cidrs'] && !owned.has('allocate-node-cidrs')) {
    notes.push(
      '--allocate-node-cidrs: node-ipam-controller is not part of this build, new nodes get no podCIDR from here',
    );
  }
  return { flags, values, given: new Set(given.keys()), gates, controllers, notes };
}

/** The options of one controller that were set: what its schema does not find there it fills in itself. */
export function controllerOptions({ options }: ControllerDescriptor, { given, values }: Options): object {
  const set = Object.keys(options.shape).filter((name) => given.has(name));
  return Object.fromEntries(set.map((name) => [name, values.get(name)]));
}

function parseValues(given: GivenFlags): ReadonlyMap<string, unknown> {
  const values = new Map<string, unknown>();
  for (const [name, flag] of allFlags) {
    const occurrences = given.get(name);
    try {
      values.set(name, occurrences === undefined ? initialValue(name, flag) : parseFlag(name, flag.type, occurrences));
    } catch (error) {
      if (!(error instanceof FlagError)) throw error;
      throw new StartupError(exitCodes.usage, error.message, { cause: error });
    }
  }
  return values;
}

function isInitial(name: string, value: unknown): boolean {
  const flag = allFlags.get(name);
  return flag !== undefined && JSON.stringify(value) === JSON.stringify(initialValue(name, flag));
}

/** Flags of the process that do nothing here and are harmless to ignore. */
const inert: ReadonlySet<string> = new Set([
  'allow-metric-labels',
  'allow-metric-labels-manifest',
  'cloud-config',
  'cloud-provider',
  'cluster-name',
  'configure-cloud-routes',
  'contention-profiling',
  'disable-http2-serving',
  'external-cloud-volume-plugin',
  'http2-max-streams-per-connection',
  'leader-migration-config',
  'log-flush-frequency',
  'log-json-info-buffer-size',
  'log-text-info-buffer-size',
  'min-compatibility-version',
  'permit-address-sharing',
  'route-reconciliation-period',
  'show-hidden-metrics-for-version',
  'vmodule',
]);

/** Flags that stand among those of the process but belong to controllers. */
const ownedElsewhere: ReadonlySet<string> = new Set(['allocate-node-cidrs', 'cluster-cidr', 'node-monitor-period']);

function hasEffect(name: string, owned: ReadonlySet<string>): boolean {
  if (owned.has(name)) return true;
  return name === 'version' || (processFlagNames.has(name) && !inert.has(name) && !ownedElsewhere.has(name));
}

function noteControllers({ notBuilt, gatedOff }: ControllerSelection): string[] {
  const notes: string[] = [];
  if (notBuilt.length > 0) notes.push(`--controllers: not part of this build: ${notBuilt.join(', ')}`);
  if (gatedOff.length > 0) notes.push(`--controllers: off because of feature gates: ${gatedOff.join(', ')}`);
  return notes;
}

type Rule = (flags: ProcessOptions) => string | undefined;

/** What one flag may not be, or two may not be together. A rule gives the whole line. */
const rules: readonly Rule[] = [
  (flags) =>
    flags['secure-port'] >= 0 && flags['secure-port'] <= 65_535
      ? undefined
      : `--secure-port must be between 0 and 65535, got ${flags['secure-port']}`,
  (flags) =>
    flags['leader-elect'] && flags['leader-elect-resource-lock'] !== 'leases'
      ? `--leader-elect-resource-lock must be "leases", got "${flags['leader-elect-resource-lock']}"`
      : undefined,
  (flags) => {
    const missing = (['leader-elect-resource-name', 'leader-elect-resource-namespace'] as const).find(
      (name) => flags['leader-elect'] && flags[name] === '',
    );
    return missing === undefined ? undefined : `--${missing} must not be empty`;
  },
  (flags) =>
    flags['enable-leader-migration']
      ? '--enable-leader-migration is not available: controllers that moved elsewhere would run twice'
      : undefined,
  (flags) =>
    ['text', 'json'].includes(flags['logging-format'])
      ? undefined
      : `--logging-format must be "text" or "json", got "${flags['logging-format']}"`,
  (flags) =>
    ['', 'external'].includes(flags['cloud-provider'])
      ? undefined
      : `--cloud-provider must be empty or "external", got "${flags['cloud-provider']}": no provider is built in`,
  (flags) =>
    ['', 'RangeAllocator'].includes(flags['cidr-allocator-type'])
      ? undefined
      : `--cidr-allocator-type must be "RangeAllocator", got "${flags['cidr-allocator-type']}"`,
  (flags) => {
    const other = flags['emulated-version'].find((version) => !/^(kube=)?v?1\.36$/.test(version));
    return other === undefined ? undefined : `--emulated-version can only be 1.36 here, got "${other}"`;
  },
  (flags) => (flags['kube-api-burst'] < 0 ? '--kube-api-burst must not be negative' : undefined),
  (flags) =>
    (flags['tls-cert-file'] === '') === (flags['tls-private-key-file'] === '')
      ? undefined
      : '--tls-cert-file and --tls-private-key-file must be given together',
  (flags) => (flags.v < 0 ? '--v must not be negative' : undefined),
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

/** What of logging Kubernetes still keeps behind gates. */
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
