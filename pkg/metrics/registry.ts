import type { Metric, Registry } from 'prom-client';
import PromRegistry from 'prom-client/lib/registry.js';

/** Takes the families of this folder, and any metric of prom-client whose `registers` name it. */
export type MetricsRegistry = Registry;

/** What the registry reads from a metric when scraped. */
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
  /** Where the line's name is not the family's: the parts of a histogram. */
  readonly metricName?: string;
  /** Labels that many samples share, as one object: written out once. */
  readonly sharedLabels?: Readonly<Record<string, string>>;
}

export function createMetricsRegistry(): MetricsRegistry {
  return new SortedRegistry();
}

/** Serves the families by name, as Go's registries do, so that two scrapes can be compared line by line. */
class SortedRegistry extends PromRegistry {
  override async metrics(): Promise<string> {
    const names = this.getMetricsAsArray().map(({ name }) => name);
    const families = await Promise.all(names.sort().map((name) => this.getSingleMetricAsString(name)));
    return families.length === 0 ? '' : `${families.join('\n')}\n`;
  }
}

/**
 * Gives the family of this name if the registry has one of the same kind, else registers a new one: a controller that
 * starts again after a crash finds the series of its first life.
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

// prom-client types its metrics as its own four classes, but its registry only ever reads `name` and calls `get`.
function asPromMetric(family: MetricFamily): Metric {
  if (!isPromMetric(family)) throw new TypeError('a metric family needs a name and get()');
  return family;
}

function isPromMetric(family: object): family is Metric {
  return 'name' in family && 'get' in family && typeof family.get === 'function';
}
