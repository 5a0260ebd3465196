import { Command, CommanderError, InvalidArgumentError } from 'commander';

export interface SandboxFlags {
  readonly quiet: boolean;
  readonly port: number;
  readonly pagePort: number;
  readonly nodes: number;
  readonly dataDir: string | undefined;
  readonly controllers: boolean;
  /** The gates of the API that are on. */
  readonly featureGates: readonly string[];
  /** Passed to the controller manager unchanged. */
  readonly managerFlags: readonly string[];
}

export type SandboxCommand =
  | { readonly kind: 'sandbox'; readonly flags: SandboxFlags }
  /** Only the controller manager, against an existing cluster. */
  | { readonly kind: 'manager'; readonly argv: readonly string[] }
  | { readonly kind: 'print'; readonly text: string; readonly exitCode: number };

const about = `Starts a small Kubernetes in this process: an API on loopback, a few simulated nodes, and the controller manager.
With --kubeconfig FILE, runs only the controller manager, against that cluster, with any of its flags.`;

export function parseSandboxCommand(argv: readonly string[]): SandboxCommand {
  if (argv.some((argument) => /^--?kubeconfig(=|$)/.test(argument))) return { kind: 'manager', argv };
  let output = '';
  const program = new Command('sandbox')
    .description(about)
    .usage('[flags] [-- flags of the controller manager]')
    .option('--quiet', 'Serve only: print the address and skip the demo', false)
    .option('--data-dir <dir>', 'Store everything in this directory. Default: in memory')
    .option('--port <number>', 'Port of the API on 127.0.0.1. Default: any free port', parsePort, 0)
    .option('--page-port <number>', 'Port of the page on 127.0.0.1. Default: any free port', parsePort, 0)
    .option('--nodes <number>', 'Number of simulated nodes', parseCount, 3)
    .option('--no-controllers', 'Run the API and the nodes only')
    .option('--feature-gates <Gate=true,…>', 'Feature gates of the API. Default: none is on', parseGates, [])
    .argument('[manager-flags...]')
    .exitOverride()
    .configureOutput({ writeOut: (text) => (output += text), writeErr: (text) => (output += text) });
  try {
    program.parse([...argv], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return { kind: 'print', text: output, exitCode: error.exitCode === 0 ? 0 : 2 };
  }
  const { dataDir, ...flags } = program.opts<Omit<SandboxFlags, 'managerFlags'>>();
  return { kind: 'sandbox', flags: { ...flags, dataDir, managerFlags: program.args } };
}

/** Returns the gates that are on. The sandbox has few of the server's gates: any other has no effect. */
function parseGates(text: string): string[] {
  return text.split(',').flatMap((entry) => {
    const [, gate, value] = /^(\w+)=(true|false)$/.exec(entry) ?? [];
    if (gate === undefined) throw new InvalidArgumentError('must be of the form Gate=true');
    return value === 'true' ? [gate] : [];
  });
}

function parsePort(text: string): number {
  const port = parseCount(text);
  if (port > 65_535) throw new InvalidArgumentError('must be a port, 0 to 65535');
  return port;
}

function parseCount(text: string): number {
  if (!/^\d{1,6}$/.test(text)) throw new InvalidArgumentError('must be a whole number');
  return Number(text);
}
