import { backoffDelay } from '../pkg/time/index.ts';

/** How the whole state is asked for: as the beginning of a watch, in pages, or in one piece. */
export type ListMode = 'stream' | 'pages' | 'whole';

/** What to do next. */
export type Position =
  | { readonly at: 'unknown'; readonly list: ListMode }
  /** Everything up to this version has been passed on: a watch may go on from here. */
  | { readonly at: 'version'; readonly resourceVersion: string };

export interface ReflectorState {
  readonly position: Position;
  /** The server refuses to stream lists; it will not learn to while this process runs. */
  readonly streamRefused: boolean;
  /** How often in a row a streamed list has ended before it was complete. */
  readonly unfinishedStreams: number;
  /** How many delays there have been since the server was last well; decides the next one. */
  readonly delays: number;
  readonly lastTroubleMs: number;
}

export type Failure =
  /** The version to go on from is no longer kept. */
  | 'expired'
  /** The server has not come as far as the version asked for, or never will: restored from a backup. */
  | 'ahead'
  /** The server does not understand what it was asked. */
  | 'refused'
  /** The server is overloaded, cannot be reached, or has gone silent: what was asked can be asked again. */
  | 'unavailable'
  | 'other';

/** How an attempt to list or watch has ended. `resourceVersion`: as far as it came, if it came anywhere. */
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
/** As long without trouble, and the next trouble is a new one. */
const healthyAfterMs = 120_000;
/** A watch that the server ends sooner than this would, simply repeated, become a tight loop. */
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

/** Where to go on after an attempt, and how long to wait before. No sequence of outcomes leads to a tight loop. */
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
  // A server that is not there says nothing about streams. One that stays silent may not know them.
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
  // A list whose pages expire while they are read is larger than the server's memory is long: take it in one piece.
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

/** Happens to a healthy server, and is over with the next attempt: the first time nothing is gained by waiting. */
function isOrdinary(outcome: Outcome): boolean {
  return (
    outcome.type === 'closed' ||
    (outcome.type === 'failed' && (outcome.failure === 'expired' || outcome.failure === 'refused'))
  );
}
