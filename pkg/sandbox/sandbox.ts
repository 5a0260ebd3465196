import { createPrivateKey } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { Logger } from '../log/index.ts';
import { systemClock, systemRandom, type Clock } from '../time/index.ts';
import { Authenticator, TokenSigner } from './auth/index.ts';
import { bootstrap, followNamespaces } from './bootstrap.ts';
import { admin, formatKubeconfig, openCredentials, type Identity, type SandboxCredentials } from './credentials.ts';
import { startApiServer } from './http/server.ts';
import { Registry } from './registry/index.ts';
import { Api } from './rest/api.ts';
import { followDefinitions } from './rest/definitions.ts';
import { openDatabase, Store } from './storage/index.ts';

export interface SandboxOptions {
  /** Default: any free one. Always on loopback. */
  readonly port?: number | undefined;
  /** Where everything is kept. Default: in memory, and gone with the process. */
  readonly dataDir?: string | undefined;
  /** Default: silent, unless something is wrong that should not be. */
  readonly logger?: Logger | undefined;
  readonly clock?: Clock | undefined;
  /** Between 0 and 1. */
  readonly random?: (() => number) | undefined;
  /**
   * Makes the `default` service account of each namespace, without which no pods are admitted. Turn off where a
   * controller does it. Default: true.
   */
  readonly makesServiceAccounts?: boolean | undefined;
  /** Changes that are remembered for each resource, for watches to go on from. Default: 10,000. */
  readonly historyLength?: number | undefined;
  /** How often idle watchers hear of the present version. Default: a minute. */
  readonly bookmarkEveryMs?: number | undefined;
  /** Default: made for this sandbox. */
  readonly credentials?: SandboxCredentials | undefined;
}

/** A Kubernetes API in this process, over HTTPS on loopback. */
export interface Sandbox extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  readonly credentials: SandboxCredentials;
  /** A kubeconfig for the administrator. The file is gone once the sandbox is, unless it lies in `dataDir`. */
  readonly kubeconfigFile: string;
  /** The text of a kubeconfig for anyone: whoever is known may do everything. */
  kubeconfigFor(identity: Identity): string;
  /** Forgets the past: watches and lists from before get 410. */
  compact(): void;
  stop(): Promise<void>;
}

/** Starts a sandbox; it serves when this resolves. Whoever starts one stops it. */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const { clock = systemClock, random = systemRandom, logger = silent, dataDir } = options;
  const credentials = options.credentials ?? openCredentials(clock.now(), dataDir && join(dataDir, 'pki'));
  const persistence = dataDir === undefined ? undefined : openDatabase(dataDir);
  const store = new Store({ historyLength: options.historyLength ?? 10_000, persistence });
  const registry = new Registry();
  const api = new Api({ store, registry, clock, random });
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
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

/** The version whose behaviour is followed; the rest says what it is. */
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

const nothing = (): void => {};
const silent: Logger = {
  error: nothing,
  warn: nothing,
  info: nothing,
  verbose: nothing,
  debug: nothing,
  trace: nothing,
  child: () => silent,
};
