import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Clock } from '../time/index.ts';
import type { Logger } from '../log/index.ts';
import type { HealthChecks, HealthPath } from './health.ts';
import type { ContentOptions, MetricsSource } from './options.ts';
import type { Target } from './paths.ts';
import { createProfiler, profileSeconds, profilingIndex } from './profiling.ts';
import type { StreamAnswer } from './profiling.ts';
import { jsonAnswer, notFound, prefersPretty, textAnswer } from './responses.ts';
import type { Answer } from './responses.ts';
import { flagzPage, statuszPage } from './zpages.ts';
import type { PageRequest } from './zpages.ts';

export interface RouteRequest extends Target {
  readonly method: string;
  readonly accept: string;
  readonly userAgent: string;
  readonly acceptEncoding: string;
  /** Reads the body, up to a small limit. */
  readonly body: () => Promise<string>;
}

export type RouteAnswer = Answer | StreamAnswer;
type Route = (request: RouteRequest, signal: AbortSignal) => RouteAnswer | Promise<RouteAnswer>;

export interface Routes {
  /** Serves an authorized request. */
  answer(request: RouteRequest, signal: AbortSignal): Promise<RouteAnswer>;
}

const healthPaths: readonly HealthPath[] = ['healthz', 'livez', 'readyz'];

export function createRoutes(deps: {
  readonly content: ContentOptions;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Stops the background work of the routes. */
  readonly signal: AbortSignal;
}): Routes {
  const { content, clock, logger, signal } = deps;
  const table = new Map<string, Route>(contentRoutes(content));
  for (const path of healthPaths) {
    table.set(`/${path}`, (request) => healthPage({ path, checks: content.health[path], logger }, request));
  }
  for (const [path, route] of zpageRoutes(content, clock, () => statuszPaths(table))) table.set(path, route);
  if (content.profiling) for (const [path, route] of debugRoutes(content, clock, signal)) table.set(path, route);
  table.set('/', ({ userAgent }) => jsonAnswer(200, { paths: listPaths(table) }, prefersPretty(userAgent, null)));

  return {
    async answer(request, signal) {
      const route = table.get(request.path);
      if (route !== undefined) return route(request, signal);
      return (
        loopPage(content, request, signal) ?? controllerPage(content, request) ?? singleCheckPage(content, request.path)
      );
    },
  };
}

/** The listed paths: without the list itself, and without pages that are expensive to open. */
function listPaths(table: ReadonlyMap<string, Route>): readonly string[] {
  return [...table.keys()].filter((path) => path !== '/' && !path.startsWith('/debug/')).toSorted();
}

/** The paths that the Go binary lists at /statusz. It has no /livez and /readyz, and omits /statusz. */
function statuszPaths(table: ReadonlyMap<string, Route>): readonly string[] {
  return listPaths(table).filter((path) => !['/statusz', '/livez', '/readyz'].includes(path));
}

type RouteEntry = [string, Route];

function contentRoutes({ config, metrics, sliMetrics, status }: ContentOptions): RouteEntry[] {
  const started: Readonly<Record<string, string>> =
    status === undefined ? {} : { 'Process-Start-Time-Unix': String(Math.floor(status.startedAtMs / 1000)) };
  const entries: RouteEntry[] = [
    ['/configz', () => configzPage(config)],
    ['/metrics', (request) => metricsPage(metrics, request, started)],
  ];
  if (sliMetrics !== undefined) entries.push(['/metrics/slis', (request) => metricsPage(sliMetrics, request, started)]);
  return entries;
}

function zpageRoutes(content: ContentOptions, clock: Clock, paths: () => readonly string[]): RouteEntry[] {
  const { flags, status } = content;
  const entries: RouteEntry[] = [];
  const form = ({ accept, userAgent, query }: RouteRequest): PageRequest => ({
    accept,
    pretty: prefersPretty(userAgent, query.get('pretty')),
    cbor: content.cbor ?? false,
  });
  if (flags !== undefined) {
    entries.push(['/flagz', (request) => flagzPage(flags, form(request))]);
  }
  if (status !== undefined) {
    const facts = (): Parameters<typeof statuszPage>[0] => ({ ...status, nowMs: clock.now(), paths: paths() });
    entries.push(['/statusz', (request) => statuszPage(facts(), form(request))]);
  }
  return entries;
}

function debugRoutes(content: ContentOptions, clock: Clock, closing: AbortSignal): RouteEntry[] {
  const { setVerbosity, heapSnapshots = false } = content;
  const profiler = createProfiler(clock, closing);
  const entries: RouteEntry[] = [
    ['/debug/pprof', () => ({ code: 302, headers: { Location: '/debug/pprof/' }, body: '' })],
    ['/debug/pprof/', () => profilingIndex],
    ['/debug/pprof/heap', () => profiler.heapProfile()],
    ['/debug/pprof/profile', ({ query }, signal) => profiler.cpuProfile(profileSeconds(query.get('seconds')), signal)],
  ];
  if (heapSnapshots) entries.push(['/debug/pprof/heapsnapshot', () => profiler.heapSnapshot()]);
  if (setVerbosity !== undefined) {
    entries.push(['/debug/flags/v', (request) => verbosityPage(setVerbosity, request)]);
  }
  return entries;
}

async function verbosityPage(setVerbosity: (value: string) => string, request: RouteRequest): Promise<Answer> {
  if (request.method !== 'PUT') return textAnswer(406, 'unsupported http method\n');
  const value = await request.body();
  try {
    return textAnswer(200, `${setVerbosity(value)}\n`);
  } catch (error) {
    return textAnswer(400, `${error instanceof Error ? error.message : String(error)}\n`);
  }
}

function configzPage(config: Readonly<Record<string, unknown>>): Answer {
  return {
    code: 200,
    headers: { 'Content-Type': 'application/json', 'X-Content-Type-Options': 'nosniff' },
    body: JSON.stringify(config),
  };
}

const compress = promisify(gzip);

async function metricsPage(
  source: MetricsSource,
  { acceptEncoding }: RouteRequest,
  more: Readonly<Record<string, string>>,
): Promise<Answer> {
  const body = await source.metrics();
  const headers = { 'Content-Type': source.contentType, ...more };
  if (!/\bgzip\b(?!\s*;\s*q=0(?:\.0*)?(?:,|$))/.test(acceptEncoding)) return { code: 200, headers, body };
  // A scrape is megabytes of repeated names. Compressed, it has a twentieth of the size. Other threads compress it.
  return { code: 200, headers: { ...headers, 'Content-Encoding': 'gzip' }, body: await compress(body) };
}

function healthPage(
  { path, checks, logger }: { readonly path: HealthPath; readonly checks: HealthChecks; readonly logger: Logger },
  { query }: RouteRequest,
): Answer {
  const report = checks.run(path, query.getAll('exclude'));
  if (!report.healthy) {
    logger.warn({ path, failed: report.failed }, 'health check failed');
    return textAnswer(500, report.text);
  }
  return textAnswer(200, query.has('verbose') ? report.text : 'ok');
}

const loopPath = '/debug/loop/';

/** `/debug/loop/…`: what controllers do. */
function loopPage(
  { profiling, loopPages }: ContentOptions,
  { method, path, query }: RouteRequest,
  signal: AbortSignal,
): Promise<RouteAnswer> | RouteAnswer | undefined {
  if (!profiling || loopPages === undefined) return undefined;
  if (path === loopPath.slice(0, -1)) return { code: 302, headers: { Location: loopPath }, body: '' };
  if (!path.startsWith(loopPath)) return undefined;
  return loopPages.answer({ method, path: path.slice(loopPath.length), query }, signal);
}

/** `/debug/controllers/<controller>/<page>` */
function controllerPage(content: ContentOptions, { path, query }: RouteRequest): StreamAnswer | undefined {
  const [, controller, name] = /^\/debug\/controllers\/([^/]+)\/(.+)$/.exec(path) ?? [];
  if (!content.profiling || controller === undefined || name === undefined) return undefined;
  const page = content.controllerPage?.(controller, name);
  if (page === undefined) return undefined;
  const headers = { 'Content-Type': page.contentType, 'X-Content-Type-Options': 'nosniff' };
  return { code: 200, headers, stream: Readable.from(page.parts(query)) };
}

/** `/healthz/<name>` and similar: unlike the page of all checks, it has the reason. */
function singleCheckPage(content: ContentOptions, path: string): Answer {
  const [, first, name, ...rest] = path.split('/');
  const healthPath = healthPaths.find((known) => known === first);
  if (healthPath === undefined || name === undefined || rest.length > 0) return notFound;
  const check = content.health[healthPath].get(name);
  if (check === undefined) return notFound;
  const problem = check.check();
  return problem === undefined ? textAnswer(200, 'ok') : textAnswer(500, `internal server error: ${problem}\n`);
}
