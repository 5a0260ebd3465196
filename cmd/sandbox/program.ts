import { openSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { controllers } from '../../controllers/registry.ts';
import { createLogger, openLogStream, type Logger } from '../../pkg/log/index.ts';
import { systemClock } from '../../pkg/time/index.ts';
import { exitCodes } from '../kube-controller-manager/exit-codes.ts';
import { explain, runProgram } from '../kube-controller-manager/program.ts';
import { startSandboxCluster, type SandboxCluster } from './cluster.ts';
import { parseSandboxCommand, type SandboxFlags } from './command.ts';
import { createOutput, type Output } from './output.ts';
import { playScene } from './scene.ts';

export interface SandboxProgramDeps {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly stdout: (text: string) => void;
  readonly stderr: (text: string) => void;
  readonly isTerminal: boolean;
}

/** Runs one command line until it ends. Returns the exit code. */
export async function runSandboxProgram(
  argv: readonly string[],
  deps: SandboxProgramDeps,
  signal: AbortSignal,
): Promise<number> {
  const command = parseSandboxCommand(argv);
  switch (command.kind) {
    case 'print':
      (command.exitCode === 0 ? deps.stdout : deps.stderr)(command.text);
      return command.exitCode;
    case 'manager':
      return runProgram(command.argv, { ...deps, controllers }, signal);
    case 'sandbox':
      return runSandbox(command.flags, deps, signal);
  }
}

async function runSandbox(flags: SandboxFlags, deps: SandboxProgramDeps, signal: AbortSignal): Promise<number> {
  const output = createOutput(deps.stdout, deps.isTerminal);
  const log = new DeferredLogger();
  try {
    const startedMs = systemClock.monotonic();
    const cluster = await startSandboxCluster({ ...flags, logger: log.logger, environment: deps.environment });
    try {
      const logFile = join(dirname(cluster.sandbox.kubeconfigFile), 'sandbox.log');
      log.writeTo(logFile);
      greet(output, cluster, flags, { logFile, tookMs: systemClock.monotonic() - startedMs });
      await Promise.race([live(cluster, flags, output, signal), cluster.failed]);
      output.line('');
      output.line('Stopping.');
    } finally {
      await cluster.stop();
    }
    return exitCodes.ok;
  } catch (error) {
    if (signal.aborted) return exitCodes.ok;
    const { exitCode, message } = explainFailure(error);
    deps.stderr(`sandbox: ${message}\n`);
    return exitCode;
  }
}

function explainFailure(error: unknown): { readonly exitCode: number; readonly message: string } {
  if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE') {
    return { exitCode: exitCodes.failed, message: '--port: the port is in use' };
  }
  return explain(error);
}

interface Greeting {
  readonly logFile: string;
  readonly tookMs: number;
}

function greet(output: Output, { sandbox, loopUrl }: SandboxCluster, flags: SandboxFlags, greeting: Greeting): void {
  const nodes = flags.nodes === 1 ? '1 node' : `${flags.nodes} nodes`;
  output.heading(`A small Kubernetes is up, in ${Math.round(greeting.tookMs)} ms.`);
  output.line('');
  output.item('API', `${sandbox.url}, ${flags.dataDir === undefined ? 'in memory' : `stored in ${flags.dataDir}`}`);
  output.item('nodes', `${nodes}, simulated: pods start, run and stop, without containers`);
  output.item('controllers', flags.controllers ? `${controllers.length}, in the controller manager` : 'none');
  if (flags.controllers) output.item('cloud', 'simulated: Services of type LoadBalancer get an address');
  if (loopUrl !== undefined) output.item('page', `${loopUrl}  watch the controllers work`);
  output.item('log', greeting.logFile);
  output.line('');
  output.line('Every user of this API may do everything. It is for experiments on this machine only.');
  output.line('To use it from another terminal:');
  output.line('');
  output.command(`export KUBECONFIG=${sandbox.kubeconfigFile}`);
  output.line('');
}

async function live(
  { client }: SandboxCluster,
  flags: SandboxFlags,
  output: Output,
  signal: AbortSignal,
): Promise<void> {
  if (!flags.quiet && flags.controllers && flags.nodes > 0)
    await playScene({ client, output, clock: systemClock }, signal);
  output.line('Ctrl-C stops everything.');
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
}

/** The log file is beside the kubeconfig. Lines are kept in memory until the directory is known. */
class DeferredLogger {
  readonly logger: Logger;
  #lines: string[] = [];
  #target: { write(line: string): void; flush(): void } | undefined;

  constructor() {
    const write = (line: string): void =>
      void (this.#target === undefined ? this.#lines.push(line) : this.#target.write(line));
    const destination = { write, flush: () => this.#target?.flush() };
    this.logger = createLogger({ format: 'text', verbosity: 0, destination, clock: systemClock, source: 'sandbox' });
  }

  writeTo(path: string): void {
    this.#target = openLogStream(openSync(path, 'a', 0o600));
    for (const line of this.#lines.splice(0)) this.#target.write(line);
  }
}
