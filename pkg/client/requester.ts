import { parseJson, type Status } from '../api/index.ts';
import type { Clock } from '../time/index.ts';
import type { Credentials, Identity } from './credentials.ts';
import { AnswerError, ApiError, isUnauthorized } from './errors.ts';
import { cutManagedFields } from './managed-fields.ts';
import type { RequestObserver } from './observer.ts';
import { namespaceIn } from './paths.ts';
import type { RateLimiter } from './rate-limit.ts';
import { retryDelay, type Repetition } from './retry.ts';
import type { HttpAnswer, HttpStream, WriteGuard } from './exchange.ts';
import type { Transport } from './transport.ts';

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
    const answer = await this.#attempt(spec, signal, (identity) => this.#exchange(spec, identity, signal));
    return spec.ignoreAnswer === true ? undefined : this.#parse(spec, answer);
  }

  open(spec: RequestSpec, signal: AbortSignal): Promise<HttpStream> {
    return this.#attempt(spec, signal, (identity) => this.#openStream(spec, identity, signal));
  }

  async #attempt<A>(spec: RequestSpec, signal: AbortSignal, send: (identity: Identity) => Promise<A>): Promise<A> {
    let refusals = 0;
    let connectionErrors = 0;
    let unauthorized = 0;
    for (;;) {
      const waiting = this.#options.rateLimiter?.wait(signal);
      if (waiting !== undefined) this.#observeWait(spec, await waiting);
      const current = this.#options.credentials.current(signal);
      const identity = current instanceof Promise ? await current : current;
      try {
        return await send(identity);
      } catch (error) {
        if (signal.aborted) throw error;
        this.#guardOf(spec)?.(); // don't wait for a retry that may not be sent
        if (isUnauthorized(error) && unauthorized++ === 0) {
          this.#options.credentials.rejected(identity); // the token may have expired or been rotated: retry once, with a new one
          continue;
        }
        const delayMs = retryDelay(error, spec.repetition, { refusals, connectionErrors }, this.#options.random());
        if (delayMs === undefined) throw error;
        if (error instanceof ApiError) refusals++;
        else connectionErrors++;
        await this.#options.clock.sleep(delayMs, signal);
      }
    }
  }

  async #exchange(spec: RequestSpec, identity: Identity, signal: AbortSignal): Promise<HttpAnswer> {
    const { name, transport, clock, timeoutMs, observer } = this.#options;
    const startedMs = clock.monotonic();
    let answer: HttpAnswer | undefined;
    try {
      const headers = this.#headers(spec, identity);
      const { method, path, body } = spec;
      const guard = this.#guardOf(spec);
      guard?.();
      const lane = { client: name, namespace: namespaceIn(path) };
      answer = await transport.send({ method, path, headers, body, lane, tls: identity.tls, timeoutMs, guard }, signal);
    } finally {
      if (observer !== undefined) this.#observe(spec, startedMs, answer?.status, answer?.body.length);
    }
    if (answer.status >= 300) throw apiErrorOf(spec.attempted, answer.status, answer.headers, answer.body);
    return answer;
  }

  async #openStream(spec: RequestSpec, identity: Identity, signal: AbortSignal): Promise<HttpStream> {
    const { transport, clock, timeoutMs, observer } = this.#options;
    const startedMs = clock.monotonic();
    let opened: HttpStream | undefined;
    try {
      const headers = this.#headers(spec, identity);
      const { method, path } = spec;
      opened = await transport.open({ method, path, headers, tls: identity.tls, timeoutMs }, signal);
    } finally {
      if (observer !== undefined) this.#observe(spec, startedMs, opened?.status, 0);
    }
    if (opened.status < 300) return opened;
    const body = Buffer.concat(await opened.stream.toArray({ signal }));
    throw apiErrorOf(spec.attempted, opened.status, opened.headers, body);
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

  #observe(spec: RequestSpec, startedMs: number, code: number | undefined, responseBytes = 0): void {
    this.#options.observer?.requestFinished({
      verb: spec.method,
      host: this.#options.transport.host,
      code: code === undefined ? '<error>' : String(code),
      durationMs: this.#options.clock.monotonic() - startedMs,
      requestBytes: spec.body === undefined ? 0 : Buffer.byteLength(spec.body),
      responseBytes,
    });
  }

  #observeWait(spec: RequestSpec, waitedMs: number): void {
    this.#options.observer?.rateLimiterWaited?.({ verb: spec.method, host: this.#options.transport.host, waitedMs });
  }
}

function apiErrorOf(attempted: string, code: number, headers: HttpAnswer['headers'], body: Buffer): ApiError {
  const retryAfter = Number(headers['retry-after'] ?? Number.NaN); // the API server sends seconds, never a date
  const status = statusIn(body) ?? { message: `status ${code}: ${body.toString('utf8', 0, 1024).trim()}` };
  return new ApiError(attempted, { ...status, code }, Number.isNaN(retryAfter) ? undefined : retryAfter);
}

function statusIn(body: Buffer): Status | undefined {
  try {
    const parsed: unknown = JSON.parse(body.toString('utf8'));
    return isStatus(parsed) ? parsed : undefined;
  } catch {
    return undefined; // the page of a proxy, or an empty body: the HTTP status is enough
  }
}

export function isStatus(value: unknown): value is Status {
  return typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'Status';
}
