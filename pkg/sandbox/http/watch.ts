import type { ServerResponse } from 'node:http';

import type { Clock, Timer } from '../../time/index.ts';
import { badRequest, Failure, DefectError } from '../failure.ts';
import { apiVersionOf, storageId, type Resource } from '../registry/index.ts';
import { asVersion, type Api } from '../rest/api.ts';
import { compileSelection, parseVersion, type Selection } from '../rest/list.ts';
import { Entry, type Change } from '../storage/index.ts';
import { showObject, type View } from './represent.ts';

export interface WatchRequest extends Selection {
  readonly resourceVersion: string;
  readonly resourceVersionMatch: string;
  readonly sendInitialEvents: boolean | undefined;
  readonly allowBookmarks: boolean;
  readonly timeoutSeconds: number | undefined;
}

export interface WatchDeps {
  readonly api: Api;
  readonly clock: Clock;
  readonly random: () => number;
  /** How often an idle watcher gets a bookmark. */
  readonly bookmarkEveryMs: number;
}

/** Where events are sent, and in which form. */
export interface WatchTarget {
  readonly view: View;
  readonly response: ServerResponse;
}

/** A client that is this far behind is disconnected: it can list again, and the server's memory stays bounded. */
const maxUnsentBytes = 64 * 1024 * 1024;

/** Streams changes until the client or the timeout ends the watch. Throws before the first byte, or not at all. */
export function startWatch(
  deps: WatchDeps,
  resource: Resource,
  request: WatchRequest,
  { view, response }: WatchTarget,
): WatchStream {
  checkInitialEvents(request);
  const matches = compileSelection(request, resource);
  const version = parseVersion(request.resourceVersion);
  const stream = new WatchStream(deps, resource, { matches, view, response, allowBookmarks: request.allowBookmarks });
  const { store } = deps.api;
  const storage = storageId(resource);
  const wantsState = request.sendInitialEvents ?? (version === undefined || version === 0);
  // A watch from an expired version still starts, and its first event is the error.
  const missed = wantsState || version === undefined ? [] : changesSince(deps.api, storage, version);
  response.writeHead(200, { 'Content-Type': 'application/json', 'Cache-Control': 'no-cache, private' });
  response.flushHeaders(); // a client may wait for the headers before it makes the changes that it watches for
  if (missed instanceof Failure) {
    response.end(`${JSON.stringify({ type: 'ERROR', object: missed.toStatus() })}\n`);
    return stream;
  }
  if (wantsState) stream.sendState([...store.keys(storage)].flatMap((key) => store.get(storage, key) ?? []));
  if (request.sendInitialEvents === true) stream.sendBookmark(store.version, true);
  for (const change of missed) stream.send(change);
  stream.follow(storage, (request.timeoutSeconds ?? 1800 + deps.random() * 1800) * 1000);
  return stream;
}

function changesSince(api: Api, storage: string, version: number): Change[] | Failure {
  try {
    return api.store.changesSince(storage, version);
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
}

function checkInitialEvents({ sendInitialEvents, resourceVersionMatch, allowBookmarks }: WatchRequest): void {
  const refuse = (detail: string): Failure =>
    new Failure(422, 'Invalid', `ListOptions.meta.k8s.io "" is invalid: ${detail}`);
  if (sendInitialEvents === undefined) {
    if (resourceVersionMatch === '') return;
    throw refuse(
      'resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided',
    );
  }
  if (resourceVersionMatch !== 'NotOlderThan') {
    throw refuse(
      'resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan',
    );
  }
  if (sendInitialEvents && !allowBookmarks) throw badRequest('sendInitialEvents requires allowWatchBookmarks');
}

interface StreamOptions {
  readonly matches: (object: Entry['object']) => boolean;
  readonly view: View;
  readonly response: ServerResponse;
  readonly allowBookmarks: boolean;
}

/** One watcher. All changes of one turn of the event loop are sent in one write. */
class WatchStream {
  readonly #deps: WatchDeps;
  readonly #resource: Resource;
  readonly #options: StreamOptions;
  #unsent: Buffer[] = [];
  #isFlushing = false;
  #sentVersion = 0;
  #ended = false;

  constructor(deps: WatchDeps, resource: Resource, options: StreamOptions) {
    this.#deps = deps;
    this.#resource = resource;
    this.#options = options;
  }

  sendState(entries: readonly Entry[]): void {
    for (const entry of entries) {
      if (this.#options.matches(entry.object)) this.#push(this.#line('ADDED', entry), entry.version);
    }
  }

  sendBookmark(version: number, endsInitialEvents = false): void {
    const annotations = endsInitialEvents ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : {};
    const metadata = { resourceVersion: String(version), creationTimestamp: null, ...annotations };
    const { kind } = this.#resource;
    const object =
      this.#options.view.representation === 'metadata'
        ? { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata }
        : this.#options.view.representation === 'table'
          ? {
              kind: 'Table',
              apiVersion: 'meta.k8s.io/v1',
              metadata,
              columnDefinitions: null,
              rows: [{ cells: null, object: { kind, apiVersion: apiVersionOf(this.#resource), metadata } }],
            }
          : { kind, apiVersion: apiVersionOf(this.#resource), metadata };
    this.#push(Buffer.from(`${JSON.stringify({ type: 'BOOKMARK', object })}\n`), version);
  }

  /** A change as this watcher sees it: DELETED if the object no longer matches its selector, ADDED if it starts to. */
  send(change: Change): void {
    const { matches } = this.#options;
    const before = change.previous !== undefined && matches(change.previous.object);
    const after = change.type !== 'DELETED' && matches(change.entry.object);
    if (after) this.#push(this.#changeLine(change, before ? 'MODIFIED' : 'ADDED'), change.version);
    else if (before) this.#push(this.#changeLine(change, 'DELETED'), change.version);
  }

  follow(storage: string, timeoutMs: number): void {
    const { api, clock, bookmarkEveryMs } = this.#deps;
    const { response, allowBookmarks } = this.#options;
    const stopListening = api.store.listen(storage, (change) => this.send(change));
    let bookmarks: Timer | undefined;
    const scheduleBookmark = (): void => {
      bookmarks = clock.setTimer(bookmarkEveryMs, () => {
        if (this.#sentVersion < api.store.version) this.sendBookmark(api.store.version);
        scheduleBookmark();
      });
    };
    if (allowBookmarks) scheduleBookmark();
    const limit = clock.setTimer(timeoutMs, () => {
      if (allowBookmarks && this.#sentVersion < api.store.version) this.sendBookmark(api.store.version);
      this.end();
    });
    response.once('close', () => {
      this.#ended = true;
      stopListening();
      bookmarks?.cancel();
      limit.cancel();
    });
    if (response.closed || response.destroyed) response.emit('close');
  }

  end(): void {
    if (this.#ended) return;
    this.#flush();
    this.#ended = true;
    this.#options.response.end();
  }

  #push(line: Buffer, version: number): void {
    if (this.#ended) return;
    this.#unsent.push(line);
    this.#sentVersion = Math.max(this.#sentVersion, version);
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    setImmediate(() => this.#flushDurable());
  }

  /** No watcher may observe a write that a crash could still undo. */
  #flushDurable(): void {
    const durable = this.#deps.api.store.durable();
    if (durable === undefined) this.#flush();
    else
      durable.then(
        () => this.#flush(),
        () => this.#options.response.destroy(),
      );
  }

  #flush(): void {
    this.#isFlushing = false;
    if (this.#unsent.length === 0 || this.#ended) return;
    const { response } = this.#options;
    response.write(this.#unsent.length === 1 ? this.#unsent[0] : Buffer.concat(this.#unsent));
    this.#unsent = [];
    if (response.writableLength > maxUnsentBytes) response.destroy();
  }

  #changeLine(change: Change, type: Change['type']): Buffer {
    // An object that no longer matches is sent in its last matching state, as kube-apiserver does.
    const leaves = type === 'DELETED' && change.type !== 'DELETED';
    const entry = leaves ? lastSeen(change) : change.entry;
    return this.#line(type, entry);
  }

  #line(type: string, entry: Entry): Buffer {
    const { view } = this.#options;
    const shown = asVersion(entry, this.#resource);
    // Ages in tables change with time, so tables are written for each event. Everything else is written once for all
    // watchers.
    const isShared = view.representation !== 'table' && shown === entry;
    if (!isShared) return lineOf(type, showObject(shown, this.#resource, { ...view, nowMs: this.#deps.clock.now() }));
    let lines = sharedLines.get(entry);
    if (lines === undefined) sharedLines.set(entry, (lines = new Map()));
    const id = `${type} ${view.representation}`;
    let line = lines.get(id);
    if (line === undefined) lines.set(id, (line = lineOf(type, showObject(entry, this.#resource, view))));
    return line;
  }
}

export type { WatchStream };

/** The lines of each entry, as long as the entry is in memory. */
const sharedLines = new WeakMap<Entry, Map<string, Buffer>>();

function lineOf(type: string, json: string): Buffer {
  return Buffer.from(`{"type":"${type}","object":${json}}\n`);
}

function lastSeen({ previous, version }: Change): Entry {
  if (previous === undefined) throw new DefectError('a deleted object must have a previous state');
  const metadata = { ...previous.object.metadata, resourceVersion: String(version) };
  return new Entry({ ...previous.object, metadata }, version);
}
