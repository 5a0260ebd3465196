import { hostname } from 'node:os';

import type { ControllerDescriptor } from '../../pkg/controller/index.ts';
import type { Logger } from '../../pkg/log/index.ts';
import type { Environment } from '../../pkg/manager/index.ts';
import { systemClock, systemRandom } from '../../pkg/time/index.ts';
import { parseCommandLine } from '../kube-controller-manager/command.ts';
import { exitCodes, StartupError } from '../kube-controller-manager/exit-codes.ts';
import { checkControllerFlags, resolveOptions } from '../kube-controller-manager/options.ts';
import { run } from '../kube-controller-manager/run.ts';

export interface ManagerDeps {
  readonly controllers: readonly ControllerDescriptor[];
  readonly logger: Logger;
  readonly environment: Environment;
}

/** Runs the controller manager in this process, with the same code and flags as its own binary, until the abort. */
export async function runManager(argv: readonly string[], deps: ManagerDeps, signal: AbortSignal): Promise<void> {
  const line = parseCommandLine(argv, deps.controllers);
  if (line.kind !== 'run')
    throw new StartupError(
      exitCodes.usage,
      '--help and --version cannot be passed to the controller manager of a sandbox',
    );
  const options = resolveOptions(line.given, deps.controllers);
  checkControllerFlags(options);
  const { logger, environment } = deps;
  const { reportedVersion } = line;
  const runDeps = {
    clock: systemClock,
    random: systemRandom,
    logger,
    environment,
    hostname: hostname(),
    reportedVersion,
  };
  await run(options, runDeps, signal);
}
