import { LRUCache } from 'lru-cache';

import { TokenBucket } from '../time/index.ts';
import type { EventDraft } from './event-object.ts';

const cacheSize = 4096;
/** Events that differ only in their message are combined, starting with this many messages. */
const similarLimit = 10;
/** Similar events are combined while the pause between two of them is at most this long. */
const similarWindowMs = 600_000;
/** Allows a source 25 events of one type about one object at once, then one every five minutes. */
const spamLimit = { qps: 1 / 300, burst: 25 };
const combinedPrefix = '(combined from similar events): ';

/** The write that an event needs. */
export type Correlation =
  | { readonly kind: 'create'; readonly event: EventDraft }
  /** The event exists: increase its count. `event` is the complete event, to create again if it has expired. */
  | { readonly kind: 'patch'; readonly event: EventDraft; readonly patch: EventPatch }
  /** Too many events about this object: don't write. */
  | { readonly kind: 'skip' };

export interface EventPatch {
  readonly count: number;
  readonly lastTimestamp: string;
  readonly message: string | undefined;
}

/** The recent events. Limited in size: an event that has been evicted is written as a new one. */
export interface CorrelatorState {
  readonly similar: LRUCache<string, { readonly messages: Set<string>; readonly lastMs: number }>;
  readonly written: LRUCache<
    string,
    Pick<EventDraft, 'count' | 'firstTimestamp'> & { readonly name: string | undefined }
  >;
  readonly spam: LRUCache<string, TokenBucket>;
}

export function createCorrelatorState(): CorrelatorState {
  // Every entry has the size 1: with `maxSize` a cache grows with its entries, with `max` it takes 0.1 MB from the start.
  const limits = { maxSize: cacheSize, sizeCalculation: () => 1 };
  return { similar: new LRUCache(limits), written: new LRUCache(limits), spam: new LRUCache(limits) };
}

/** Decides how to write an event, and records it in `state`. `nowMs` is monotonic. */
export function correlate(state: CorrelatorState, event: EventDraft, nowMs: number): Correlation {
  const { event: combined, key } = combineSimilar(state, event, nowMs);
  const correlation = countUp(state, combined, key);
  return isSpam(state, event, nowMs) ? { kind: 'skip' } : correlation;
}

function combineSimilar(
  state: CorrelatorState,
  event: EventDraft,
  nowMs: number,
): { readonly event: EventDraft; readonly key: string } {
  const similarKey = keyFrom(sourceAndObject(event), event.reason, event.reportingComponent, event.reportingInstance);
  const known = state.similar.get(similarKey);
  const messages = known !== undefined && nowMs - known.lastMs <= similarWindowMs ? known.messages : new Set<string>();
  messages.add(event.message ?? '');
  state.similar.set(similarKey, { messages, lastMs: nowMs });
  if (messages.size < similarLimit) {
    const { fieldPath } = event.involvedObject;
    return { event, key: keyFrom(sourceAndObject(event), event.reason, fieldPath, event.message) };
  }
  const [oldest = ''] = messages;
  messages.delete(oldest); // keeps the set at its limit, so that the next message is combined too
  const { reportingComponent: _component, reportingInstance: _instance, ...rest } = event;
  return { event: { ...rest, message: combinedPrefix + (event.message ?? '') }, key: similarKey };
}

function countUp(state: CorrelatorState, event: EventDraft, key: string): Exclude<Correlation, { kind: 'skip' }> {
  const before = state.written.get(key);
  if (before === undefined) {
    state.written.set(key, { count: 1, firstTimestamp: event.firstTimestamp, name: event.metadata.name });
    return { kind: 'create', event };
  }
  const { firstTimestamp, name } = before;
  const count = before.count + 1;
  state.written.set(key, { count, firstTimestamp, name });
  const { lastTimestamp, message } = event;
  return {
    kind: 'patch',
    event: { ...event, metadata: { ...event.metadata, name }, firstTimestamp, count },
    patch: { count, lastTimestamp, message: message === '' ? undefined : message },
  };
}

function isSpam(state: CorrelatorState, event: EventDraft, nowMs: number): boolean {
  const key = sourceAndObject(event);
  const bucket = state.spam.get(key) ?? new TokenBucket(spamLimit);
  state.spam.set(key, bucket);
  return !bucket.tryTake(nowMs);
}

function sourceAndObject({ source, involvedObject, type }: EventDraft): string {
  const { kind, namespace, name, uid, apiVersion } = involvedObject;
  return keyFrom(source?.component, source?.host, kind, namespace, name, uid, apiVersion, type);
}

function keyFrom(...parts: readonly (string | undefined)[]): string {
  return parts.join('\0');
}
