import { pino } from 'pino';
import { verbosityOf } from './levels.ts';
import type { Logger } from './logger.ts';
import { scrubFields } from './scrub.ts';
import type { LogStream } from './stream.ts';

export interface LogBackend {
  /** May change at any time. A change applies to existing loggers and their children. */
  readonly verbosity: () => number;
  readonly nowMs: () => number;
  /** Gets warnings and lower levels. */
  readonly info: LogStream;
  /** Gets errors. */
  readonly error: LogStream;
}

/**
 * Writes one JSON object per line with the keys of Kubernetes' structured logs: `ts` (milliseconds since 1970), `v`,
 * `msg`, `err` and the fields. Kubernetes gives errors no `v` and has no warnings, so both have a `level` here.
 */
export function createJsonLogger(backend: LogBackend): Logger {
  const { verbosity, nowMs } = backend;
  const scrub = (fields: object): Record<string, unknown> =>
    scrubFields(fields, { stacks: verbosity() >= verbosityOf.debug });
  const root = pino(
    {
      base: null,
      level: 'trace',
      customLevels: { verbose: 25 }, // between pino's debug (20) and info (30)
      timestamp: () => `,"ts":${nowMs()}`,
      messageKey: 'msg',
      errorKey: 'err',
      formatters: { level: (level) => headOf(level), bindings: scrub, log: scrub },
    },
    splitByLevel(backend),
  );
  return gateByVerbosity(root, verbosity);
}

/** A child logger of pino keeps the level it was created with. Here a change of the verbosity applies to children too. */
function gateByVerbosity(target: pino.Logger<'verbose'>, verbosity: () => number): Logger {
  return {
    error: (fields, message) => target.error(fields, message),
    warn: (fields, message) => target.warn(fields, message),
    info: (fields, message) => target.info(fields, message),
    verbose(fields, message) {
      if (verbosity() >= verbosityOf.verbose) target.verbose(fields, message);
    },
    debug(fields, message) {
      if (verbosity() >= verbosityOf.debug) target.debug(fields, message);
    },
    trace(fields, message) {
      if (verbosity() >= verbosityOf.trace) target.trace(fields, message);
    },
    child: (fields) => gateByVerbosity(target.child(fields), verbosity),
  };
}

function headOf(level: string): object {
  switch (level) {
    case 'error':
      return { level };
    case 'warn':
      return { level, v: verbosityOf.warn };
    case 'verbose':
      return { v: verbosityOf.verbose };
    case 'debug':
      return { v: verbosityOf.debug };
    case 'trace':
      return { v: verbosityOf.trace };
    default:
      return { v: verbosityOf.info };
  }
}

function splitByLevel({ info, error }: LogBackend): pino.DestinationStream {
  if (info === error) return info;
  const errorLevel = pino.levels.values['error'] ?? 50;
  const stream = {
    // With this property, pino sets `lastLevel` to the level of each line before it writes the line.
    [Symbol.for('pino.metadata')]: true,
    lastLevel: 0,
    write(line: string): void {
      (stream.lastLevel >= errorLevel ? error : info).write(line);
    },
  };
  return stream;
}
