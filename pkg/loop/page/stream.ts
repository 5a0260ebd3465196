import { useEffect, useRef, useState } from 'preact/hooks';

import type { Changes, Item, LoopState, ObjectPage, Picture } from '../protocol.ts';
import { buildForest, emptyForest, type Forest } from './tree.ts';

export type Connection = 'connecting' | 'open' | 'lost';

export interface ClusterPicture {
  readonly forest: Forest;
  readonly shown: number;
  readonly total: number;
  readonly namespaces: readonly string[];
  readonly kinds: readonly string[];
}

/** Something that was received, and when: times in it are relative to that moment. */
export interface Received<T> {
  readonly value: T;
  readonly atMs: number;
}

export interface Live {
  readonly connection: Connection;
  /** How often the stream was opened: another process may be behind each of them. */
  readonly openings: number;
  readonly cluster: ClusterPicture | undefined;
  readonly loop: LoopState | undefined;
  readonly object: Received<ObjectPage> | undefined;
}

const nothing: Live = { connection: 'connecting', openings: 0, cluster: undefined, loop: undefined, object: undefined };

/** The events of the stream with this query. A change of the query closes it and opens another. */
export function useStream(query: string): Live {
  const [live, setLive] = useState(nothing);
  // What was shown stays while another stream opens: an empty page in between would only flicker.
  const last = useRef(nothing);
  last.current = live;
  useEffect(() => {
    const start: Live = { ...last.current, connection: 'connecting', object: undefined };
    return followStream(`./stream?${query}`, start, setLive);
  }, [query]);
  return live;
}

/** A browser reconnects after a lost connection, but not after an answer that is no stream, as of a proxy. */
const reopenMs = 2000;

/**
 * Calls `show` at most once per frame, however many events arrive: a browser that falls behind skips states instead of
 * drawing each. Returns a function that closes the stream.
 */
function followStream(url: string, start: Live, show: (live: Live) => void): () => void {
  const items = new Map<string, Item>();
  let live = start;
  let picture: Omit<Picture, 'items'> | undefined; // until it is drawn
  let kinds: readonly string[] = [];
  let frame = 0;
  let timer = 0;
  let source: EventSource;
  const draw = (): void => {
    frame = 0;
    if (picture !== undefined) {
      const forest = buildForest(items, live.cluster?.forest ?? emptyForest);
      live = { ...live, cluster: { ...picture, forest, shown: items.size } };
      picture = undefined;
    }
    show(live);
  };
  const update = (change: Partial<Live>): void => {
    live = { ...live, ...change };
    if (frame === 0) frame = requestAnimationFrame(draw);
  };
  const on = <T>(type: string, handle: (value: T) => void): void =>
    // The types of both sides are the same source: the server is of the same build as this page.
    source.addEventListener(type, ({ data }: MessageEvent<string>) => handle(JSON.parse(data) as T));
  const open = (): void => {
    source = new EventSource(url);
    source.addEventListener('open', () => update({ connection: 'open', openings: live.openings + 1 }));
    source.addEventListener('error', () => {
      update({ connection: 'lost' });
      if (source.readyState === EventSource.CLOSED) timer = setTimeout(open, reopenMs);
    });
    on<Picture>('picture', ({ items: all, ...rest }) => {
      items.clear();
      for (const item of all) items.set(item.id, item);
      picture = rest;
      ({ kinds } = rest);
      update({});
    });
    on<Changes>('changes', ({ changed, removed, total, namespaces }) => {
      for (const item of changed) items.set(item.id, item);
      for (const id of removed) items.delete(id);
      picture = { total, namespaces, kinds };
      update({});
    });
    on<LoopState>('loop', (loop) => update({ loop }));
    on<ObjectPage>('object', (value) => update({ object: { value, atMs: performance.now() } }));
  };
  open();
  show(live);
  return () => {
    source.close();
    clearTimeout(timer);
    cancelAnimationFrame(frame);
  };
}

/** The time, once a second, for what counts up or down between two messages. */
export function useNow(): number {
  const [nowMs, setNowMs] = useState(() => performance.now());
  useEffect(() => {
    const timer = setInterval(() => setNowMs(performance.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  return nowMs;
}
