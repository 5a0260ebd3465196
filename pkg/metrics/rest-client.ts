import { defineCounter, defineGauge, defineHistogram } from './families.ts';
import type { Histogram, LabelledMetric } from './families.ts';
import type { MetricsRegistry } from './registry.ts';

/** One request and how it ended; the shape in which `pkg/client` tells its observer. */
export interface ObservedRequest {
  readonly verb: string;
  readonly host: string;
  readonly code: string;
  readonly durationMs: number;
  readonly requestBytes: number;
  readonly responseBytes: number;
}

export interface ObservedWait {
  readonly verb: string;
  readonly host: string;
  readonly waitedMs: number;
}

/** Serves as the observer of every client in the process. */
export interface RestClientMetrics {
  requestFinished(request: ObservedRequest): void;
  rateLimiterWaited(wait: ObservedWait): void;
  /** A client asked for connections: it shares those of another, or got new ones. */
  connectionsTaken(shared: boolean): void;
  connectionsClosed(): void;
}

const SECONDS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60];
const BYTES = [64, 256, 512, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216];
/** Verbs as the client writes them: their series exist before the first request. */
const VERBS = ['DELETE', 'GET', 'PATCH', 'POST', 'PUT'];
const LABELS = ['verb', 'host'] as const;

/** `hosts`: the API servers that will be spoken to, as far as they are known at the start. */
export function createRestClientMetrics(registry: MetricsRegistry, hosts: readonly string[] = []): RestClientMetrics {
  const histogram = (
    name: string,
    help: string,
    buckets: readonly number[],
  ): LabelledMetric<'verb' | 'host', Histogram> => {
    const family = defineHistogram(registry, { name: `rest_client_${name}`, help, labels: LABELS, buckets });
    for (const host of hosts) for (const verb of VERBS) family.with({ verb, host });
    return family;
  };
  const duration = histogram('request_duration_seconds', 'Time from sending a request to its whole answer.', SECONDS);
  const requestSize = histogram('request_size_bytes', 'Size of the bodies sent.', BYTES);
  const responseSize = histogram(
    'response_size_bytes',
    'Size of the bodies received, those of watches excepted.',
    BYTES,
  );
  const waits = histogram(
    'rate_limiter_duration_seconds',
    "Time requests were held back by the client's own rate limit.",
    SECONDS,
  );
  const results = defineCounter(registry, {
    name: 'rest_client_requests_total',
    help: 'Requests by HTTP status, method and host; without an answer the status is <error>.',
    labels: ['code', 'method', 'host'],
  });

  const transports = createTransportMetrics(registry);

  return {
    ...transports,
    requestFinished({ verb, host, code, durationMs, requestBytes, responseBytes }) {
      const series = { verb, host };
      duration.with(series).observe(durationMs / 1000);
      requestSize.with(series).observe(requestBytes);
      responseSize.with(series).observe(responseBytes);
      results.with({ code, method: verb, host }).inc();
    },
    rateLimiterWaited: ({ verb, host, waitedMs }) => waits.with({ verb, host }).observe(waitedMs / 1000),
  };
}

function createTransportMetrics(
  registry: MetricsRegistry,
): Pick<RestClientMetrics, 'connectionsTaken' | 'connectionsClosed'> {
  const calls = defineCounter(registry, {
    name: 'rest_client_transport_create_calls_total',
    help: 'Requests for a set of connections: hit when an existing one serves, miss when one had to be made.',
    labels: ['result'],
  });
  const [hits, misses] = [calls.with({ result: 'hit' }), calls.with({ result: 'miss' })];
  defineCounter(registry, {
    name: 'rest_client_transport_cert_rotation_gc_calls_total',
    help: 'Watches of certificate files ended by garbage collection. Here clients end their own: none.',
  });
  const entries = defineGauge(registry, {
    name: 'rest_client_transport_cache_entries',
    help: 'Sets of connections that clients share.',
  });
  return {
    connectionsTaken(shared) {
      (shared ? hits : misses).inc();
      if (!shared) entries.inc();
    },
    connectionsClosed: () => entries.dec(),
  };
}

/** A client certificate got from a credential plugin; the shape in which `pkg/client` tells of it. */
export interface ObservedCertificate {
  readonly issuedAtMs: number;
  readonly expiresAtMs: number;
}

export interface ExecPluginMetrics {
  /** For one user of plugins, who reports each certificate when it comes into use, in place of the one before. */
  follow(): (certificate: ObservedCertificate) => void;
}

export function createExecPluginMetrics(registry: MetricsRegistry, nowMs: () => number): ExecPluginMetrics {
  const inUse = new Map<object, ObservedCertificate>();
  const ttl = defineGauge(registry, {
    name: 'rest_client_exec_plugin_ttl_seconds',
    help: 'Time until the first client certificate got from a credential plugin ends; +Inf when there is none.',
  });
  ttl.readFrom(() => (Math.min(...[...inUse.values()].map(({ expiresAtMs }) => expiresAtMs)) - nowMs()) / 1000);
  const rotationAge = defineHistogram(registry, {
    name: 'rest_client_exec_plugin_certificate_rotation_age',
    help: 'Seconds since their issue after which client certificates got from a credential plugin were replaced.',
    buckets: [600, 1800, 3600, 14_400, 86_400, 604_800, 2_592_000, 7_776_000, 15_552_000, 31_104_000, 124_416_000],
  });
  return {
    follow() {
      const user = {};
      return (certificate) => {
        const before = inUse.get(user);
        if (before !== undefined) rotationAge.observe((nowMs() - before.issuedAtMs) / 1000);
        inUse.set(user, certificate);
      };
    },
  };
}
