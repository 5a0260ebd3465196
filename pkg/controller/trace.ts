import { AsyncLocalStorage } from 'node:async_hooks';

import type { Kind } from '../api/index.ts';

/** Takes notes of one reconcile: what it reads, decides and requests. */
export interface Trace {
  read(kind: Kind, what: ReadNote): void;
  /** `about`: the kind of the objects that the plan counts. */
  decided(plan: unknown, about?: Kind): void;
}

/** One object, or the objects that an index found for a value. */
export type ReadNote =
  | { readonly key: string; readonly resourceVersion: string | undefined }
  | { readonly index: string; readonly value: string; readonly count: number };

/**
 * The trace of the reconcile that runs. It follows the reconcile through its awaits, so that a rule deep inside can hand
 * its plan over without an argument for it. While nobody looks, no reconcile has a trace, and this costs some 10 ns a plan.
 */
const current = new AsyncLocalStorage<Trace>();

export function currentTrace(): Trace | undefined {
  return current.getStore();
}

export function runTraced<R>(trace: Trace, run: () => R): R {
  return current.run(trace, run);
}

/** Notes a plan for people who look, and returns it. `about`: the kind of the objects that the plan counts. */
export function decided<P>(plan: P, about?: Kind): P {
  current.getStore()?.decided(plan, about);
  return plan;
}
