import { hostname } from 'node:os';

import { GracefulStop, type ControllerDescriptor } from '../../pkg/controller/index.ts';
import { readFlag, type GivenFlags } from '../../pkg/flags/index.ts';
import { LeaderLostError } from '../../pkg/leaderelection/index.ts';
import { createLogger, openLogStream } from '../../pkg/log/index.ts';
import { ManagerError, type Environment } from '../../pkg/manager/index.ts';
import { ServingError } from '../../pkg/server/index.ts';
import { systemClock, systemRandom } from '../../pkg/time/index.ts';
import { parseCommandLine, type CommandLine } from './command.ts';
import { readConfigFile } from './config-file.ts';
import { exitCodeOf, exitCodes, StartupError, type ExitCode } from './exit-codes.ts';
import { collectFlags, processFlags } from './flags/index.ts';
import { checkControllerFlags, resolveOptions } from './options.ts';
import { run } from './run.ts';

export interface ProgramDeps {
  readonly environment: Environment;
  readonly stdout: (text: string) => void;
  readonly stderr: (text: string) => void;
  readonly controllers: readonly ControllerDescriptor[];
}

/** Runs one command line until it ends. An error is one line on stderr and an exit code. */
export async function runProgram(argv: readonly string[], deps: ProgramDeps, signal: AbortSignal): Promise<ExitCode> {
  try {
    const line = parseCommandLine(argv, deps.controllers);
    if (line.kind === 'run') return await start(line, deps, signal);
    deps.stdout(line.text);
    return exitCodes.ok;
  } catch (error) {
    if (signal.aborted && (error === signal.reason || error instanceof GracefulStop)) return exitCodes.ok;
    const { exitCode, message } = explain(error);
    deps.stderr(`kube-controller-manager: ${message}\n`);
    return exitCode;
  }
}

async function start(line: CommandLine & { kind: 'run' }, deps: ProgramDeps, signal: AbortSignal): Promise<ExitCode> {
  const { reportedVersion } = line;
  const options = resolveOptions(await withConfigFile(line.given, deps), deps.controllers);
  checkControllerFlags(options);
  const { flags } = options;
  const log = openLogStream(2);
  const splitStream = flags[flags['logging-format'] === 'json' ? 'log-json-split-stream' : 'log-text-split-stream'];
  let verbosity = flags.v;
  const logger = createLogger({
    format: flags['logging-format'] === 'json' ? 'json' : 'text',
    verbosity: () => verbosity,
    destination: log,
    infoDestination: splitStream ? openLogStream(1) : undefined,
    clock: systemClock,
  });
  try {
    const exitCode = await run(
      options,
      {
        clock: systemClock,
        random: systemRandom,
        logger,
        environment: deps.environment,
        hostname: hostname(),
        reportedVersion,
        setVerbosity(value) {
          verbosity = readFlag('v', processFlags.v, [value]);
          return `successfully set klog.logging.verbosity to ${value}`;
        },
      },
      signal,
    );
    logger.info({ exitCode }, 'stopped');
    return exitCode;
  } finally {
    log.flush();
  }
}

/** A flag on the command line overrides the file. */
async function withConfigFile(given: GivenFlags, { controllers }: ProgramDeps): Promise<GivenFlags> {
  const path = given.get('config')?.at(-1) ?? '';
  return path === '' ? given : new Map([...(await readConfigFile(path, collectFlags(controllers))), ...given]);
}

/** What to tell the user, and the exit code. */
export function explain(error: unknown): { readonly exitCode: ExitCode; readonly message: string } {
  if (error instanceof StartupError) return error;
  if (error instanceof ManagerError) return { exitCode: exitCodeOf[error.reason], message: error.message };
  if (error instanceof ServingError) return { exitCode: exitCodes.environment, message: error.message };
  if (error instanceof LeaderLostError) return { exitCode: exitCodes.failed, message: error.message };
  return {
    exitCode: exitCodes.failed,
    message: error instanceof Error ? (error.stack ?? error.message) : String(error),
  };
}
