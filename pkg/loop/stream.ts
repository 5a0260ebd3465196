import type { Clock } from '../time/index.ts';
import type { Loop } from './loop.ts';
import type { ObjectPath } from './object-page.ts';
import { PictureView } from './picture-view.ts';
import type { EventLine, Filter } from './protocol.ts';

/** Changes within this time are sent as one. */
const pictureMs = 250;
/** How often the state of the loop, and the page of an object, are sent. */
const stateMs = 1000;
const eventsMs = 3000;

export interface StreamDeps {
  readonly loop: Loop;
  readonly clock: Clock;
}

/**
 * Server-sent events. The reader asks for one message after the other, and each is computed when it is asked for: a browser
 * that falls behind gets fewer messages, and each of them is up to date.
 */
export async function* streamPicture(
  { loop, clock }: StreamDeps,
  filter: Filter,
  signal: AbortSignal,
): AsyncGenerator<string> {
  let view = new PictureView(filter);
  let caches = loop.caches;
  let stateAtMs = Number.NEGATIVE_INFINITY;
  while (!signal.aborted) {
    loop.look();
    if (loop.caches !== caches) view = new PictureView(filter); // another term as leader: other caches
    caches = loop.caches;
    const update = caches && view.update(caches);
    if (update !== undefined)
      yield 'picture' in update ? message('picture', update.picture) : message('changes', update.changes);
    const nowMs = clock.monotonic();
    if (nowMs - stateAtMs >= stateMs) {
      stateAtMs = nowMs;
      yield message('loop', loop.state());
    }
    await clock.sleep(pictureMs, signal).catch(() => undefined); // rejects only on abort, which the loop checks
  }
}

/** The page of one object, whenever it has changed. */
export async function* streamObject(
  { loop, clock }: StreamDeps,
  path: ObjectPath,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const unfollow = loop.follow(path);
  let sent = '';
  let events: readonly EventLine[] = [];
  let eventsAtMs = Number.NEGATIVE_INFINITY;
  try {
    while (!signal.aborted) {
      loop.look();
      loop.syncOnce(path);
      if (clock.monotonic() - eventsAtMs >= eventsMs) {
        events = await loop.eventsOf(path, signal).catch(() => events); // the next attempt follows
        eventsAtMs = clock.monotonic();
      }
      const page = loop.objectPage(path, events);
      const next = page === undefined ? '' : message('object', page);
      if (next !== sent && next !== '') yield next;
      sent = next;
      yield message('loop', loop.state());
      await clock.sleep(stateMs, signal).catch(() => undefined); // rejects only on abort, which the loop checks
    }
  } finally {
    unfollow();
  }
}

function message(event: string, data: unknown): string {
  return `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}
