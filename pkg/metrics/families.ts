import { defaultBuckets, formatBound } from './buckets.ts';
import { registerOnce } from './registry.ts';
import type { FamilySnapshot, MetricFamily, MetricsRegistry, Sample } from './registry.ts';

/**
 * Counters, gauges and histograms whose children are bound to their labels once. An observation takes 0.02 µs. The
 * histograms of prom-client take 0.7 µs, bound to their labels or not, and its counters 0.2 µs. A key in a work queue
 * makes about five observations, so without this file each key would cost 2 µs more. The registry is prom-client's.
 */
export interface MetricSpec<L extends string> {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly L[];
}

export interface HistogramSpec<L extends string> extends MetricSpec<L> {
  /** Upper bounds, ascending, without +Inf. Default: `defaultBuckets`. */
  readonly buckets?: readonly number[];
}

/** One child per combination of label values. The first `with` creates a child, at zero. */
export interface LabelledMetric<L extends string, M> {
  with(labels: Readonly<Record<L, string>>): M;
  remove(labels: Readonly<Record<L, string>>): void;
  clear(): void;
}

class Scalar {
  #value = 0;
  #read: (() => number) | undefined;

  get value(): number {
    return this.#read === undefined ? this.#value : this.#read();
  }

  inc(by = 1): void {
    this.#value += by;
  }

  /** Replaces the value: from now on `read` is called at each scrape. */
  readFrom(read: () => number): void {
    this.#read = read;
  }

  protected assign(value: number): void {
    this.#value = value;
  }
}

/** Only grows, until the process restarts. */
export class Counter extends Scalar {}

export class Gauge extends Scalar {
  set(value: number): void {
    this.assign(value);
  }

  dec(by = 1): void {
    this.inc(-by);
  }
}

export class Histogram {
  readonly #bounds: readonly number[];
  /** Per bucket, not cumulative, so that an observation is one write. The last bucket has no upper bound. */
  readonly #counts: Float64Array;
  #sum = 0;

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = new Float64Array(bounds.length + 1);
  }

  get sum(): number {
    return this.#sum;
  }

  get count(): number {
    return this.cumulativeCounts().at(-1) ?? 0;
  }

  observe(value: number): void {
    const bounds = this.#bounds;
    let bucket = 0;
    while (bucket < bounds.length && value > (bounds[bucket] ?? Infinity)) bucket++;
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
    this.#sum += value;
  }

  /** How many observations are at or below each bound. The last is the number of all observations. */
  cumulativeCounts(): readonly number[] {
    let total = 0;
    return Array.from(this.#counts, (count) => (total += count));
  }
}

export function defineCounter(registry: MetricsRegistry, spec: MetricSpec<never>): Counter;
export function defineCounter<const L extends string>(
  registry: MetricsRegistry,
  spec: MetricSpec<L> & { readonly labels: readonly L[] },
): LabelledMetric<L, Counter>;
export function defineCounter(registry: MetricsRegistry, spec: MetricSpec<string>): unknown {
  return define(registry, spec, new CounterKind());
}

export function defineGauge(registry: MetricsRegistry, spec: MetricSpec<never>): Gauge;
export function defineGauge<const L extends string>(
  registry: MetricsRegistry,
  spec: MetricSpec<L> & { readonly labels: readonly L[] },
): LabelledMetric<L, Gauge>;
export function defineGauge(registry: MetricsRegistry, spec: MetricSpec<string>): unknown {
  return define(registry, spec, new GaugeKind());
}

export function defineHistogram(registry: MetricsRegistry, spec: HistogramSpec<never>): Histogram;
export function defineHistogram<const L extends string>(
  registry: MetricsRegistry,
  spec: HistogramSpec<L> & { readonly labels: readonly L[] },
): LabelledMetric<L, Histogram>;
export function defineHistogram(registry: MetricsRegistry, spec: HistogramSpec<string>): unknown {
  return define(registry, spec, new HistogramKind(spec.name, spec.buckets ?? defaultBuckets));
}

/** The difference between the three types: how to create a child and how to sample it. */
interface Kind<M> {
  readonly type: MetricFamily['type'];
  /** Kinds with the same shape can share a family. */
  readonly shape: string;
  create(): M;
  sample(child: M, labels: Readonly<Record<string, string>>, into: Sample[]): void;
}

class CounterKind implements Kind<Counter> {
  readonly type = 'counter';
  readonly shape = 'counter';
  create = (): Counter => new Counter();
  sample(child: Counter, labels: Readonly<Record<string, string>>, into: Sample[]): void {
    into.push({ value: child.value, labels });
  }
}

class GaugeKind implements Kind<Gauge> {
  readonly type = 'gauge';
  readonly shape = 'gauge';
  create = (): Gauge => new Gauge();
  sample(child: Gauge, labels: Readonly<Record<string, string>>, into: Sample[]): void {
    into.push({ value: child.value, labels });
  }
}

class HistogramKind implements Kind<Histogram> {
  readonly type = 'histogram';
  readonly shape: string;
  readonly #name: string;
  readonly #bounds: readonly number[];
  readonly #bucketLabels: readonly Readonly<Record<string, string>>[];

  constructor(name: string, bounds: readonly number[]) {
    const ascending = bounds.every((bound, i) => i === 0 || bound > (bounds[i - 1] ?? Infinity));
    if (!ascending) throw new RangeError(`buckets of histogram ${name} must be in ascending order`);
    this.#name = name;
    this.#bounds = bounds;
    this.#bucketLabels = [...bounds, Infinity].map((bound) => ({ le: formatBound(bound) }));
    this.shape = `histogram ${bounds.join(' ')}`;
  }

  create = (): Histogram => new Histogram(this.#bounds);

  sample(child: Histogram, sharedLabels: Readonly<Record<string, string>>, into: Sample[]): void {
    const counts = child.cumulativeCounts();
    const part = (suffix: string, value: number, labels: Readonly<Record<string, string>>): void => {
      into.push({ metricName: `${this.#name}_${suffix}`, value, labels, sharedLabels });
    };
    for (const [i, labels] of this.#bucketLabels.entries()) part('bucket', counts[i] ?? 0, labels);
    part('sum', child.sum, {});
    part('count', counts.at(-1) ?? 0, {});
  }
}

class Family<M> implements MetricFamily, LabelledMetric<string, M> {
  readonly name: string;
  readonly help: string;
  readonly kind: Kind<M>;
  readonly labelNames: readonly string[];
  readonly #children = new Map<string, { readonly labels: Readonly<Record<string, string>>; readonly child: M }>();

  constructor(spec: MetricSpec<string>, kind: Kind<M>) {
    this.name = spec.name;
    this.help = spec.help;
    this.kind = kind;
    this.labelNames = spec.labels ?? [];
    // A family without labels has one series, which exists from the start.
    if (this.labelNames.length === 0) this.with({});
  }

  get type(): MetricFamily['type'] {
    return this.kind.type;
  }

  with(labels: Readonly<Record<string, string>>): M {
    const id = this.#idOf(labels);
    const known = this.#children.get(id);
    if (known !== undefined) return known.child;
    const child = this.kind.create();
    const own = Object.fromEntries(this.labelNames.map((name) => [name, labels[name] ?? '']));
    this.#children.set(id, { labels: own, child });
    return child;
  }

  remove(labels: Readonly<Record<string, string>>): void {
    this.#children.delete(this.#idOf(labels));
  }

  clear(): void {
    this.#children.clear();
  }

  async get(): Promise<FamilySnapshot> {
    const values: Sample[] = [];
    for (const { labels, child } of this.#children.values()) this.kind.sample(child, labels, values);
    return { name: this.name, help: this.help, type: this.type, values };
  }

  // NUL separates the values: names and codes do not contain it.
  #idOf(labels: Readonly<Record<string, string>>): string {
    let id = '';
    for (const name of this.labelNames) id += `${labels[name] ?? ''}\0`;
    return id;
  }
}

function define<M>(registry: MetricsRegistry, spec: MetricSpec<string>, kind: Kind<M>): Family<M> | M {
  const labels = (spec.labels ?? []).join();
  const isSame = (known: unknown): known is Family<M> =>
    known instanceof Family && known.kind.shape === kind.shape && known.labelNames.join() === labels;
  const family = registerOnce(registry, spec.name, isSame, () => new Family(spec, kind));
  return spec.labels === undefined ? family.with({}) : family;
}
