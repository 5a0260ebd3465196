import { interrupted, type ManagerErrorReason } from '../../pkg/manager/index.ts';

/**
 * The exit codes of the process, described in docs/process.md.
 *
 * The Go binary always exits with 1. A separate code exists only where an operator has to react differently.
 */
export const exitCodes = {
  /** Stopped by a signal, after an orderly shutdown. */
  ok: 0,
  /** The lease was lost, or something failed while running. A restart may succeed. */
  failed: 1,
  /** A flag, gate, controller name or configuration field is wrong. A restart fails until it is corrected. */
  usage: 2,
  /** A file, key, certificate, credential or port that a flag names cannot be used. */
  environment: 3,
  /** The API server cannot be reached, is not trusted, or does not accept the credentials. */
  apiServer: 4,
  /** Controllers did not finish within --controller-shutdown-timeout. */
  shutdownTimeout: 5,
  /** A second signal ended the process during shutdown. */
  interrupted,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

export const exitCodeOf: Readonly<Record<ManagerErrorReason, ExitCode>> = {
  InvalidOptions: exitCodes.usage,
  UnusableConfiguration: exitCodes.environment,
  ApiServerUnavailable: exitCodes.apiServer,
  ControllerNotCreated: exitCodes.environment,
  ControllersStuck: exitCodes.shutdownTimeout,
};

/** Ends the process with one line on stderr: its message. */
export class StartupError extends Error {
  override readonly name = 'StartupError';
  readonly reason = 'StartupFailed';
  readonly exitCode: ExitCode;

  constructor(exitCode: ExitCode, message: string, options?: ErrorOptions) {
    super(message.replaceAll(/\s*\n\s*/g, ' '), options);
    this.exitCode = exitCode;
  }
}
