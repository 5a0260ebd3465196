import type { ObjectKey } from '../api/index.ts';

/** Brings one object closer to its desired state. Throwing means: again later, with back-off. */
export type Reconcile<K = ObjectKey> = (key: K, signal: AbortSignal) => Promise<ReconcileResult>;

export interface ReconcileResult {
  /** Look again after this long, although nothing may have changed by then. */
  readonly requeueAfterMs?: number | undefined;
}

/** `conflict`: someone else wrote first, which is everyday life and no failure. */
export type ReconcileOutcome = 'success' | 'requeue_after' | 'conflict' | 'error' | 'terminal_error';

/** Told of every reconcile that ended: the process turns this into metrics. */
export interface ReconcileObserver {
  finished(controllerName: string, outcome: ReconcileOutcome, durationMs: number): void;
}

/** A failure that trying again cannot cure: logged once, not retried until the object changes. */
export class TerminalError extends Error {
  override readonly name = 'TerminalError';
  readonly reason = 'Terminal';
}
