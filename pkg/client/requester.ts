import { parseJson, type Status } from '../api/index.ts';
import { decodeObject } from '../protobuf/index.ts';
import type { Clock } from '../time/index.ts';
import type { Credentials, Identity } from './credentials.ts';
import { AnswerError, ApiError, isUnauthorized } from './errors.ts';
import { cutManagedFields } from './managed-fields.ts';
import type { RequestObserver } from './observer.ts';
import { namespaceIn } from './paths.ts';
import type { RateLimiter } from './rate-limit.ts';
import { retryDelay, type Repetition } from './retry.ts';
import type { HttpAnswer, HttpStream, WriteGuard } from './exchange.ts';
import type { HttpRequest, Transport } from './transport.ts';
import { protobufType } from './watch-format.ts';

/** One request of a client's method. */
export interface RequestSpec {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  /** The verb and the object, for error messages. */
  readonly attempted: string;
  readonly repetition: Repetition;
  readonly accept?: string | undefined;
  readonly contentType?: string | undefined;
  readonly body?: string | undefined;
  /** Names and values, alternating. */
  readonly headers?: readonly string[] | undefined;
  /** The body of a successful response is not parsed. */
  readonly ignoreAnswer?: boolean | undefined;
}

export interface RequesterOptions {
  /** The name of the client, for `RequestLanes`. */
  readonly name: string;
  readonly transport: Transport;
  readonly credentials: Credentials;
  readonly clock: Clock;
  readonly random: () => number;
  readonly userAgent: string;
  readonly timeoutMs: number;
  readonly rateLimiter?: RateLimiter | undefined;
  readonly observer?: RequestObserver | undefined;
  readonly keepManagedFields?: boolean | undefined;
  readonly guard?: WriteGuard | undefined;
}

/** Sends requests, retries them where that is safe, and returns JSON or throws errors. */
export class Requester {
  readonly #options: RequesterOptions;

  constructor(options: RequesterOptions) {
    this.#options = options;
  }

  async send(spec: RequestSpec, signal: AbortSignal): Promise<unknown> {
    const { name, transport } = this.#options;
    const lane = { client: name, namespace: namespaceIn(spec.path) };
    const answer = await this.#attempt(spec, (request) => transport.send(request, lane, signal), signal);
    return spec.ignoreAnswer === true ? undefined : this.#parse(spec, answer);
  }

  /** Resolves with the headers of a successful response. The caller must read or destroy its body. */
  open(spec: RequestSpec, signal: AbortSignal): Promise<HttpStream> {
    const { transport } = this.#options;
    return this.#attempt(spec, (request) => transport.open(request, signal), signal);
  }

  async #attempt<A extends HttpAnswer | HttpStream>(
    spec: RequestSpec,
    exchange: (request: HttpRequest) => Promise<A>,
    signal: AbortSignal,
  ): Promise<A> {
    const { rateLimiter, credentials, random, clock } = this.#options;
    let refusals = 0;
    let connectionErrors = 0;
    let unauthorized = 0;
    for (;;) {
      const waiting = rateLimiter?.wait(signal);
      if (waiting !== undefined) this.#observeWait(spec, await waiting);
      const current = credentials.current(signal);
      const identity = current instanceof Promise ? await current : current;
      try {
        return await this.#exchange(spec, identity, exchange);
      } catch (error) {
        if (signal.aborted) throw error;
        this.#guardOf(spec)?.(); // don't wait for a retry that may not be sent
        if (isUnauthorized(error) && unauthorized++ === 0) {
          credentials.rejected(identity); // the token may have expired or been rotated: retry once, with a new one
          continue;
        }
        const delayMs = retryDelay(error, spec.repetition, { refusals, connectionErrors }, random());
        if (delayMs === undefined) throw error;
        if (error instanceof ApiError) refusals++;
        else connectionErrors++;
        await clock.sleep(delayMs, signal);
      }
    }
  }

  async #exchange<A extends HttpAnswer | HttpStream>(
    spec: RequestSpec,
    identity: Identity,
    exchange: (request: HttpRequest) => Promise<A>,
  ): Promise<A> {
    const startedMs = this.#options.clock.monotonic();
    let response: A | undefined;
    try {
      const { method, path, body } = spec;
      const { timeoutMs } = this.#options;
      const guard = this.#guardOf(spec);
      guard?.();
      const headers = this.#headers(spec, identity);
      response = await exchange({ method, path, headers, body, tls: identity.tls, timeoutMs, guard });
    } finally {
      this.#observe(spec, startedMs, response);
    }
    if (response.status < 300) return response;
    const refusal = await apiErrorOf(spec, response);
    this.#options.observer?.requestRefused?.({ attempted: spec.attempted, message: refusal.serverMessage });
    throw refusal;
  }

  #guardOf({ method }: RequestSpec): WriteGuard | undefined {
    return method === 'GET' ? undefined : this.#options.guard;
  }

  #headers(spec: RequestSpec, identity: Identity): string[] {
    const headers = ['user-agent', this.#options.userAgent, 'accept', spec.accept ?? 'application/json'];
    if (spec.body !== undefined) {
      headers.push('content-type', spec.contentType ?? 'application/json');
      headers.push('content-length', String(Buffer.byteLength(spec.body)));
    }
    headers.push(...identity.headers);
    if (spec.headers !== undefined) headers.push(...spec.headers);
    return headers;
  }

  #parse(spec: RequestSpec, { headers, body }: HttpAnswer): unknown {
    if (headers['content-type']?.startsWith('application/json') !== true) return body.toString('utf8');
    const json = this.#options.keepManagedFields === true ? body : cutManagedFields(body);
    try {
      return parseJson(json);
    } catch (error) {
      throw new AnswerError(`${spec.attempted}: the response is not JSON`, { cause: error });
    }
  }

  #observe(spec: RequestSpec, startedMs: number, response: HttpAnswer | HttpStream | undefined): void {
    const { observer, transport, clock } = this.#options;
    observer?.requestFinished({
      attempted: spec.attempted,
      verb: spec.method,
      host: transport.host,
      code: response === undefined ? '<error>' : String(response.status),
      durationMs: clock.monotonic() - startedMs,
      requestBytes: spec.body === undefined ? 0 : Buffer.byteLength(spec.body),
      responseBytes: response !== undefined && 'body' in response ? response.body.length : 0,
    });
  }

  #observeWait(spec: RequestSpec, waitedMs: number): void {
    this.#options.observer?.rateLimiterWaited?.({ verb: spec.method, host: this.#options.transport.host, waitedMs });
  }
}

async function apiErrorOf({ attempted, path }: RequestSpec, response: HttpAnswer | HttpStream): Promise<ApiError> {
  const { status: code, headers } = response;
  const body = 'body' in response ? response.body : Buffer.concat(await response.stream.toArray());
  const retryAfter = Number(headers['retry-after'] ?? Number.NaN); // the API server sends seconds, never a date
  const retryAfterSeconds = Number.isNaN(retryAfter) ? undefined : retryAfter;
  const namespace = namespaceIn(path) || undefined;
  const status = statusIn(body, headers['content-type']);
  if (status !== undefined) return new ApiError(attempted, { ...status, code }, { retryAfterSeconds, namespace });
  const text = body.toString('utf8', 0, 1024).trim();
  const message = `status ${code}: ${text}`;
  return new ApiError(attempted, { message, code }, { retryAfterSeconds, namespace, plainText: text });
}

function statusIn(body: Buffer, contentType: string | undefined): Status | undefined {
  try {
    const parsed: unknown =
      contentType?.startsWith(protobufType) === true
        ? decodeObject({ bytes: body, start: 0, end: body.length })
        : JSON.parse(body.toString('utf8'));
    return isStatus(parsed) ? parsed : undefined;
  } catch {
    return undefined; // the page of a proxy, or an empty body: the HTTP status is enough
  }
}

export function isStatus(value: unknown): value is Status {
  return typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'Status';
}
