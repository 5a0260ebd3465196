import {
  checkSelector,
  formatSelector,
  InvalidSelectorError,
  resourceName,
  type Cached,
  type LabelSelector,
  type MetricSpec,
} from '../../pkg/api/index.ts';
import { goMessage, serverMessage, type Client } from '../../pkg/client/index.ts';
import type { Clock } from '../../pkg/time/index.ts';
import { MetricError, type MetricReading, type TimedReading } from './metric-reading.ts';
import { parseExternalValues, parseObjectValue, parsePodUsage, parsePodValues } from './metrics-api.ts';
import { CustomMetricsVersion } from './metrics-version.ts';
import { Places } from './places.ts';
import { noMatches } from './read-target.ts';
import type { ServedKinds } from './served-kinds.ts';

/** A share of the requests that the process may have in flight: a metrics API that hangs must leave room for others. */
const placesPerApi = 8;

interface MetricsDeps {
  readonly client: Pick<Client, 'request'>;
  readonly kinds: ServedKinds;
  readonly clock: Clock;
  readonly periodMs: number;
}

export interface MetricsScope {
  readonly namespace: string;
  /** Of the target's pods. */
  readonly selector: string;
}

type Api = 'resource' | 'custom' | 'external';
type Sources = { readonly [K in keyof Cached<MetricSpec>]-?: NonNullable<Cached<MetricSpec>[K]> };

/** Reads metrics from the three metrics APIs. Each has its own limit, so that none can keep the others from being read. */
export class MetricsReader {
  readonly #deps: MetricsDeps;
  readonly #version: CustomMetricsVersion;
  readonly #places: Readonly<Record<Api, Places>> = {
    resource: new Places(placesPerApi),
    custom: new Places(placesPerApi),
    external: new Places(placesPerApi),
  };

  constructor(deps: MetricsDeps) {
    this.#deps = deps;
    this.#version = new CustomMetricsVersion(deps.client, deps);
  }

  /** A failure is a reading too: the autoscaler's conditions show it. */
  async read(spec: Cached<MetricSpec>, scope: MetricsScope, signal: AbortSignal): Promise<TimedReading> {
    const { clock } = this.#deps;
    const startMs = clock.monotonic();
    const reading = await this.#tryToRead(spec, scope, signal);
    return { reading, durationMs: clock.monotonic() - startMs };
  }

  async #tryToRead(spec: Cached<MetricSpec>, scope: MetricsScope, signal: AbortSignal): Promise<MetricReading> {
    try {
      return await this.#readSource(spec, scope, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof MetricError) return { kind: 'failed', message: error.message };
      if (error instanceof InvalidSelectorError) return { kind: 'invalid selector', message: error.message };
      throw error;
    }
  }

  #readSource(spec: Cached<MetricSpec>, scope: MetricsScope, signal: AbortSignal): Promise<MetricReading> {
    const { resource, containerResource, pods, object, external } = spec;
    if (resource !== undefined) return this.#readResource(resource, scope, signal);
    if (containerResource !== undefined) return this.#readResource(containerResource, scope, signal);
    if (pods !== undefined) return this.#readPods(pods, scope, signal);
    if (object !== undefined) return this.#readObject(object, scope, signal);
    if (external !== undefined) return this.#readExternal(external, scope, signal);
    return Promise.resolve({ kind: 'failed', message: 'the metric has no source' });
  }

  async #readResource(
    source: Sources['resource'] & { readonly container?: string },
    { namespace, selector }: MetricsScope,
    signal: AbortSignal,
  ): Promise<MetricReading> {
    const path = `/apis/metrics.k8s.io/v1beta1/namespaces/${namespace}/pods${query({ labelSelector: selector })}`;
    const metrics = await this.#ask('resource', { path, request: 'get pods.metrics.k8s.io' }, signal, (answer) =>
      parsePodUsage(answer, source.name, source.container),
    );
    return { kind: 'pods', metrics };
  }

  async #readPods(
    { metric }: Sources['pods'],
    { namespace, selector }: MetricsScope,
    signal: AbortSignal,
  ): Promise<MetricReading> {
    const parameters = { labelSelector: selector, metricLabelSelector: selectorText(metric.selector) };
    const version = await this.#customVersion(signal);
    const path = `/apis/${version}/namespaces/${namespace}/pods/*/${encode(metric.name)}${query(parameters)}`;
    const question = { path, request: 'get pods.custom.metrics.k8s.io *' };
    return { kind: 'pods', metrics: await this.#ask('custom', question, signal, parsePodValues) };
  }

  async #readObject(
    { describedObject, metric }: Sources['object'],
    { namespace }: MetricsScope,
    signal: AbortSignal,
  ): Promise<MetricReading> {
    const parameters = query({ metricLabelSelector: selectorText(metric.selector) });
    const version = await this.#customVersion(signal);
    const { apiVersion = '', kind, name } = describedObject;
    const [group = ''] = apiVersion.includes('/') ? apiVersion.split('/') : [];
    const root = `/apis/${version}/namespaces/${namespace}`;
    // An autoscaler may not look beyond its own namespace, whatever name is given.
    const isNamespace = kind === 'Namespace' && group === '';
    const resource = isNamespace ? 'metrics' : await this.#resourceOf(group, kind, signal);
    const [place, named] = isNamespace ? [resource, metric.name] : [`${resource}/${encode(name)}`, name];
    const question = {
      path: `${root}/${place}/${encode(metric.name)}${parameters}`,
      request: `get ${resource}.custom.metrics.k8s.io ${named}`,
    };
    return { kind: 'object', value: await this.#ask('custom', question, signal, parseObjectValue) };
  }

  async #readExternal(
    { metric }: Sources['external'],
    { namespace }: MetricsScope,
    signal: AbortSignal,
  ): Promise<MetricReading> {
    const parameters = query({ labelSelector: selectorText(metric.selector) });
    const path = `/apis/external.metrics.k8s.io/v1beta1/namespaces/${namespace}/${encode(metric.name)}${parameters}`;
    const question = { path, request: `get ${metric.name}.external.metrics.k8s.io` };
    return { kind: 'external', values: await this.#ask('external', question, signal, parseExternalValues) };
  }

  async #customVersion(signal: AbortSignal): Promise<string> {
    try {
      return await this.#version.get(signal);
    } catch (error) {
      signal.throwIfAborted();
      throw new MetricError(`${attempts.custom}: ${goMessage(error, 'get')}`, { cause: error });
    }
  }

  async #resourceOf(group: string, kind: string, signal: AbortSignal): Promise<string> {
    const name = group === '' ? kind : `${kind}.${group}`;
    const attempted = `${attempts.custom}: unable to map kind ${name} to resource`;
    try {
      const [found] = await this.#deps.kinds.find(group, kind, signal);
      if (found !== undefined) return resourceName(found);
    } catch (error) {
      // A failing discovery makes this one metric invalid: the others of the autoscaler still count.
      signal.throwIfAborted();
      throw new MetricError(`${attempted}: ${serverMessage(error)}`, { cause: error });
    }
    throw new MetricError(`${attempted}: ${noMatches(group, kind)}`);
  }

  async #ask<T>(
    api: Api,
    { path, request }: { readonly path: string; readonly request: string },
    signal: AbortSignal,
    parse: (answer: unknown) => T,
  ): Promise<T> {
    try {
      const { client } = this.#deps;
      return parse(await this.#places[api].run(() => client.request({ method: 'GET', path }, signal), signal));
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof MetricError) throw error;
      throw new MetricError(`${attempts[api]}: ${goMessage(error, request)}`, { cause: error });
    }
  }
}

const attempts: Readonly<Record<Api, string>> = {
  resource: 'unable to fetch metrics from resource metrics API',
  custom: 'unable to fetch metrics from custom metrics API',
  external: 'unable to fetch metrics from external metrics API',
};

const encode = encodeURIComponent;

function query(parameters: Readonly<Record<string, string>>): string {
  const given = Object.entries(parameters).filter(([, value]) => value !== '');
  return given.length === 0 ? '' : `?${new URLSearchParams(given).toString()}`;
}

/** Empty if nothing is selected: all values of the metric count. Throws `InvalidSelectorError`. */
function selectorText(selector: Cached<LabelSelector> | undefined): string {
  if (selector === undefined) return '';
  checkSelector(selector);
  return formatSelector(selector);
}
