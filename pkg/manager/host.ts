import { hostname } from 'node:os';

import { newIdentity } from '../leaderelection/index.ts';
import { createLogger, openLogStream, type Logger } from '../log/index.ts';
import {
  createMetricsRegistry,
  defineProcessMetrics,
  defineRuntimeMetrics,
  type MetricsRegistry,
} from '../metrics/index.ts';
import { systemClock, systemRandom, type Clock, type Random } from '../time/index.ts';
import type { Environment, ManagerOptions } from './options.ts';

const defaultShutdownTimeoutMs = 10_000;

/** The defaults that a manager takes from its process. */
export interface Host {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly registry: MetricsRegistry;
  readonly environment: Environment;
  /** The holder identity in leases. One process has the same one in each of its leases. */
  readonly identity: string;
  readonly shutdownTimeoutMs: number;
}

export function describeHost(options: ManagerOptions): Host {
  const { clock = systemClock, random = systemRandom } = options;
  return {
    clock,
    random,
    logger: loggerOf(options, clock),
    registry: options.metrics ?? processRegistry(),
    environment: options.environment ?? process.env,
    identity: newIdentity(options.hostname ?? hostname()),
    shutdownTimeoutMs: options.shutdownTimeoutMs ?? defaultShutdownTimeoutMs,
  };
}

function loggerOf({ name, logger = {} }: ManagerOptions, clock: Clock): Logger {
  if ('child' in logger) return logger;
  const { format = 'text', verbosity = 0 } = logger;
  return createLogger({ format, verbosity, destination: openLogStream(2), clock, source: name });
}

function processRegistry(): MetricsRegistry {
  const registry = createMetricsRegistry();
  defineProcessMetrics(registry);
  defineRuntimeMetrics(registry);
  return registry;
}
