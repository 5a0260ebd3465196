import { hostname } from 'node:os';

import type { ControllerDescriptor } from '../../pkg/controller/index.ts';
import { LeaderLostError } from '../../pkg/leaderelection/index.ts';
import type { Logger } from '../../pkg/log/index.ts';
import type { Loop } from '../../pkg/loop/index.ts';
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
  readonly loop?: Loop | undefined;
}

/** A kubelet restarts a static pod sooner at first, and later each time. In a sandbox, people wait for it. */
const restartMs = 1000;

/**
 * Runs the controller manager in this process, with the same code and flags as its own binary, until the abort. If it loses
 * its lease, it starts again, as its pod would.
 */
export async function runManager(argv: readonly string[], deps: ManagerDeps, signal: AbortSignal): Promise<void> {
  const line = parseCommandLine(argv, deps.controllers);
  if (line.kind !== 'run')
    throw new StartupError(
      exitCodes.usage,
      '--help and --version cannot be passed to the controller manager of a sandbox',
    );
  const options = resolveOptions(line.given, deps.controllers);
  checkControllerFlags(options);
  const { logger, environment, loop } = deps;
  const { reportedVersion } = line;
  const runDeps = {
    clock: systemClock,
    random: systemRandom,
    logger,
    environment,
    hostname: hostname(),
    reportedVersion,
    loop,
    exitsOnFailure: false,
  };
  while (!signal.aborted) {
    try {
      await run(options, runDeps, signal);
    } catch (error) {
      if (!(error instanceof LeaderLostError)) throw error;
      logger.warn({ err: error }, 'the manager lost its lease, and starts again');
      await systemClock.sleep(restartMs, signal).catch(() => undefined); // rejects only on abort, which the loop checks
    }
  }
}
