import { defineCounter, defineGauge, defineHistogram } from './families.ts';
import type { Histogram, LabelledMetric } from './families.ts';
import type { MetricsRegistry } from './registry.ts';

/** A finished request, in the form that `pkg/client` passes to its observer. */
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

/** The observer of all clients in the process. */
export interface RestClientMetrics {
  requestFinished(request: ObservedRequest): void;
  rateLimiterWaited(wait: ObservedWait): void;
  /** A new client shares the connections of another one, or has new connections. */
  connectionsTaken(shared: boolean): void;
  connectionsClosed(): void;
}

const SECONDS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60];
const BYTES = [64, 256, 512, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216];
/** The HTTP methods of the client. Their series exist before the first request. */
const VERBS = ['DELETE', 'GET', 'PATCH', 'POST', 'PUT'];
const LABELS = ['verb', 'host'] as const;

/** `hosts`: the API servers known at the start. Their series exist, at zero, from the start. */
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
  const duration = histogram(
    'request_duration_seconds',
    'Time from sending a request to the end of its response.',
    SECONDS,
  );
  const requestSize = histogram('request_size_bytes', 'Size of request bodies.', BYTES);
  const responseSize = histogram('response_size_bytes', 'Size of response bodies, except those of watches.', BYTES);
  const waits = histogram(
    'rate_limiter_duration_seconds',
    "Time that requests waited for the client's own rate limit.",
    SECONDS,
  );
  const results = defineCounter(registry, {
    name: 'rest_client_requests_total',
    help: 'Requests by HTTP status, method and host. Without a response the status is <error>.',
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
    help: 'New clients: hit if a client shares existing connections, miss if it has new ones.',
    labels: ['result'],
  });
  const [hits, misses] = [calls.with({ result: 'hit' }), calls.with({ result: 'miss' })];
  defineCounter(registry, {
    name: 'rest_client_transport_cert_rotation_gc_calls_total',
    help: 'Watches of certificate files that garbage collection ended. Always 0: clients end their own watches.',
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

/** A client certificate from a credential plugin, in the form that `pkg/client` reports it. */
export interface ObservedCertificate {
  readonly issuedAtMs: number;
  readonly expiresAtMs: number;
}

export interface ExecPluginMetrics {
  /** Returns a function for one client, which calls it with each new certificate from its plugin. */
  follow(): (certificate: ObservedCertificate) => void;
}

export function createExecPluginMetrics(registry: MetricsRegistry, nowMs: () => number): ExecPluginMetrics {
  const inUse = new Map<object, ObservedCertificate>();
  const ttl = defineGauge(registry, {
    name: 'rest_client_exec_plugin_ttl_seconds',
    help: 'Time until the first client certificate from a credential plugin expires. +Inf without such a certificate.',
  });
  ttl.readFrom(() => (Math.min(...[...inUse.values()].map(({ expiresAtMs }) => expiresAtMs)) - nowMs()) / 1000);
  const rotationAge = defineHistogram(registry, {
    name: 'rest_client_exec_plugin_certificate_rotation_age',
    help: 'Age in seconds at which client certificates from a credential plugin were replaced.',
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
