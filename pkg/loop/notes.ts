import type { Kind } from '../api/index.ts';
import type { FinishedRequest, RefusedRequest } from '../client/index.ts';
import type { ReadNote, Trace } from '../controller/index.ts';
import { describePlan } from './describe-plan.ts';
import type { RequestLine } from './protocol.ts';

/** So many lines of each sort are kept. A reconcile of a thousand pods has a thousand requests, much the same. */
const mostNotes = 40;

/** The notes of one reconcile, in words, so that they keep no object alive. */
export class Notes implements Trace {
  readonly reads: string[] = [];
  readonly plan: string[] = [];
  readonly requests: RequestLine[] = [];
  readonly #seen = new Set<string>();

  read({ kind }: Kind, note: ReadNote): void {
    if (this.reads.length >= mostNotes) return;
    const line = 'key' in note ? describeObject(kind, note) : describeList(kind, note);
    if (this.#seen.has(line)) return; // rules read the same object more than once
    this.#seen.add(line);
    this.reads.push(line);
  }

  decided(plan: unknown, about?: Kind): void {
    if (this.plan.length >= mostNotes) return;
    const lines = describePlan(plan, about?.kind);
    this.plan.push(...(lines.length === 0 ? ['change nothing'] : lines));
  }

  requested({ attempted, code, durationMs }: FinishedRequest): void {
    if (this.requests.length < mostNotes) this.requests.push({ attempted, code, durationMs });
  }

  /** Requests run concurrently: another one may have finished since. */
  refused({ attempted, message }: RefusedRequest): void {
    const line = this.requests.findLast(
      (each) => each.attempted === attempted && each.message === undefined && /^[345]/.test(each.code),
    );
    if (line !== undefined) this.requests.splice(this.requests.lastIndexOf(line), 1, { ...line, message });
  }
}

const uid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The uid of an owner says nothing to people. */
function describeList(kind: string, { index, value, count }: Extract<ReadNote, { index: string }>): string {
  const found = `${count} × ${kind} by ${index}`;
  return uid.test(value) ? found : `${found} ${value}`;
}

function describeObject(kind: string, { key, resourceVersion }: Extract<ReadNote, { key: string }>): string {
  return resourceVersion === undefined
    ? `${kind} ${key}: not in the cache`
    : `${kind} ${key} at version ${resourceVersion}`;
}
