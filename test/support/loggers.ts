import type { Logger } from '../../pkg/log/index.ts';

export { silentLogger } from '../../pkg/log/index.ts';

export interface LogLine {
  readonly level: 'error' | 'warn' | 'info' | 'verbose' | 'debug' | 'trace';
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
  /** Fields that the child logger already has: a log line would have them twice. */
  readonly repeated: readonly string[];
}

/** Records the lines of the logger and its children, in order. */
export class RecordingLogger implements Logger {
  readonly lines: LogLine[];
  readonly #bound: Readonly<Record<string, unknown>>;

  constructor(lines: LogLine[] = [], bound: Readonly<Record<string, unknown>> = {}) {
    this.lines = lines;
    this.#bound = bound;
  }

  error(fields: object, message: string): void {
    this.#record('error', fields, message);
  }

  warn(fields: object, message: string): void {
    this.#record('warn', fields, message);
  }

  info(fields: object, message: string): void {
    this.#record('info', fields, message);
  }

  verbose(fields: object, message: string): void {
    this.#record('verbose', fields, message);
  }

  debug(fields: object, message: string): void {
    this.#record('debug', fields, message);
  }

  trace(fields: object, message: string): void {
    this.#record('trace', fields, message);
  }

  child(fields: object): RecordingLogger {
    return new RecordingLogger(this.lines, { ...this.#bound, ...fields });
  }

  #record(level: LogLine['level'], fields: object, message: string): void {
    const repeated = Object.keys(fields).filter((name) => Object.hasOwn(this.#bound, name));
    this.lines.push({ level, message, fields: { ...this.#bound, ...fields }, repeated });
  }
}
