import { createPrivateKey } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { silentLogger, type Logger } from '../log/index.ts';
import { systemClock, systemRandom, type Clock } from '../time/index.ts';
import { Authenticator, TokenSigner } from './auth/index.ts';
import { bootstrap, followNamespaces } from './bootstrap.ts';
import { admin, formatKubeconfig, openCredentials, type Identity, type SandboxCredentials } from './credentials.ts';
import { startApiServer, type Slowness } from './http/server.ts';
import { Registry } from './registry/index.ts';
import { Api } from './rest/api.ts';
import { followDefinitions } from './rest/definitions.ts';
import { openDatabase, Store } from './storage/index.ts';

export interface SandboxOptions {
  /** Port on loopback. Default: any free one. */
  readonly port?: number | undefined;
  /** The directory of the database. Default: objects are kept in memory only. */
  readonly dataDir?: string | undefined;
  /** Default: logs unexpected errors only. */
  readonly logger?: Logger | undefined;
  readonly clock?: Clock | undefined;
  /** Between 0 and 1. */
  readonly random?: (() => number) | undefined;
  /**
   * Creates the `default` service account of each namespace, without which no pods are admitted. Turn off if a
   * controller does so. Default: true.
   */
  readonly makesServiceAccounts?: boolean | undefined;
  /** The number of changes kept for each resource, from which watches can resume. Default: 10,000. */
  readonly historyLength?: number | undefined;
  /** How often idle watchers get a bookmark. Default: a minute. */
  readonly bookmarkEveryMs?: number | undefined;
  /** Serves `metrics.k8s.io`, with the simulated usage of pods. Default: false, as without a metrics server. */
  readonly servesMetrics?: boolean | undefined;
  /** The feature gates that are on. The sandbox has `MaxUnavailableStatefulSet` only. Default: none. */
  readonly featureGates?: readonly string[] | undefined;
  /** Default: created for this sandbox. */
  readonly credentials?: SandboxCredentials | undefined;
}

/** A Kubernetes API in this process, over HTTPS on loopback. */
export interface Sandbox extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  readonly credentials: SandboxCredentials;
  /** A kubeconfig for the administrator. The file is removed with the sandbox, unless it is in `dataDir`. */
  readonly kubeconfigFile: string;
  /** The text of a kubeconfig for any user. Every authenticated user may do everything. */
  kubeconfigFor(identity: Identity): string;
  /** Drops the history, as a compaction does: watches and lists from earlier versions get 410. */
  compact(): void;
  /** Ends every watch, as a server does that restarts. Clients open new ones. */
  endWatches(): void;
  /** A slow server, for a time: each request waits before it is handled. */
  delayRequests(slowness: Slowness): void;
  stop(): Promise<void>;
}

/** Starts a sandbox, which serves requests when this resolves. The caller stops it. */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const { clock = systemClock, random = systemRandom, logger = silentLogger, dataDir } = options;
  const credentials = options.credentials ?? openCredentials(clock.now(), dataDir && join(dataDir, 'pki'));
  const persistence = dataDir === undefined ? undefined : openDatabase(dataDir);
  const store = new Store({ historyLength: options.historyLength ?? 10_000, persistence });
  const registry = new Registry();
  const api = new Api({ store, registry, clock, random, featureGates: options.featureGates });
  const tokens = new TokenSigner(createPrivateKey(credentials.tokenKey));
  const server = await startApiServer({
    api,
    clock,
    random,
    logger,
    tokens,
    authenticator: new Authenticator({ store, tokens, nowMs: () => clock.now() }),
    bookmarkEveryMs: options.bookmarkEveryMs ?? 60_000,
    versionInfo,
    servesMetrics: options.servesMetrics === true,
    certificate: credentials.server,
    authority: credentials.authority.certificate,
    port: options.port ?? 0,
  });
  followDefinitions(api);
  bootstrap(api, { port: server.port, authority: credentials.authority.certificate });
  if (options.makesServiceAccounts !== false) followNamespaces(api);
  const { url, port } = server;
  const kubeconfigFor = (identity: Identity): string =>
    formatKubeconfig(credentials, { url, identity, nowMs: clock.now() });
  const directory = dataDir ?? mkdtempSync(join(tmpdir(), 'sandbox-'));
  const kubeconfigFile = join(directory, 'kubeconfig');
  mkdirSync(directory, { recursive: true });
  writeFileSync(kubeconfigFile, kubeconfigFor(admin), { mode: 0o600 });
  const stop = async (): Promise<void> => {
    await server.close();
    store.close();
    if (dataDir === undefined) rmSync(directory, { recursive: true, force: true });
  };
  return {
    url,
    port,
    credentials,
    kubeconfigFile,
    kubeconfigFor,
    compact: () => store.compact(),
    endWatches: () => server.endWatches(),
    delayRequests: (slowness) => server.delayRequests(slowness),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

/** The Kubernetes version whose behaviour is implemented; the suffix marks the sandbox. */
const versionInfo = {
  major: '1',
  minor: '36',
  gitVersion: 'v1.36.4+sandbox',
  gitCommit: '',
  gitTreeState: 'clean',
  buildDate: '1970-01-01T00:00:00Z',
  goVersion: '',
  compiler: 'node',
  platform: `${process.platform}/${process.arch === 'x64' ? 'amd64' : process.arch}`,
};
