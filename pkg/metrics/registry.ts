import type { Metric, Registry } from 'prom-client';
import PromRegistry from 'prom-client/lib/registry.js';

/**
 * prom-client's registry, with its text format and its default metrics. It serves the families of this folder, and any
 * metric of prom-client that is registered with it, so that authors of controllers can use the library as they know it.
 * The families themselves are ours: `families.ts` says why, with the measurement.
 */
export type MetricsRegistry = Registry;

/** The part of a metric that the registry of prom-client reads at each scrape. */
export interface MetricFamily {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  get(): Promise<FamilySnapshot>;
}

export interface FamilySnapshot extends Pick<MetricFamily, 'name' | 'help' | 'type'> {
  readonly values: readonly Sample[];
}

export interface Sample {
  readonly value: number;
  readonly labels: Readonly<Record<string, string>>;
  /** The name of the series if it is not the family's name, as for the parts of a histogram. */
  readonly metricName?: string;
  /** Labels that several samples share. They are formatted once. */
  readonly sharedLabels?: Readonly<Record<string, string>>;
}

export function createMetricsRegistry(): MetricsRegistry {
  return new SortedRegistry();
}

/** Sorts the families by name like Go's registries, so that two scrapes can be compared line by line. */
class SortedRegistry extends PromRegistry {
  override async metrics(): Promise<string> {
    const names = this.getMetricsAsArray().map(({ name }) => name);
    const families = await Promise.all(names.sort().map((name) => this.getSingleMetricAsString(name)));
    return families.length === 0 ? '' : `${families.join('\n')}\n`;
  }
}

/**
 * Returns the family of this name if the registry has one of the same kind. Otherwise registers a new one. So a
 * controller that is restarted in the same process continues its series.
 */
export function registerOnce<F extends MetricFamily>(
  registry: MetricsRegistry,
  name: string,
  isSame: (known: unknown) => known is F,
  create: () => F,
): F {
  const known: unknown = registry.getSingleMetric(name);
  if (known !== undefined) {
    if (isSame(known)) return known;
    throw new MetricConflictError(name);
  }
  const family = create();
  registry.registerMetric(asPromMetric(family));
  return family;
}

export class MetricConflictError extends Error {
  override readonly name = 'MetricConflictError';
  readonly reason = 'MetricConflict';

  constructor(metric: string) {
    super(`metric ${metric} is already registered with another type, other labels or other buckets`);
  }
}

// The types of prom-client allow only its own four classes, but its registry only reads `name` and calls `get`.
function asPromMetric(family: MetricFamily): Metric {
  if (!isPromMetric(family)) throw new TypeError('a metric family needs a name and get()');
  return family;
}

function isPromMetric(family: object): family is Metric {
  return 'name' in family && 'get' in family && typeof family.get === 'function';
}
