/** Constant messages, values as fields, errors under `err`, never whole objects. */
export interface Logger {
  error(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  info(fields: object, message: string): void;
  /** Changes in the cluster. Written from verbosity 3 on. */
  verbose(fields: object, message: string): void;
  debug(fields: object, message: string): void;
  trace(fields: object, message: string): void;
  child(fields: object): Logger;
}
