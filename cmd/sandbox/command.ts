import { Command, CommanderError, InvalidArgumentError } from 'commander';

export interface SandboxFlags {
  readonly quiet: boolean;
  readonly port: number;
  readonly nodes: number;
  readonly dataDir: string | undefined;
  readonly controllers: boolean;
  /** For the controller manager, as they stand. */
  readonly managerFlags: readonly string[];
}

export type SandboxCommand =
  | { readonly kind: 'sandbox'; readonly flags: SandboxFlags }
  /** Against a cluster that is there already: the controller manager alone, with all the flags it has. */
  | { readonly kind: 'manager'; readonly argv: readonly string[] }
  | { readonly kind: 'print'; readonly text: string; readonly exitCode: number };

const about = `Starts a small Kubernetes in this process: an API on loopback, a few simulated nodes, and the controller manager.
With --kubeconfig FILE it runs the controller manager against that cluster instead, with any flags it takes.`;

export function parseSandboxCommand(argv: readonly string[]): SandboxCommand {
  if (argv.some((argument) => /^--?kubeconfig(=|$)/.test(argument))) return { kind: 'manager', argv };
  let output = '';
  const program = new Command('sandbox')
    .description(about)
    .usage('[flags] [-- flags of the controller manager]')
    .option('--quiet', 'Only serve: print where, and play no scene', false)
    .option('--data-dir <dir>', 'Keep everything in this directory. Default: in memory')
    .option('--port <number>', 'Port of the API on 127.0.0.1. Default: any free one', parsePort, 0)
    .option('--nodes <number>', 'How many nodes to simulate', parseCount, 3)
    .option('--no-controllers', 'The API and the nodes alone')
    .argument('[manager-flags...]')
    .exitOverride()
    .configureOutput({ writeOut: (text) => (output += text), writeErr: (text) => (output += text) });
  try {
    program.parse([...argv], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return { kind: 'print', text: output, exitCode: error.exitCode === 0 ? 0 : 2 };
  }
  const { quiet, port, nodes, dataDir, controllers } = program.opts<Omit<SandboxFlags, 'managerFlags'>>();
  return { kind: 'sandbox', flags: { quiet, port, nodes, dataDir, controllers, managerFlags: program.args } };
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
