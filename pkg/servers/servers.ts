import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openCluster, saveAddresses } from './access.ts';
import type { ClusterAccess } from './access.ts';
import { writeCredentials, credentialFiles } from './credentials.ts';
import type { CredentialFiles } from './credentials.ts';
import { findFreePort } from './ports.ts';
import { ServerExitedError, ServerProcess } from './server-process.ts';
import { watchOver } from './watchdog.ts';

export interface ClusterOptions {
  /** More flags of the API server. They come last, so they take precedence. */
  readonly extraApiServerFlags?: readonly string[];
  readonly featureGates?: Readonly<Record<string, boolean>>;
  /** Such as `{ 'resource.k8s.io/v1alpha3': true }`. */
  readonly runtimeConfig?: Readonly<Record<string, boolean>>;
}

export interface Cluster extends ClusterAccess, AsyncDisposable {
  readonly apiServer: ServerProcess;
  readonly etcd: ServerProcess;
  /** Starts another program beside the cluster. It is stopped with the cluster at the latest. */
  startProcess(command: ProcessCommand): Promise<ServerProcess>;
  /** Stops every process and removes the directory. */
  stop(): Promise<void>;
}

export interface ProcessCommand {
  /** Also the name of the log file; unique within the cluster. */
  readonly name: string;
  readonly program: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly isReady?: () => Promise<boolean>;
}

const attempts = 5;

/** The paths of the two programs. */
export interface ServerPrograms {
  readonly etcd: string;
  readonly apiServer: string;
}

/**
 * Starts etcd and kube-apiserver on loopback, with their own directory and keys. Resolves when they are ready. They
 * stop with this process at the latest.
 */
export async function startServers(programs: ServerPrograms, options: ClusterOptions = {}): Promise<Cluster> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await tryStart(programs, options);
    } catch (error) {
      // A port that was free may be in use when the server binds it.
      if (!(error instanceof ServerExitedError && error.isPortTaken) || attempt === attempts) throw error;
    }
  }
}

async function tryStart(programs: ServerPrograms, options: ClusterOptions): Promise<Cluster> {
  const directory = mkdtempSync(join(tmpdir(), 'kube-cluster-'));
  const callOffWatchdog = watchOver(directory);
  const servers: ServerProcess[] = [];
  const stop = async (): Promise<void> => {
    // There is no data worth a graceful stop.
    await Promise.all(servers.map((server) => server.kill()));
    await rm(directory, { recursive: true, force: true });
    callOffWatchdog();
  };
  try {
    const [clientPort, peerPort, securePort] = [await findFreePort(), await findFreePort(), await findFreePort()];
    const etcdUrl = `http://127.0.0.1:${String(clientPort)}`;
    saveAddresses(directory, { url: `https://127.0.0.1:${String(securePort)}`, etcdUrl });
    const files = credentialFiles(directory);
    writeCredentials(files);
    const access = openCluster(directory);
    const etcd = new ServerProcess({
      name: 'etcd',
      directory,
      program: programs.etcd,
      args: etcdFlags({ directory, etcdUrl, peerPort }),
      isReady: () => isEtcdHealthy(etcdUrl),
    });
    const apiServer = new ServerProcess({
      name: 'kube-apiserver',
      directory,
      program: programs.apiServer,
      args: [...apiServerFlags({ files, etcdUrl, securePort }), ...optionFlags(options)],
      isReady: () => isApiServerReady(access),
    });
    servers.push(etcd, apiServer);
    await etcd.start();
    await apiServer.start();
    const startProcess = async (command: ProcessCommand): Promise<ServerProcess> => {
      const server = new ServerProcess({ ...command, directory });
      servers.push(server);
      await server.start();
      return server;
    };
    return { ...access, etcd, apiServer, startProcess, stop, [Symbol.asyncDispose]: stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

interface EtcdPlace {
  readonly directory: string;
  readonly etcdUrl: string;
  readonly peerPort: number;
}

function etcdFlags({ directory, etcdUrl, peerPort }: EtcdPlace): string[] {
  const peerUrl = `http://127.0.0.1:${String(peerPort)}`;
  return [
    `--data-dir=${join(directory, 'etcd')}`,
    `--listen-client-urls=${etcdUrl}`,
    `--advertise-client-urls=${etcdUrl}`,
    `--listen-peer-urls=${peerUrl}`,
    `--initial-advertise-peer-urls=${peerUrl}`,
    `--initial-cluster=default=${peerUrl}`,
    '--unsafe-no-fsync', // the data survives a killed process but not a power failure, which is enough for tests
    '--heartbeat-interval=20', // a lone member elects itself after one election timeout
    '--election-timeout=100',
    '--log-level=warn',
  ];
}

interface ApiServerPlace {
  readonly files: CredentialFiles;
  readonly etcdUrl: string;
  readonly securePort: number;
}

/** The flags that kubeadm sets for an API server, on loopback. */
function apiServerFlags({ files, etcdUrl, securePort }: ApiServerPlace): string[] {
  return [
    '--bind-address=127.0.0.1',
    `--secure-port=${String(securePort)}`,
    // The endpoints of the `kubernetes` service may not be loopback addresses; this one is reserved for examples.
    '--advertise-address=192.0.2.1',
    `--etcd-servers=${etcdUrl}`,
    '--service-cluster-ip-range=10.96.0.0/16',
    '--allow-privileged=true',
    '--authorization-mode=Node,RBAC',
    '--enable-admission-plugins=NodeRestriction',
    '--enable-bootstrap-token-auth=true',
    `--client-ca-file=${files.ca}`,
    `--tls-cert-file=${files.apiServer}`,
    `--tls-private-key-file=${files.apiServerKey}`,
    `--cert-dir=${files.directory}`,
    '--service-account-issuer=https://kubernetes.default.svc.cluster.local',
    `--service-account-key-file=${files.serviceAccountPublicKey}`,
    `--service-account-signing-key-file=${files.serviceAccountKey}`,
    `--requestheader-client-ca-file=${files.frontProxyCa}`,
    '--requestheader-allowed-names=front-proxy-client',
    '--requestheader-extra-headers-prefix=X-Remote-Extra-',
    '--requestheader-group-headers=X-Remote-Group',
    '--requestheader-username-headers=X-Remote-User',
    `--proxy-client-cert-file=${files.frontProxyClient}`,
    `--proxy-client-key-file=${files.frontProxyClientKey}`,
  ];
}

function optionFlags({ featureGates = {}, runtimeConfig = {}, extraApiServerFlags = [] }: ClusterOptions): string[] {
  const join = (values: Readonly<Record<string, boolean>>): string =>
    Object.entries(values)
      .map(([name, value]) => `${name}=${String(value)}`)
      .join(',');
  return [
    ...(Object.keys(featureGates).length > 0 ? [`--feature-gates=${join(featureGates)}`] : []),
    ...(Object.keys(runtimeConfig).length > 0 ? [`--runtime-config=${join(runtimeConfig)}`] : []),
    ...extraApiServerFlags,
  ];
}

/** A check without an answer is repeated after this long, so that one of them cannot hold up the start for ever. */
const healthTimeoutMs = 5000;

async function isEtcdHealthy(etcdUrl: string): Promise<boolean> {
  try {
    return (await fetch(`${etcdUrl}/health`, { signal: AbortSignal.timeout(healthTimeoutMs) })).ok;
  } catch {
    return false; // not listening yet, or too busy
  }
}

async function isApiServerReady(access: ClusterAccess): Promise<boolean> {
  try {
    const { status } = await access.request({ path: '/readyz' });
    if (status !== 200) return false;
    // The server is ready a moment before it has created its first namespaces.
    return (await access.request({ path: '/api/v1/namespaces/default' })).status === 200;
  } catch {
    return false; // not listening yet
  }
}
