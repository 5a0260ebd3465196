import { Command, CommanderError, Option } from 'commander';

import { normalizeArguments } from './arguments.ts';
import { exitCodes, StartupError } from './exit-codes.ts';
import { knownGates } from './feature-gate-table.ts';
import { flagGroups, isBoolean, type Flag, type FlagType } from './flags/index.ts';
import { knownControllers } from './known-controllers.ts';
import { versionInfo } from './version.ts';

/** What a command line asks for. `given` holds the occurrences of each flag, in order. */
export type CommandLine =
  | { readonly kind: 'print'; readonly text: string }
  | { readonly kind: 'run'; readonly given: ReadonlyMap<string, readonly string[]>; readonly reportedVersion: string };

const about = `Runs the control loops of a Kubernetes cluster: each watches the state of the cluster through the API server and works
to bring it closer to the state that is asked for. Takes the flags of the Kubernetes binary of the same name.`;

/** Throws a `StartupError` that names the flag. */
export function parseCommandLine(argv: readonly string[], registered: readonly string[]): CommandLine {
  const given = new Map<string, string[]>();
  const program = createProgram(given, registered);
  try {
    program.parse(normalizeArguments(argv), { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    throw new StartupError(exitCodes.usage, error.message.replace(/^error: /, ''), { cause: error });
  }
  if (given.has('help')) return { kind: 'print', text: program.helpInformation() };
  return readVersionFlag(given.get('version')?.at(-1) ?? 'false', given);
}

function readVersionFlag(value: string, given: ReadonlyMap<string, readonly string[]>): CommandLine {
  const { gitVersion } = versionInfo();
  if (value === 'raw') return { kind: 'print', text: `${JSON.stringify(versionInfo())}\n` };
  if (value === 'true') return { kind: 'print', text: `Kubernetes ${gitVersion}\n` };
  if (value === 'false') return { kind: 'run', given, reportedVersion: gitVersion };
  const release = /^v\d+\.\d+\.\d+/.exec(gitVersion)?.[0] ?? gitVersion;
  if (value.startsWith(release)) return { kind: 'run', given, reportedVersion: value };
  const problem = `must be true, false, raw or a version that starts with ${release}`;
  throw new StartupError(exitCodes.usage, `invalid argument "${value}" for "--version" flag: ${problem}`);
}

function createProgram(given: Map<string, string[]>, registered: readonly string[]): Command {
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
  for (const [group, table] of Object.entries(flagGroups)) {
    for (const [name, flag] of Object.entries(table)) {
      const shorthand = name === 'v' ? '-v, ' : '';
      add(group, `${shorthand}--${name} <${flag.type}>`, describe(name, flag, registered));
    }
  }
  add('Global', '-h, --help <bool>', 'Print this text and exit');
  return program;
}

function hint(type: string): string {
  return isBoolean(type as FlagType) ? '' : ` ${type}`; // the terms are those that createProgram wrote
}

function describe(name: string, { help, initial }: Flag, registered: readonly string[]): string {
  const text = name === 'controllers' ? `${help}\n${describeControllers(registered)}` : help;
  const more = name === 'feature-gates' ? `\n${describeGates().join('\n')}` : '';
  return initial === '' || initial === '0s' || initial === 'false'
    ? text + more
    : `${text}${more} (default ${initial})`;
}

function describeControllers(registered: readonly string[]): string {
  const names = knownControllers.map(({ name }) => name);
  const missing = names.filter((name) => !registered.includes(name));
  const off = knownControllers.filter(({ onByDefault }) => !onByDefault).map(({ name }) => name);
  return `All controllers: ${registered.join(', ')}\nAccepted but not part of this build: ${missing.join(', ')}\nDisabled-by-default controllers: ${off.join(', ')}`;
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
