import type { ObjectKey } from '../api/index.ts';

/** Moves one object towards its desired state. An error requeues the key with back-off. */
export type Reconcile<K = ObjectKey> = (key: K, signal: AbortSignal) => Promise<ReconcileResult>;

export interface ReconcileResult {
  /** Requeue the key after this long, even if nothing changes until then. */
  readonly requeueAfterMs?: number | undefined;
}

/** `conflict`: another writer was first. That is expected, and not counted as an error. */
export type ReconcileOutcome = 'success' | 'requeue_after' | 'conflict' | 'error' | 'terminal_error';

/** Called after every reconcile. The process turns this into metrics. */
export interface ReconcileObserver {
  finished(controllerName: string, outcome: ReconcileOutcome, durationMs: number): void;
}

/**
 * A refusal that a retry alone cannot resolve, such as a missing permission. It is retried with back-off like any
 * error, but logged at the debug level: it may last for days.
 */
export class RefusedError extends Error {
  override readonly name = 'RefusedError';
  readonly reason = 'Refused';
}

/** An error that a retry cannot fix. It is logged once and not retried until the object changes. */
export class TerminalError extends Error {
  override readonly name = 'TerminalError';
  readonly reason = 'Terminal';
}
