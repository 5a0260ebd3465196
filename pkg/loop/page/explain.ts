import type { ConditionLine, ItemState, ObjectPage, ReconcileRecord, Wait } from '../protocol.ts';
import { endSentence, formatDuration, formatSeconds } from './words.ts';

/** Why an object is in its state, in one sentence. */
export interface Explanation {
  readonly state: ItemState;
  readonly sentence: string;
}

/**
 * The first reason that applies, the most specific first: a refused write explains a missed deadline, and a missed
 * deadline explains more than a condition that is only a consequence.
 */
export function explain(page: ObjectPage, elapsedMs: number): Explanation {
  const bad = (sentence: string): Explanation => ({ state: 'bad', sentence: endSentence(sentence) });
  if (!page.exists)
    return { state: 'ended', sentence: 'The cache has no such object. It was deleted, or never existed.' };
  const cause = page.conditions.find(isRefusal) ?? page.conditions.find(isMissedDeadline);
  if (cause !== undefined) return bad(sentenceOf(cause));
  const failure = lastFailure(page.history);
  if (failure !== undefined) return bad(`${failure.controller} failed: ${failure.error ?? failure.outcome}`);
  if (page.state === 'bad') {
    const condition = page.conditions.find(isUnmet);
    return bad(condition === undefined ? page.text : sentenceOf(condition));
  }
  const { state } = page;
  const { generation = 0, observedGeneration = generation } = page;
  if (observedGeneration < generation) {
    const sentence = `Its controller has not yet observed generation ${generation}: its status is of ${observedGeneration}.`;
    return { state: 'busy', sentence };
  }
  const [wait] = page.waits;
  if (state === 'busy' && wait !== undefined) {
    return { state, sentence: endSentence(`${page.text}. ${describeWait(wait, elapsedMs)}`) };
  }
  return { state, sentence: endSentence(page.text) };
}

/** True is bad news. */
const negative = /Failure|Failed|Pressure|Unavailable$|DisruptionTarget|Terminating|FailureTarget/;

function isRefusal({ type, status }: ConditionLine): boolean {
  return status === 'True' && (type === 'ReplicaFailure' || type === 'Failed');
}

function isMissedDeadline({ type, status }: ConditionLine): boolean {
  return type === 'Progressing' && status === 'False';
}

/** The status of a condition is not the one that is hoped for. */
export function isUnmet({ type, status }: ConditionLine): boolean {
  return negative.test(type) ? status === 'True' : status !== 'True';
}

function sentenceOf({ type, status, reason, message }: ConditionLine): string {
  const said = message === '' ? `${type} is ${status}` : message;
  return reason === '' ? said : `${reason}: ${said}`;
}

/** Of each controller, only the newest reconcile that has ended: an error that a later reconcile has cured is history. */
function lastFailure(history: readonly ReconcileRecord[]): ReconcileRecord | undefined {
  const newest = new Map<string, ReconcileRecord>();
  for (const record of history) {
    if (record.outcome !== 'running' && !newest.has(record.controller)) newest.set(record.controller, record);
  }
  return [...newest.values()].find(({ outcome }) => outcome === 'error' || outcome === 'terminal_error');
}

export function describeWait({ controller, state, ms, retries }: Wait, elapsedMs: number): string {
  switch (state) {
    case 'waiting':
      return `In the queue of ${controller}`;
    case 'running':
      return `${controller} reconciles it, since ${formatDuration(ms + elapsedMs)}`;
    case 'delayed': {
      const left = Math.ceil((ms - elapsedMs) / 1000);
      const due = left > 0 ? `in ${formatSeconds(left)}` : 'now';
      if (retries === 0) return `Requeued by ${controller}: due ${due}`;
      return `${controller} retries ${due}, after ${retries} failure${retries === 1 ? '' : 's'} in a row`;
    }
  }
}
