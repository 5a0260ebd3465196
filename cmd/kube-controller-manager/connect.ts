import {
  ConfigError,
  httpUrl,
  loadKubeconfig,
  protobufType,
  staticCredentials,
  type Connection,
  type KubeconfigOptions,
  type WatchFormatName,
} from '../../pkg/client/index.ts';
import type { Environment } from '../../pkg/manager/index.ts';
import type { ExecPluginMetrics } from '../../pkg/metrics/index.ts';
import type { Clock } from '../../pkg/time/index.ts';
import { exitCodes, StartupError } from './exit-codes.ts';
import type { Options } from './options.ts';

export interface ConnectDeps {
  readonly clock: Clock;
  readonly environment: Environment;
  readonly pluginMetrics: Pick<ExecPluginMetrics, 'follow'>;
}

/** The connection of the process: `--kubeconfig` and `--master`, or the service account of the pod if neither is set. */
export async function connect({ flags }: Options, deps: ConnectDeps): Promise<Connection> {
  const { environment } = deps;
  const { kubeconfig, master } = flags;
  if (kubeconfig === '' && master !== '') return anonymousConnection(master, environment);
  const server = master === '' ? undefined : master;
  const flag = kubeconfig === '' ? '--kubeconfig is not given and' : '--kubeconfig:';
  return load({ path: pathOrPod(kubeconfig), server, proxyEnv: environment }, flag, deps);
}

/** The connections for reviews. `process`: that of the process. Undefined: there is none, so nothing is reviewed. */
export interface Reviewers {
  readonly authentication: Connection | 'process' | undefined;
  readonly authorization: Connection | 'process' | undefined;
}

type ReviewFlag = 'authentication-kubeconfig' | 'authorization-kubeconfig';

export async function connectReviewers(options: Options, deps: ConnectDeps): Promise<Reviewers> {
  return {
    authentication: await connectReviewer('authentication-kubeconfig', options, deps),
    authorization: await connectReviewer('authorization-kubeconfig', options, deps),
  };
}

async function connectReviewer(
  flag: ReviewFlag,
  { flags }: Options,
  deps: ConnectDeps,
): Promise<Connection | 'process' | undefined> {
  if (flags['secure-port'] === 0) return undefined;
  const { environment } = deps;
  const path = flags[flag];
  // kubeadm sets all three flags to the same file: one connection is enough.
  if (path === flags.kubeconfig && path !== '' && flags.master === '') return 'process';
  if (path === '' && environment['KUBERNETES_SERVICE_HOST'] === undefined) return undefined;
  return load({ path: pathOrPod(path), proxyEnv: environment }, `--${flag}:`, deps);
}

function pathOrPod(path: string): string | undefined {
  return path === '' ? undefined : path;
}

async function load(options: KubeconfigOptions, flag: string, deps: ConnectDeps): Promise<Connection> {
  try {
    const onPluginCertificate = deps.pluginMetrics.follow();
    return await loadKubeconfig({ ...options, onPluginCertificate }, deps.clock);
  } catch (error) {
    throw startupErrorOf(error, `${flag} `);
  }
}

function startupErrorOf(error: unknown, prefix = ''): unknown {
  if (!(error instanceof ConfigError)) return error;
  return new StartupError(exitCodes.environment, `${prefix}${error.message}`, { cause: error });
}

/** As in Go, an address alone means a server that lets anyone in. */
function anonymousConnection(master: string, proxyEnv: Environment): Connection {
  const tls = {};
  try {
    return {
      address: { url: httpUrl('--master', master), proxyEnv },
      credentials: staticCredentials({ tls, headers: [] }),
      anonymousTls: () => tls,
    };
  } catch (error) {
    throw startupErrorOf(error);
  }
}

export function watchFormat({ flags }: Pick<Options, 'flags'>): WatchFormatName {
  return flags['kube-api-content-type'] === protobufType ? 'protobuf' : 'json';
}

/** The defaults of Go's client if the rate is 0. */
const zeroQps = { qps: 5, burst: 10 };

/**
 * Requests per second of each client. Without a flag there is no client-side limit: the API server's priority and
 * fairness sets the pace (429, Retry-After), and the transport limits the requests in flight.
 */
export function requestRate({ flags, given }: Options): { readonly qps?: number; readonly burst?: number } {
  if (!given.has('kube-api-qps') && !given.has('kube-api-burst')) return {};
  const qps = flags['kube-api-qps'];
  if (qps === 0) return zeroQps;
  return qps < 0 ? {} : { qps, burst: flags['kube-api-burst'] };
}
