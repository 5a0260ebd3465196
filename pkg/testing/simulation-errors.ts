import type { ObjectKey } from '../api/index.ts';
import { findError, isInvalidName } from '../client/index.ts';
import type { Logger } from '../log/index.ts';
import { silentLogger } from '../log/index.ts';
import { isTerminal, type ReconcileObserver } from '../controller/index.ts';
import { DefinitionError } from '../operator/index.ts';

/** An error of a reconcile, or of a `map`, a predicate or an index of the controller. */
export interface SimulatedFailure {
  /** Absent for an error that is not one of a reconcile. */
  readonly object?: ObjectKey | undefined;
  readonly error: unknown;
}

/** A reconcile failed by a mistake in the program, which no retry corrects. The cause is the error. */
export class SimulationError extends Error {
  override readonly name = 'SimulationError';
  readonly reason = 'ProgrammingError';
}

/** The errors of a simulation. Mistakes that the test never looks at fail it. */
export class SimulationErrors {
  readonly #failures: SimulatedFailure[] = [];
  /** The failures before this one are known to the test. */
  #known = 0;

  readonly observer: ReconcileObserver = {
    finished: ({ key, outcome, error }) => {
      if (outcome === 'error' || outcome === 'terminal_error') this.#failures.push({ object: key as ObjectKey, error });
    },
  };

  /** Gets the errors of event handlers, which are only logged. */
  readonly logger: Logger = {
    ...silentLogger,
    error: (fields) => {
      if ('err' in fields) this.#failures.push({ error: fields.err });
    },
    child: () => this.logger,
  };

  /** All failures so far. The test has looked at them. */
  read(): readonly SimulatedFailure[] {
    this.#known = this.#failures.length;
    return [...this.#failures];
  }

  /** Throws the first mistake that the test does not know, once. */
  throwUnread(): void {
    const mistake = this.#failures.slice(this.#known).find(({ error }) => isMistake(error));
    this.#known = this.#failures.length;
    if (mistake === undefined) return;
    const { object, error } = mistake;
    const what = object === undefined ? 'an event handler' : `the reconcile of ${object}`;
    throw new SimulationError(`${what} failed: ${String(error)}`, { cause: error });
  }
}

/** Errors that the author has wrapped or made terminal are handled. Those of the library's checks are mistakes anyway. */
function isMistake(error: unknown): boolean {
  if (isTerminal(error)) return false;
  return isErrorOfLanguage(error) || findError(error, DefinitionError) !== undefined || isInvalidName(error);
}

function isErrorOfLanguage(error: unknown): boolean {
  if (error instanceof ReferenceError || error instanceof RangeError) return true;
  // The TypeErrors of fetch have a cause: the connection. Those of Node.js about values, such as a URL, have a code.
  return error instanceof TypeError && error.cause === undefined && !('code' in error);
}
