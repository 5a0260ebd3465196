import { ownValue } from '../../api/index.ts';
import type { IncomingMessage, ServerResponse } from 'node:http';

import type { Logger } from '../../log/index.ts';
import {
  aggregatedDiscovery,
  coreVersions,
  groupList,
  oneGroup,
  openApiDocument,
  openApiIndex,
  resourceList,
} from '../discovery/index.ts';
import { badRequest, Failure, methodNotAllowed, unknownPath } from '../failure.ts';
import { apiVersionOf } from '../registry/index.ts';
import { metricsAnswer, metricsResources } from '../metrics/index.ts';
import { ok, refusal, send, text, type Answer } from './answer.ts';
import { negotiate } from './negotiate.ts';
import { parseResourcePath } from './path.ts';
import type { ResourceDeps } from './call.ts';
import { answerCall } from './resources.ts';

export interface RouterDeps extends ResourceDeps {
  readonly logger: Logger;
  readonly versionInfo: object;
  /** Whether there is a metrics API. */
  readonly servesMetrics: boolean;
}

/** Answers every request: each error becomes a Status. */
export async function handle(deps: RouterDeps, request: IncomingMessage, response: ServerResponse): Promise<void> {
  let answer: Answer | undefined;
  try {
    answer = await route(deps, request, response);
  } catch (error) {
    if (request.destroyed && !request.complete) return; // the client disconnected before the end of its request
    answer = refusal(asFailure(error, deps.logger));
  }
  if (answer === undefined) return;
  await deps.api.store.durable(); // no response may report a write that a crash could still undo
  if (response.headersSent || response.destroyed) return;
  if (!request.complete) request.resume();
  send(response, answer, formatOf(request));
}

function formatOf(request: IncomingMessage): 'json' | 'yaml' {
  try {
    return negotiate(request.headers.accept).format;
  } catch {
    return 'json';
  }
}

function asFailure(error: unknown, logger: Logger): Failure {
  if (error instanceof Failure) return error;
  logger.error({ err: error }, 'request failed unexpectedly');
  const message = `Internal error occurred: ${error instanceof Error ? error.message : String(error)}`;
  return new Failure(500, 'InternalError', message);
}

async function route(
  deps: RouterDeps,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<Answer | undefined> {
  const url = URL.parse(request.url ?? '/', 'https://sandbox');
  if (url === null) throw badRequest('the URL is not valid');
  const { pathname, searchParams } = url;
  const isHealth = /^\/(healthz|livez|readyz)(\/|$)/.test(pathname);
  // Health needs no authentication, but credentials that are sent must be valid.
  if (isHealth && request.headers.authorization === undefined) return text('ok');
  const user = await deps.authenticator.authenticate(request);
  if (isHealth) return text('ok');
  const other =
    request.method === 'GET' || request.method === 'HEAD' ? documentAnswer(deps, pathname, request) : undefined;
  if (other !== undefined) return other;
  const path = parseResourcePath(pathname);
  const metrics =
    deps.servesMetrics && path
      ? metricsAnswer(deps.api, { method: request.method, path, query: searchParams })
      : undefined;
  if (metrics !== undefined) return ok(metrics);
  const resource = path && deps.api.registry.find(path.group, path.version, path.resource);
  if (path === undefined || resource === undefined) throw unknownPath();
  if (path.namespace !== undefined && !resource.namespaced) throw unknownPath();
  if (path.name !== undefined && resource.namespaced && path.namespace === undefined) throw unknownPath();
  if (!['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].includes(request.method ?? '')) throw methodNotAllowed();
  const call = {
    request,
    response,
    resource,
    path,
    query: searchParams,
    user,
    negotiated: negotiate(request.headers.accept),
    dryRun: isDryRun(searchParams),
    manager: searchParams.get('fieldManager') ?? (request.headers['user-agent'] ?? 'unknown').split('/')[0] ?? '',
  };
  const answer = await answerCall(deps, call);
  const deprecation = ownValue(ownValue(deprecations, apiVersionOf(resource)), resource.resource);
  if (answer === undefined || deprecation === undefined) return answer;
  return { ...answer, warnings: [...(answer.warnings ?? []), deprecation] };
}

/** A warning in every response about them. */
const deprecations: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  v1: { endpoints: 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice' },
};

function isDryRun(query: URLSearchParams): boolean {
  const values = query.getAll('dryRun').filter((value) => value !== '');
  const wrong = values.find((value) => value !== 'All');
  if (wrong !== undefined) throw badRequest(`dryRun: Unsupported value: ${JSON.stringify(wrong)}`);
  return values.length > 0;
}

const aggregatedType = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

/** Version, health and discovery of the server. */
function documentAnswer(deps: RouterDeps, pathname: string, request: IncomingMessage): Answer | undefined {
  const stored = deps.api.registry.all();
  const resources = deps.servesMetrics ? [...stored, ...metricsResources] : stored;
  const path = pathname === '/' ? pathname : pathname.replace(/\/$/, '');
  const wantsAll = (request.headers.accept ?? '')
    .split(',')
    .some((clause) => /as=APIGroupDiscoveryList/.test(clause) && /v=v2(;|$)/.test(clause.trim()));
  switch (path) {
    case '/':
      return ok({ paths: ['/api', '/api/v1', '/apis', '/healthz', '/livez', '/openapi/v3', '/readyz', '/version'] });
    case '/version':
      return ok(deps.versionInfo);
    case '/api':
    case '/apis': {
      if (wantsAll) {
        const body = aggregatedDiscovery(resources, path === '/api' ? 'api' : 'apis');
        return { status: 200, body, contentType: aggregatedType };
      }
      return ok(path === '/api' ? coreVersions(request.headers.host ?? '') : groupList(resources));
    }
    default: {
      if (path === '/openapi/v3') return ok(openApiIndex(stored));
      if (path.startsWith('/openapi/v3/')) return found(openApiDocument(stored, path.slice('/openapi/v3/'.length)));
      const [, root, group = '', version, ...more] = path.split('/');
      if (more.length > 0) return undefined;
      if (root === 'api') return version === undefined ? found(resourceList(resources, group)) : undefined;
      if (root !== 'apis') return undefined;
      return found(version === undefined ? oneGroup(resources, group) : resourceList(resources, `${group}/${version}`));
    }
  }
}

function found(body: object | undefined): Answer {
  if (body === undefined) throw unknownPath();
  return ok(body);
}
