import { Command, CommanderError, Option } from 'commander';

import type { ControllerDescriptor, ControllerFacts } from '../../pkg/controller/index.ts';
import { isBoolean, type Flag, type FlagType, type GivenFlags } from '../../pkg/flags/index.ts';
import { normalizeArguments } from './arguments.ts';
import { exitCodes, StartupError } from './exit-codes.ts';
import { knownGates } from './feature-gate-table.ts';
import { collectFlags, type AllFlags } from './flags/index.ts';
import { knownControllers } from './known-controllers.ts';
import { formatRawVersion, formatVersion, versionInfo } from './version.ts';

/** A parsed command line: print a text and exit, or run. */
export type CommandLine =
  | { readonly kind: 'print'; readonly text: string }
  | { readonly kind: 'run'; readonly given: GivenFlags; readonly reportedVersion: string };

const about = `Runs the control loops of a Kubernetes cluster. Each loop watches the state of the cluster through the API server and
makes changes that move it towards the desired state. Accepts the flags of the Kubernetes binary of the same name.`;

/** Throws a `StartupError` that names the flag. */
export function parseCommandLine(argv: readonly string[], registered: readonly ControllerDescriptor[]): CommandLine {
  const given = new Map<string, string[]>();
  const flags = collectFlags(registered);
  const program = createProgram(flags, given, registered);
  try {
    program.parse(normalizeArguments(argv, flags), { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    throw new StartupError(exitCodes.usage, error.message.replace(/^error: /, ''), { cause: error });
  }
  if (given.has('help')) return { kind: 'print', text: program.helpInformation() };
  return readVersionFlag(given.get('version')?.at(-1) ?? 'false', given);
}

function readVersionFlag(value: string, given: GivenFlags): CommandLine {
  const info = versionInfo();
  const { gitVersion } = info;
  if (value === 'raw') return { kind: 'print', text: formatRawVersion(info) };
  if (value === 'true') return { kind: 'print', text: formatVersion(info) };
  if (value === 'false') return { kind: 'run', given, reportedVersion: gitVersion };
  const release = /^v\d+\.\d+\.\d+/.exec(gitVersion)?.[0] ?? gitVersion;
  if (value.startsWith(release)) return { kind: 'run', given, reportedVersion: value };
  const problem = `must be true, false, raw or a version that starts with ${release}`;
  throw new StartupError(exitCodes.usage, `invalid argument "${value}" for "--version" flag: ${problem}`);
}

function createProgram(
  allFlags: AllFlags,
  given: Map<string, string[]>,
  registered: readonly ControllerDescriptor[],
): Command {
  const program = new Command('kube-controller-manager')
    .usage('[flags]')
    .description(about)
    .helpOption(false)
    .allowExcessArguments(false)
    .exitOverride()
    .configureOutput({ writeErr: () => {} })
    .configureHelp({
      sortOptions: false,
      helpWidth: 160,
      optionTerm: (option) =>
        option.flags.replace(/^--/, '    --').replace(/ <(.*)>$/, (_, type: string) => hint(type)),
    });
  const add = (group: string, flags: string, help: string): void => {
    const option = new Option(flags, help).helpGroup(`${group} flags:`);
    const name = option.long?.slice(2) ?? '';
    option.argParser((value: string) => given.set(name, [...(given.get(name) ?? []), value]));
    program.addOption(option);
  };
  for (const [name, flag] of allFlags) {
    const shorthand = name === 'v' ? '-v, ' : '';
    add(flag.group, `${shorthand}--${name} <${flag.type}>`, describe(name, flag, registered));
  }
  add('Global', '-h, --help <bool>', 'Print this text and exit');
  return program;
}

function hint(type: string): string {
  return isBoolean(type as FlagType) ? '' : ` ${type}`; // createProgram wrote the terms
}

function describe(name: string, { help, initial }: Flag, registered: readonly ControllerDescriptor[]): string {
  const text = name === 'controllers' ? `${help}\n${describeControllers(registered)}` : help;
  const more = name === 'feature-gates' ? `\n${describeGates().join('\n')}` : '';
  return initial === '' || initial === '0s' || initial === 'false'
    ? text + more
    : `${text}${more} (default ${initial})`;
}

function describeControllers(registered: readonly ControllerDescriptor[]): string {
  const known = knownControllers(registered);
  const off = known.filter(({ onByDefault }) => !onByDefault);
  const list = (controllers: readonly ControllerFacts[]): string =>
    controllers
      .map(({ name }) => name)
      .sort()
      .join(', ');
  return [`All controllers: ${list(known)}`, `Disabled-by-default controllers: ${list(off)}`].join('\n');
}

function describeGates(): string[] {
  const open = [...knownGates].filter(([, { stage }]) => stage === 'alpha' || stage === 'beta');
  const lines = open.map(
    ([name, { stage, enabledByDefault }]) =>
      `kube:${name}=true|false (${stage.toUpperCase()} - default=${String(enabledByDefault)})`,
  );
  lines.push('kube:AllAlpha=true|false (ALPHA - default=false)', 'kube:AllBeta=true|false (BETA - default=false)');
  return lines.sort();
}
