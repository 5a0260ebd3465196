import type { AddressInfo } from 'node:net';

import type { Connection, WatchFormatName } from '../client/index.ts';
import type { ControllerDefinition, FeatureGates } from '../controller/index.ts';
import {
  checkDurations,
  InvalidDurationsError,
  type CandidateVersions,
  type ElectionDurations,
} from '../leaderelection/index.ts';
import type { Logger } from '../log/index.ts';
import type { Loop } from '../loop/index.ts';
import type { MetricsRegistry } from '../metrics/index.ts';
import type { HealthCheck, ServerOptions } from '../server/index.ts';
import type { Clock, Random } from '../time/index.ts';
import { ManagerError } from './errors.ts';
import type { ServerParts } from './serving.ts';

/** Name and controllers are all that a manager needs. Everything else has a default and can be replaced. */
export interface ManagerOptions {
  /** The name of the program: of its lease, in its user agent, its events and its log lines. */
  readonly name: string;
  /** The version of the program, for the user agent. Default `v0.0.0`. */
  readonly version?: string | undefined;
  readonly controllers: readonly ControllerDefinition[];
  /**
   * The path of a kubeconfig, or a connection. Default, as for kubectl: the files that KUBECONFIG names, or
   * `~/.kube/config`, or the service account of the pod.
   */
  readonly kubeconfig?: string | Connection | undefined;
  /** Watch this namespace only. Default: all. */
  readonly namespace?: string | undefined;
  /** Default: on. Candidates are the processes with the same name and namespace of the lease. */
  readonly leaderElection?: boolean | LeaderElectionSettings | undefined;
  /** Health checks and metrics over HTTP. Default: port 8080. False: none. */
  readonly server?: false | ServerSettings | ((parts: ServerParts) => ServerOptions) | undefined;
  /** Default: text lines on stderr. */
  readonly logger?: Logger | LogSettings | undefined;
  /** Stops the manager. Default: SIGTERM and SIGINT do, and a second one ends the process at once. */
  readonly signal?: AbortSignal | undefined;
  readonly requests?: RequestSettings | undefined;
  /** How long running reconciles may go on after the stop. 0: no limit. Default 10 s. */
  readonly shutdownTimeoutMs?: number | undefined;
  /** How often every cached object is handed to the handlers again, at least. Default 0: never. */
  readonly resyncMs?: number | undefined;
  /** The shortest pause before each controller starts. Default 0. */
  readonly startIntervalMs?: number | undefined;
  /** More checks, of `/healthz` and of `/readyz`. */
  readonly checks?: { readonly healthz?: readonly HealthCheck[]; readonly readyz?: readonly HealthCheck[] } | undefined;
  /**
   * Freeze cached objects, so that code which changes them fails instead of spoiling the cache for everyone. Default:
   * unless NODE_ENV is `production`.
   */
  readonly freezeCaches?: boolean | undefined;
  /** Follows the controllers, and shows people what they do. Default: nothing is followed. */
  readonly loop?: Loop | undefined;
  /** Feature gates that controllers may ask for. Default: all off. */
  readonly gates?: FeatureGates | undefined;
  /** Components whose events are logged as information. Default: none; they are logged at verbosity 3. */
  readonly loggedEvents?: ReadonlySet<string> | undefined;
  /** Takes the metrics of the manager. Default: a registry of its own, with those of the process. */
  readonly metrics?: MetricsRegistry | undefined;
  /** Called when this process leads and all caches are synced. */
  readonly onLeading?: (() => void) | undefined;
  /**
   * The caller ends the process when the manager fails. Then nothing is closed first if the lease is lost or controllers
   * are stuck: another process may lead soon. Default: only without a `signal`.
   */
  readonly exitsOnFailure?: boolean | undefined;
  readonly clock?: Clock | undefined;
  readonly random?: Random | undefined;
  /** Part of the identity in the lease. Default: the name of the host. */
  readonly hostname?: string | undefined;
  /** KUBECONFIG, HOME, HTTPS_PROXY and the like. Default: the environment of the process. */
  readonly environment?: Environment | undefined;
}

export type Environment = Readonly<Record<string, string | undefined>>;

export interface LeaderElectionSettings extends Partial<ElectionDurations> {
  /** The name of the lease. Default: the name of the manager. */
  readonly name?: string | undefined;
  /** The namespace of the lease. Default: that of the pod, or of the context in the kubeconfig, or `default`. */
  readonly namespace?: string | undefined;
  /** Release the lease on a clean stop. Default true. */
  readonly releaseOnCancel?: boolean | undefined;
  /** The API server chooses the leader among the candidates, by their versions. Default: the first one leads. */
  readonly coordination?: CandidateVersions | undefined;
  /** Controllers that need a second lease. Default: none. */
  readonly migration?: MigrationSettings | undefined;
}

/**
 * For controllers that move from one program to another: each program runs them only while it holds this lease besides
 * its own, so they never run in both.
 */
export interface MigrationSettings {
  /** The name of the second lease. It has the namespace and the durations of the first. */
  readonly name: string;
  /** The names of the controllers that need it. */
  readonly controllers: ReadonlySet<string>;
}

export interface ServerSettings {
  /** Default 8080. `any`: a free one, see `onListening`. */
  readonly port?: number | 'any' | undefined;
  /** Default: all addresses. */
  readonly host?: string | undefined;
  /**
   * HTTPS, with authorization for metrics: the API server checks tokens and permissions. Default false: plain HTTP,
   * open to everyone who reaches the port.
   */
  readonly secure?: boolean | undefined;
  /** The certificate and its key. Default, with `secure`: a self-signed one. */
  readonly certFile?: string | undefined;
  readonly keyFile?: string | undefined;
  readonly onListening?: ((address: AddressInfo) => void) | undefined;
}

export interface LogSettings {
  /** Default `text`. */
  readonly format?: 'text' | 'json' | undefined;
  /** 0: errors, warnings and information; 3: also changes; 4: also debug lines; 5: also traces. Default 0. */
  readonly verbosity?: number | undefined;
}

export interface RequestSettings {
  /** Requests per second of each client. Default: no limit; the API server sets the pace. */
  readonly qps?: number | undefined;
  readonly burst?: number | undefined;
  /** How the server sends the events of built-in kinds. Default: protobuf, which costs it and this process less. */
  readonly watchFormat?: WatchFormatName | undefined;
  /** Each controller acts as the service account of its name in this namespace. Default: as the process. */
  readonly serviceAccountNamespace?: string | undefined;
}

/** As in client-go. */
export const defaultDurations: ElectionDurations = {
  leaseDurationMs: 15_000,
  renewDeadlineMs: 10_000,
  retryPeriodMs: 2000,
};

const durationNames = {
  leaseDurationMs: 'leaseDurationMs',
  renewDeadlineMs: 'renewDeadlineMs',
  retryPeriodMs: 'retryPeriodMs',
};

/** Throws a `ManagerError` that names the option which is wrong. */
export function checkOptions({ name, controllers, leaderElection, server }: ManagerOptions): void {
  const refuse = (message: string): never => {
    throw new ManagerError('InvalidOptions', message);
  };
  // The name of a Lease, and without characters that user agents separate parts with.
  if (!/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(name) || name.length > 253) {
    refuse(`name: ${JSON.stringify(name)} must consist of lower case letters, digits, "-" and "."`);
  }
  const names = controllers.map((each) => each.name);
  const twice = names.find((each, index) => names.indexOf(each) !== index);
  if (twice !== undefined) refuse(`controllers: two have the name ${JSON.stringify(twice)}`);
  if (names.includes('')) refuse('controllers: one has an empty name');
  if (typeof server === 'object' && (server.certFile === undefined) !== (server.keyFile === undefined)) {
    refuse('server: certFile and keyFile must be set together');
  }
  if (typeof leaderElection !== 'object') return;
  if (leaderElection.migration?.name === (leaderElection.name ?? name)) {
    refuse(
      `leaderElection: the migration needs a lease of its own, got ${JSON.stringify(leaderElection.migration.name)}`,
    );
  }
  try {
    checkDurations({ ...defaultDurations, ...leaderElection }, durationNames);
  } catch (error) {
    if (error instanceof InvalidDurationsError) refuse(`leaderElection: ${error.message}`);
    throw error;
  }
}
