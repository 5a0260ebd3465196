import {
  ClientBuilder,
  ConfigError,
  findKubeconfig,
  loadKubeconfig,
  userAgentOf,
  type Connection,
  type RequestObserver,
} from '../client/index.ts';
import type { Loop } from '../loop/index.ts';
import { createExecPluginMetrics, createRestClientMetrics, type MetricsRegistry } from '../metrics/index.ts';
import type { Clock } from '../time/index.ts';
import { ManagerError } from './errors.ts';
import type { Environment, ManagerOptions } from './options.ts';

interface ConnectDeps {
  readonly clock: Clock;
  readonly environment: Environment;
  readonly registry: MetricsRegistry;
}

/** Throws a `ManagerError` if there is no kubeconfig, or it cannot be used. */
export async function connect(kubeconfig: ManagerOptions['kubeconfig'], deps: ConnectDeps): Promise<Connection> {
  if (typeof kubeconfig === 'object') return kubeconfig;
  const { clock, environment, registry } = deps;
  try {
    const onPluginCertificate = createExecPluginMetrics(registry, () => clock.now()).follow();
    const found = findKubeconfig(kubeconfig, environment);
    return await loadKubeconfig({ ...found, proxyEnv: environment, onPluginCertificate }, clock);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new ManagerError('UnusableConfiguration', error.message, { cause: error });
  }
}

interface ClientDeps extends Pick<ManagerOptions, 'name' | 'version' | 'requests' | 'loop'> {
  readonly clock: Clock;
  readonly registry: MetricsRegistry;
}

/** Creates the clients of any connection, which share one set of metrics. The series of `first` exist at once. */
export function createClientOpener(
  first: Connection,
  { name, version = 'v0.0.0', requests, loop, clock, registry }: ClientDeps,
  stack: AsyncDisposableStack,
): (connection: Connection) => ClientBuilder {
  const metrics = createRestClientMetrics(registry, [new URL(first.address.url).host]);
  const observer = loop === undefined ? metrics : observeBoth(metrics, loop);
  const userAgent = userAgentOf({ name, version });
  return (connection) =>
    stack.adopt(new ClientBuilder({ ...requests, connection, clock, userAgent, observer }), (each) => each.close());
}

function observeBoth(metrics: RequestObserver, loop: Loop): RequestObserver {
  return {
    ...metrics,
    requestFinished(request) {
      metrics.requestFinished(request);
      loop.requestFinished(request);
    },
    requestRefused: (request) => loop.requestRefused(request),
  };
}
