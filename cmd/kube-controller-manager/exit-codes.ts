/**
 * How the process can end, for whoever starts it again.
 *
 * 1 is what the Go binary gives for everything, so only what an operator should tell apart has a number of its own.
 */
export const exitCodes = {
  /** Asked to stop, and everything was put away. */
  ok: 0,
  /** The lease was lost, or something failed while running. A new start may well work. */
  failed: 1,
  /** A flag, gate, controller name or configuration field is wrong. A new start fails again until it is corrected. */
  usage: 2,
  /** A file, key, certificate, credential or port that the flags point at cannot be used. */
  environment: 3,
  /** The API server cannot be reached, is not trusted or does not accept the credentials. */
  apiServer: 4,
  /** Controllers did not finish within --controller-shutdown-timeout. */
  shutdownTimeout: 5,
  /** A second signal ended the process before it was done: 128 plus the number of SIGINT, as shells report it. */
  interrupted: 130,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

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
