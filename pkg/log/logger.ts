/** Constant messages, values as fields, errors under `err`, never whole objects. */
export interface Logger {
  error(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  info(fields: object, message: string): void;
  /** For changes in the cluster. Written at verbosity 3 and above. */
  verbose(fields: object, message: string): void;
  debug(fields: object, message: string): void;
  trace(fields: object, message: string): void;
  child(fields: object): Logger;
}

const nothing = (): void => {};

/** Writes nothing. */
export const silentLogger: Logger = {
  error: nothing,
  warn: nothing,
  info: nothing,
  verbose: nothing,
  debug: nothing,
  trace: nothing,
  child: () => silentLogger,
};
