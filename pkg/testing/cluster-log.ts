import type { ObjectKey } from '../api/index.ts';
import { createLogger, type Logger } from '../log/index.ts';
import { systemClock } from '../time/index.ts';

/** Warnings and errors of the controllers go to stderr, where the test runner shows them with their test. */
export function warningLogger(): Logger {
  const destination = { write: (line: string): void => void process.stderr.write(line), flush(): void {} };
  return quiet(createLogger({ format: 'text', verbosity: 0, destination, clock: systemClock, source: 'test-cluster' }));
}

function quiet(target: Logger): Logger {
  const nothing = (): void => {};
  return {
    error: (fields, message) => target.error(fields, message),
    warn: (fields, message) => target.warn(fields, message),
    info: nothing,
    verbose: nothing,
    debug: nothing,
    trace: nothing,
    child: (fields) => quiet(target.child(fields)),
  };
}

/** The last error of each object that its controller has not reconciled since, from the log of the controllers. */
export class ReconcileErrors {
  readonly #errors = new Map<ObjectKey, Map<string, unknown>>();

  /** The last errors by controller. */
  of(key: ObjectKey): readonly { readonly controller: string; readonly error: unknown }[] {
    return Array.from(this.#errors.get(key) ?? [], ([controller, error]) => ({ controller, error }));
  }

  /** A logger that passes everything on. */
  follow(target: Logger, bound: LoggedFields = {}): Logger {
    return {
      error: (fields, message) => {
        this.#record({ ...bound, ...fields });
        target.error(fields, message);
      },
      warn: (fields, message) => target.warn(fields, message),
      info: (fields, message) => target.info(fields, message),
      verbose: (fields, message) => target.verbose(fields, message),
      debug: (fields, message) => {
        this.#record({ ...bound, ...fields });
        target.debug(fields, message);
      },
      trace: (fields, message) => target.trace(fields, message),
      child: (fields) => this.follow(target.child(fields), { ...bound, ...fields }),
    };
  }

  /** Each reconcile is logged with its outcome, and with an error if it failed. */
  #record({ object, controller, outcome, err }: LoggedFields): void {
    if (typeof object !== 'string' || outcome === undefined) return;
    const key = object as ObjectKey;
    const errors = this.#errors.get(key) ?? new Map<string, unknown>();
    this.#errors.set(key, errors);
    if (err === undefined) errors.delete(String(controller));
    else errors.set(String(controller), err);
  }
}

interface LoggedFields {
  readonly object?: unknown;
  readonly controller?: unknown;
  readonly outcome?: unknown;
  readonly err?: unknown;
}
