import type { Clock } from '../time/index.ts';
import { createJsonLogger } from './json-logger.ts';
import type { Logger } from './logger.ts';
import type { LogStream } from './stream.ts';
import { createTextLogger } from './text-logger.ts';

export interface LoggerOptions {
  readonly format: 'text' | 'json';
  /** `-v`: 0 writes errors, warnings and info; 3 also verbose; 4 also debug; 5 also trace. A function is called for each line. */
  readonly verbosity: number | (() => number);
  readonly destination: LogStream;
  /** Gets all lines except errors. Default: `destination`. */
  readonly infoDestination?: LogStream | undefined;
  readonly clock: Pick<Clock, 'now'>;
  /** The name of the program in text lines. */
  readonly source?: string | undefined;
}

/**
 * Creates a logger. Credentials are redacted. Lines are written in the order they were logged. The lines of a child have
 * the child's fields.
 */
export function createLogger(options: LoggerOptions): Logger {
  const { format, verbosity, destination, infoDestination, clock, source } = options;
  const backend = {
    verbosity: typeof verbosity === 'number' ? () => verbosity : verbosity,
    nowMs: () => clock.now(),
    info: infoDestination ?? destination,
    error: destination,
  };
  return format === 'json' ? createJsonLogger(backend) : createTextLogger(backend, source ?? 'kube-controller-manager');
}
