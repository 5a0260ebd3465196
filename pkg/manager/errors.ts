/**
 * - `InvalidOptions`: an option is wrong; the same call fails again.
 * - `UnusableConfiguration`: a file, key, certificate or credential cannot be used.
 * - `ApiServerUnavailable`: the API server cannot be reached, is not trusted, or does not accept the credentials.
 * - `ControllerNotCreated`: the `create` of a controller threw.
 * - `ControllersStuck`: controllers did not end within the shutdown timeout.
 */
export type ManagerErrorReason =
  | 'InvalidOptions'
  | 'UnusableConfiguration'
  | 'ApiServerUnavailable'
  | 'ControllerNotCreated'
  | 'ControllersStuck';

/** Ends a manager. The message is one line. */
export class ManagerError extends Error {
  override readonly name = 'ManagerError';
  readonly reason: ManagerErrorReason;

  constructor(reason: ManagerErrorReason, message: string, options?: ErrorOptions) {
    super(message.replaceAll(/\s*\n\s*/g, ' '), options);
    this.reason = reason;
  }
}
