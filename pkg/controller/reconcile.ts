import type { WorkQueue } from '../../workqueue/index.ts';
import type { ObjectKey } from '../api/index.ts';
import { findError } from '../client/index.ts';
import type { Trace } from './trace.ts';

/** Moves one object towards its desired state. An error requeues the key with back-off. */
export type Reconcile<K = ObjectKey> = (key: K, signal: AbortSignal) => Promise<ReconcileResult>;

export interface ReconcileResult {
  /** Requeue the key after this long, even if nothing changes until then. */
  readonly requeueAfterMs?: number | undefined;
}

/** `conflict`: another writer was first. That is expected, and not counted as an error. */
export type ReconcileOutcome = 'success' | 'requeue_after' | 'conflict' | 'error' | 'terminal_error';

/** Follows the reconciles of a process. The process turns this into metrics, and shows it to people who look. */
export interface ReconcileObserver {
  /** Workers begin to take keys from a queue. */
  working?(work: ObservedWork): void;
  /** Called before every reconcile. Undefined while nobody looks: then nothing but the end is recorded. */
  begin?(work: ObservedWork, key: unknown): Trace | undefined;
  finished(reconcile: FinishedReconcile): void;
}

export interface ObservedWork {
  /** The controller's name. */
  readonly name: string;
  readonly queue: Pick<WorkQueue<unknown>, 'add' | 'find' | 'inspect' | 'length'>;
  /** The cache of the objects that keys name, if there is one. */
  readonly primary?: object | undefined;
}

export interface FinishedReconcile {
  readonly work: ObservedWork;
  readonly key: unknown;
  readonly outcome: ReconcileOutcome;
  readonly durationMs: number;
  readonly error?: unknown;
  readonly requeueAfterMs?: number | undefined;
  readonly trace?: Trace | undefined;
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

/** Whether an error is terminal, or says what was attempted when a terminal one was thrown. */
export const isTerminal = (error: unknown): boolean => findError(error, TerminalError) !== undefined;
