import { AbortedError } from '../time/index.ts';
import type { X509Certificate } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { TLSSocket } from 'node:tls';
import type { Logger } from '../log/index.ts';
import type { Authenticator, Credentials } from './authentication.ts';
import type { AccessRequest, Authorizer } from './authorization.ts';
import { parseTarget } from './paths.ts';
import type { Target } from './paths.ts';
import { forbidden, internalError, prefersPretty, textAnswer, unauthorized } from './responses.ts';
import type { RouteAnswer, RouteRequest, Routes } from './routes.ts';
import { messageOf } from './serving-certificates.ts';

export interface HandlerDeps {
  readonly authenticator: Authenticator;
  readonly authorizer: Authorizer;
  readonly routes: Routes;
  readonly logger: Logger;
}

/** Authenticates, authorizes and serves one request. Resolves when the response is sent or the client has disconnected. */
export async function handleRequest(
  deps: HandlerDeps,
  { request, response }: { readonly request: IncomingMessage; readonly response: ServerResponse },
  signal: AbortSignal,
): Promise<void> {
  const disconnected = new AbortController();
  response.once('close', () => disconnected.abort(new AbortedError('the client has disconnected')));
  const active = AbortSignal.any([signal, disconnected.signal]);
  try {
    const answer = await decideAnswer(deps, request, active);
    await writeAnswer(response, answer);
  } catch (error) {
    if (active.aborted) return; // the client has disconnected
    deps.logger.error({ err: error, path: request.url }, 'cannot serve a request');
    if (response.headersSent) response.destroy();
    else await writeAnswer(response, internalError(request.url ?? '', 'see the log'));
  }
}

async function decideAnswer(deps: HandlerDeps, request: IncomingMessage, signal: AbortSignal): Promise<RouteAnswer> {
  const requestUri = request.url ?? '';
  const target = parseTarget(requestUri);
  if (target === undefined) return textAnswer(400, '400 Bad Request\n');
  const userAgent = request.headers['user-agent'] ?? '';
  const pretty = prefersPretty(userAgent, target.query.get('pretty'));

  const identity = await deps.authenticator.authenticate(credentialsOf(request), signal);
  if (identity.kind === 'rejected') {
    deps.logger.warn({ problems: identity.problems }, 'cannot authenticate a request');
    const answer = unauthorized(pretty);
    // The handshake verified the certificate too. Close the connection, so that a client with a new one connects again.
    return { ...answer, headers: { ...answer.headers, Connection: 'close' } };
  }
  const { user } = identity;
  const access = { user, path: target.path, verb: (request.method ?? 'GET').toLowerCase() };
  const decision = await authorize(deps, access, signal);
  switch (decision.kind) {
    case 'unknown':
      return internalError(requestUri, decision.problem);
    case 'denied':
      return forbidden({ ...access, user: user.name, reason: decision.reason }, pretty);
    case 'allowed':
      return deps.routes.answer(routeRequest(request, target), signal);
  }
}

type Access =
  | { readonly kind: 'allowed' }
  | { readonly kind: 'denied'; readonly reason: string }
  | { readonly kind: 'unknown'; readonly problem: string };

async function authorize(deps: HandlerDeps, access: AccessRequest, signal: AbortSignal): Promise<Access> {
  try {
    const decision = await deps.authorizer.authorize(access, signal);
    return decision.allowed ? { kind: 'allowed' } : { kind: 'denied', reason: decision.reason };
  } catch (error) {
    if (signal.aborted) throw error;
    deps.logger.error({ err: error, path: access.path }, 'cannot authorize a request');
    return { kind: 'unknown', problem: messageOf(error) };
  }
}

function routeRequest(request: IncomingMessage, target: Target): RouteRequest {
  return {
    ...target,
    method: request.method ?? 'GET',
    accept: request.headers.accept ?? '',
    userAgent: request.headers['user-agent'] ?? '',
    acceptEncoding: request.headers['accept-encoding'] ?? '',
    body: () => readBody(request),
  };
}

const endsAtIntermediate = 'UNABLE_TO_GET_ISSUER_CERT';

function credentialsOf(request: IncomingMessage): Credentials {
  const headers = request.headersDistinct;
  const { socket } = request;
  if (!(socket instanceof TLSSocket)) return { headers };
  const leaf = socket.getPeerX509Certificate();
  if (leaf === undefined) return { headers };
  const handshakeProblem = socket.authorized ? undefined : String(socket.authorizationError);
  // The handshake requires a chain to a root, but an intermediate in --client-ca-file is trusted too. This accepts
  // certificates that such an intermediate issued directly, and no longer chains.
  if (handshakeProblem === endsAtIntermediate) return { headers, certificates: { leaf, intermediates: [] } };
  return { headers, certificates: { leaf, intermediates: issuersOf(leaf) }, handshakeProblem };
}

// Longer than any chain the handshake accepts.
const maxChain = 16;

function issuersOf(leaf: X509Certificate): X509Certificate[] {
  const chain: X509Certificate[] = [];
  for (let next = leaf.issuerCertificate; next !== undefined && chain.length < maxChain;) {
    chain.push(next);
    next = next.issuerCertificate;
  }
  return chain;
}

// The only body that is read is a number.
const maxBodyBytes = 1024;

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    if (!Buffer.isBuffer(chunk)) continue; // without an encoding, chunks are buffers
    size += chunk.length;
    if (size > maxBodyBytes) throw new BodyTooLargeError(`the body of the request exceeds ${maxBodyBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

async function writeAnswer(response: ServerResponse, answer: RouteAnswer): Promise<void> {
  response.writeHead(answer.code, { 'Cache-Control': 'no-cache, private', ...answer.headers });
  if ('stream' in answer) await pipeline(answer.stream, response);
  else response.end(answer.body);
}

class BodyTooLargeError extends Error {
  override readonly name = 'BodyTooLargeError';
  readonly reason = 'BodyTooLarge';
}
