import { Readable } from 'node:stream';

import type { Clock } from '../time/index.ts';
import { loadPage, type PageFile } from './assets.ts';
import type { Loop } from './loop.ts';
import { findObject, type ObjectPath } from './object-page.ts';
import type { Settings } from './protocol.ts';
import { streamObject, streamPicture } from './stream.ts';
import { formatObjectPage } from './text.ts';

export interface PageRequest {
  readonly method: string;
  /** Below the place where the pages are served, without a slash at its start. */
  readonly path: string;
  readonly query: URLSearchParams;
}

export type PageAnswer = { readonly code: number; readonly headers: Readonly<Record<string, string>> } & (
  | { readonly body: string | Buffer }
  | { readonly stream: Readable }
);

export interface LoopPages {
  answer(request: PageRequest, signal: AbortSignal): Promise<PageAnswer>;
}

export interface LoopPagesOptions {
  readonly loop: Loop;
  readonly clock: Clock;
  readonly settings: Settings;
  /** By path. Default: those of the build; empty if the page is not built. */
  readonly files?: ReadonlyMap<string, PageFile> | undefined;
}

/** No inline script, nothing from elsewhere, in no frame. */
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; " +
  "form-action 'none'; frame-ancestors 'none'";
const secure = {
  'Content-Security-Policy': policy,
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
};

/** How long a page waits for the sync of an object that it is about: a sync takes some milliseconds. */
const syncWaitMs = 1000;
const syncPollMs = 50;

/** The page and its data, read-only. */
export function createLoopPages({ loop, clock, settings, files = loadPage() }: LoopPagesOptions): LoopPages {
  return {
    async answer({ method, path, query }, signal) {
      if (method !== 'GET' && (method !== 'HEAD' || path === 'stream'))
        return text(405, 'only GET is allowed\n', { Allow: path === 'stream' ? 'GET' : 'GET, HEAD' });
      const file = files.get(path);
      if (file !== undefined)
        return { code: 200, headers: { ...secure, 'Content-Type': file.contentType }, body: file.body };
      if (path === '' && files.size === 0) return text(503, 'the page is not built: run npm run build:page\n');
      if (path === 'settings') return json(settings);
      if (path === 'stream') return answerStream({ loop, clock }, query, signal);
      const object = /^objects\/([^/]+)\/([^/]+)\/([^/]+)$/.exec(path);
      return object === null ? notFound : answerObject({ loop, clock }, object.slice(1), query, signal);
    },
  };
}

type Deps = Pick<LoopPagesOptions, 'loop' | 'clock'>;

function answerStream(deps: Deps, query: URLSearchParams, signal: AbortSignal): PageAnswer {
  const wanted = query.get('object');
  if (wanted === null) {
    const filter = {
      namespace: query.get('namespace') ?? '',
      kind: query.get('kind') ?? '',
      name: query.get('name') ?? '',
    };
    return events(streamPicture(deps, filter, signal));
  }
  const path = findPath(deps.loop, wanted.split('/'));
  return path === undefined ? notFound : events(streamObject(deps, path, signal));
}

async function answerObject(
  { loop, clock }: Deps,
  parts: readonly string[],
  query: URLSearchParams,
  signal: AbortSignal,
): Promise<PageAnswer> {
  if (loop.caches === undefined) return text(503, 'another process leads: ask there\n');
  const path = findPath(loop, parts);
  if (path === undefined) return notFound;
  loop.look();
  const unfollow = loop.follow(path);
  try {
    loop.syncOnce(path);
    const waitUntilMs = clock.monotonic() + syncWaitMs;
    const isRecorded = (): boolean => loop.objectPage(path, [])?.history.some(({ reads }) => reads.length > 0) ?? true;
    while (!isRecorded() && clock.monotonic() < waitUntilMs) await clock.sleep(syncPollMs, signal);
    const lines = await loop.eventsOf(path, signal).catch(() => []); // what is in memory is told without the API, too
    const page = loop.objectPage(path, lines);
    if (page === undefined || !page.exists) return notFound;
    return query.get('format') === 'text' ? text(200, formatObjectPage(page)) : json(page);
  } finally {
    unfollow();
  }
}

function findPath({ caches }: Loop, parts: readonly string[]): ObjectPath | undefined {
  const [resource, namespace, name] = parts.map(decode);
  if (caches === undefined || resource === undefined || namespace === undefined || name === undefined) return undefined;
  return findObject(caches, resource, namespace, name);
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // not encoded by us: it will not be found
  }
}

function events(stream: AsyncIterable<string>): PageAnswer {
  const headers = { ...secure, 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' };
  return { code: 200, headers, stream: Readable.from(stream, { highWaterMark: 1 }) };
}

function json(body: unknown): PageAnswer {
  const headers = { ...secure, 'Content-Type': 'application/json', 'Cache-Control': 'no-store' };
  return { code: 200, headers, body: JSON.stringify(body) };
}

function text(code: number, body: string, more: Readonly<Record<string, string>> = {}): PageAnswer {
  const headers = { ...secure, 'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': 'no-store', ...more };
  return { code, headers, body };
}

const notFound = text(404, 'not found\n');
