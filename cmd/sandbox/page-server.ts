import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';

import type { LoopPages, PageAnswer, TryResult } from '../../pkg/loop/index.ts';
import type { Logger } from '../../pkg/log/index.ts';
import { closable } from '../../pkg/sockets/index.ts';
import { AbortedError } from '../../pkg/time/index.ts';
import type { Try, TryDeps } from './tries.ts';

export interface PageServerOptions {
  readonly pages: LoopPages;
  readonly tries: readonly Try[];
  readonly deps: TryDeps;
  readonly logger: Logger;
  /** Default: any free one. */
  readonly port?: number | undefined;
}

export interface PageServer extends AsyncDisposable {
  readonly url: string;
}

/** Serves the page on loopback, for browsers of this machine. */
export async function startPageServer(options: PageServerOptions): Promise<PageServer> {
  const closing = new AbortController();
  const server = createServer((request, response) => {
    response.on('error', () => {}); // a browser that disconnects is not an error
    serve(options, { request, response, host: hostOf(server.address()) }, closing.signal).catch((error: unknown) => {
      if (!closing.signal.aborted && !response.destroyed) options.logger.error({ err: error }, 'cannot serve the page');
      response.destroy();
    });
  });
  const close = closable(server);
  server.listen({ port: options.port ?? 0, host: '127.0.0.1' });
  await once(server, 'listening');
  return {
    url: `http://${hostOf(server.address())}/`,
    async [Symbol.asyncDispose]() {
      closing.abort(new AbortedError('the sandbox stops'));
      await close();
    },
  };
}

function hostOf(address: ReturnType<ReturnType<typeof createServer>['address']>): string {
  if (address === null || typeof address === 'string') return '';
  return `127.0.0.1:${address.port}`;
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The address of this server. */
  readonly host: string;
}

async function serve(options: PageServerOptions, exchange: Exchange, signal: AbortSignal): Promise<void> {
  const { request, response } = exchange;
  const disconnected = new AbortController();
  response.once('close', () => disconnected.abort(new AbortedError('the browser has disconnected')));
  const active = AbortSignal.any([signal, disconnected.signal]);
  try {
    const answer = await answerTo(options, exchange, active);
    response.writeHead(answer.code, answer.headers);
    if ('stream' in answer) await pipeline(answer.stream, response);
    else response.end(request.method === 'HEAD' ? undefined : answer.body);
  } catch (error) {
    if (!active.aborted) throw error;
  }
}

async function answerTo(options: PageServerOptions, exchange: Exchange, signal: AbortSignal): Promise<PageAnswer> {
  const { request, host } = exchange;
  // A name of another site that resolves to 127.0.0.1 would let that site read the page.
  if (!isOwnHost(request.headers.host, host)) return refusal(421, 'ask for this page by its own address');
  const url = URL.parse(request.url ?? '/', `http://${host}`);
  if (url === null) return refusal(400, 'the URL is not valid');
  const path = url.pathname.slice(1);
  if (path.startsWith('try/')) return tryOut(options, exchange, path.slice('try/'.length), signal);
  return options.pages.answer({ method: request.method ?? 'GET', path, query: url.searchParams }, signal);
}

function isOwnHost(given: string | undefined, host: string): boolean {
  return given === host || given === host.replace('127.0.0.1', 'localhost');
}

/** Pages of other sites may send requests here, but not with their own origin hidden, and not as JSON. */
async function tryOut(
  { tries, deps }: PageServerOptions,
  { request, host }: Exchange,
  id: string,
  signal: AbortSignal,
): Promise<PageAnswer> {
  const { origin, 'content-type': contentType } = request.headers;
  if (request.method !== 'POST') return refusal(405, 'only POST is allowed');
  if (origin === undefined || !isOwnHost(URL.parse(origin)?.host, host))
    return refusal(403, 'ask from the page itself');
  if (contentType?.split(';')[0] !== 'application/json') return refusal(415, 'the body must be JSON');
  const found = tries.find((each) => each.id === id);
  if (found === undefined) return refusal(404, `there is no ${id} to try`);
  return told(await runTry(found, request, deps, signal));
}

async function runTry(found: Try, request: IncomingMessage, deps: TryDeps, signal: AbortSignal): Promise<TryResult> {
  try {
    return { told: await found.run(await json(request), deps, signal) };
  } catch (error) {
    if (signal.aborted) throw error;
    const why =
      error instanceof z.ZodError ? z.prettifyError(error) : error instanceof Error ? error.message : String(error);
    return { told: why, problem: true };
  }
}

const headers = {
  'Content-Type': 'application/json',
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'no-store',
};

function told(result: TryResult): PageAnswer {
  return { code: 200, headers, body: JSON.stringify(result) };
}

function refusal(code: number, why: string): PageAnswer {
  return { code, headers, body: JSON.stringify({ told: why, problem: true } satisfies TryResult) };
}
