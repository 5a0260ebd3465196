import { backoffDelay } from '../pkg/time/index.ts';

/** How the initial list is read: as the beginning of a watch, in pages, or in one piece. */
export type ListMode = 'stream' | 'pages' | 'whole';

/** What to do next. */
export type Position =
  | { readonly at: 'unknown'; readonly list: ListMode }
  /** Everything up to this version has been passed on. A watch may continue from here. */
  | { readonly at: 'version'; readonly resourceVersion: string };

export interface ReflectorState {
  readonly position: Position;
  /** The server refuses to stream lists. This does not change while the process runs. */
  readonly streamRefused: boolean;
  /** How often in a row a streamed list has ended before it was complete. */
  readonly unfinishedStreams: number;
  /** Delays since the server was last healthy. They decide the next delay. */
  readonly delays: number;
  readonly lastTroubleMs: number;
}

export type Failure =
  /** The server no longer keeps the version to continue from. */
  | 'expired'
  /** The server has not reached the requested version. A server restored from a backup may never reach it. */
  | 'ahead'
  /** The server does not understand the request. */
  | 'refused'
  /** The server is overloaded, unreachable or silent. The same request can be repeated. */
  | 'unavailable'
  | 'other';

/** How an attempt to list or watch ended. `resourceVersion`: the last version that it reached, if any. */
export type Outcome =
  | { readonly type: 'listed'; readonly resourceVersion: string }
  | { readonly type: 'closed'; readonly resourceVersion: string | undefined }
  | { readonly type: 'failed'; readonly failure: Failure; readonly resourceVersion: string | undefined };

export interface Attempt {
  readonly outcome: Outcome;
  readonly lastedMs: number;
  /** Monotonic. */
  readonly nowMs: number;
  /** From 0 up to 1. */
  readonly random: number;
}

export interface Step {
  readonly state: ReflectorState;
  readonly delayMs: number;
}

/** client-go's numbers: a server in trouble sees each informer about once in 45 seconds. */
const backoff = { baseMs: 800, maxMs: 30_000, jitter: 1 };
/** After this long without a failure, back-off starts again. */
const healthyAfterMs = 120_000;
/** Repeating a watch that the server ends sooner than this would be a tight loop. */
const shortMs = 1000;
/** A server that leaves streamed lists unfinished this often is asked for pages. */
const unfinishedLimit = 2;

export const initialState: ReflectorState = {
  position: { at: 'unknown', list: 'stream' },
  streamRefused: false,
  unfinishedStreams: 0,
  delays: 0,
  lastTroubleMs: -Infinity,
};

/** Where to continue after an attempt, and the delay before. No sequence of outcomes leads to a tight loop. */
export function planNext(state: ReflectorState, attempt: Attempt): Step {
  const listing = planListing(state, attempt);
  return pace({ ...state, ...listing, position: planPosition(state, listing, attempt.outcome) }, attempt);
}

function planListing(
  { position, streamRefused, unfinishedStreams }: ReflectorState,
  { outcome, lastedMs }: Attempt,
): Pick<ReflectorState, 'streamRefused' | 'unfinishedStreams'> {
  if (outcome.resourceVersion !== undefined) return { streamRefused, unfinishedStreams: 0 };
  if (position.at !== 'unknown' || position.list !== 'stream') return { streamRefused, unfinishedStreams };
  const failure = outcome.type === 'failed' ? outcome.failure : undefined;
  // An unreachable server says nothing about streams. A silent one may not support them.
  const neverBegan = failure === 'unavailable' && lastedMs < shortMs;
  return {
    streamRefused: streamRefused || failure === 'refused',
    unfinishedStreams: neverBegan ? unfinishedStreams : unfinishedStreams + 1,
  };
}

function planPosition(
  { position }: ReflectorState,
  listing: Pick<ReflectorState, 'streamRefused' | 'unfinishedStreams'>,
  outcome: Outcome,
): Position {
  const reached = outcome.resourceVersion ?? (position.at === 'version' ? position.resourceVersion : undefined);
  const canGoOn = outcome.type !== 'failed' || outcome.failure === 'unavailable';
  if (canGoOn && reached !== undefined) return { at: 'version', resourceVersion: reached };
  // The pages of a very large list can expire while they are read. One large answer cannot.
  const pagesExpired =
    position.at === 'unknown' &&
    position.list === 'pages' &&
    outcome.type === 'failed' &&
    outcome.failure === 'expired';
  if (pagesExpired) return { at: 'unknown', list: 'whole' };
  const canStream = !listing.streamRefused && listing.unfinishedStreams < unfinishedLimit;
  return { at: 'unknown', list: canStream ? 'stream' : 'pages' };
}

function pace(state: ReflectorState, { outcome, lastedMs, nowMs, random }: Attempt): Step {
  const delays = nowMs - state.lastTroubleMs >= healthyAfterMs ? 0 : state.delays;
  if (outcome.type === 'listed') return { state, delayMs: 0 };
  if (outcome.type === 'closed' && lastedMs >= shortMs) return { state, delayMs: 0 };
  const next = { ...state, delays: delays + 1, lastTroubleMs: nowMs };
  if (delays === 0 && isOrdinary(outcome)) return { state: next, delayMs: 0 };
  return { state: next, delayMs: backoffDelay(backoff, Math.max(0, delays - 1), random) };
}

/** Failures that a healthy server has, too. The next attempt usually works, so the first one needs no delay. */
function isOrdinary(outcome: Outcome): boolean {
  return (
    outcome.type === 'closed' ||
    (outcome.type === 'failed' && (outcome.failure === 'expired' || outcome.failure === 'refused'))
  );
}
