import { spawn, type ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';

import { findFreePort, type ClusterAccess, type Identity, type PlainResponse } from '../cluster/index.ts';

/** The identity that Kubernetes' bootstrap roles are made for. */
export const managerIdentity: Identity = { user: 'system:kube-controller-manager' };

export interface ManagerOptions {
  /** Its identity to the API server. Default: `managerIdentity`. */
  readonly as?: Identity;
  /** The state for which `startManager` waits. Default `leading`: it holds the lease and its caches are synced. */
  readonly until?: 'serving' | 'leading';
  readonly env?: Readonly<Record<string, string>>;
  /** A built executable. Default: the source. */
  readonly program?: string;
  /** Called with the process as soon as it is started. */
  readonly onSpawn?: (child: ChildProcess) => void;
}

/** A process of our kube-controller-manager. */
export interface Manager extends AsyncDisposable {
  readonly pid: number;
  /** The port of its HTTPS endpoints. */
  readonly baseUrl: string;
  /** Everything it has written to stdout and stderr so far. */
  logs(): string;
  /** Sends a request to its endpoints, by default as the admin of the cluster. */
  get(path: string, as?: Identity): Promise<PlainResponse>;
  /** Resolves once it holds the lease and its caches are synced; rejects when it exits before that. */
  leading(): Promise<void>;
  /** Sends a signal and returns at once. */
  signal(signal: NodeJS.Signals): void;
  /** Sends SIGTERM and resolves with the exit code. */
  stop(): Promise<number | null>;
  /** Kills it, like a crash. */
  kill(): Promise<void>;
  /** Resolves with its exit code; null when a signal ended it. */
  readonly exited: Promise<number | null>;
}

const mainFile = new URL('../../cmd/kube-controller-manager/main.ts', import.meta.url).pathname;
const leadingMessage = 'leading, and all caches are synced';

/**
 * Starts it against a cluster on a free port, with the flags of kubeadm, and waits until it runs. `flags` come last and
 * take precedence. The caller stops it: `await using manager = await startManager(…)`.
 */
export async function startManager(
  cluster: ClusterAccess,
  flags: readonly string[] = [],
  { as = managerIdentity, until = 'leading', env = {}, program, onSpawn }: ManagerOptions = {},
): Promise<Manager> {
  const port = await findFreePort();
  const kubeconfig = cluster.kubeconfig(as);
  const args = [
    `--kubeconfig=${kubeconfig}`,
    `--authentication-kubeconfig=${kubeconfig}`,
    `--authorization-kubeconfig=${kubeconfig}`,
    `--client-ca-file=${cluster.files.ca}`,
    `--requestheader-client-ca-file=${cluster.files.frontProxyCa}`,
    '--bind-address=127.0.0.1',
    `--secure-port=${String(port)}`,
    `--tls-cert-file=${cluster.files.apiServer}`,
    `--tls-private-key-file=${cluster.files.apiServerKey}`,
    ...flags,
  ];
  const child = spawnManager(args, env, program);
  onSpawn?.(child);
  const manager = new ManagerProcess(cluster, `https://127.0.0.1:${String(port)}`, child);
  try {
    await (until === 'leading' ? manager.leading() : manager.serving());
  } catch (error) {
    await manager.kill();
    throw error;
  }
  return manager;
}

export interface FinishedManager {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs it with exactly these flags until it exits. */
export async function runManager(
  flags: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<FinishedManager> {
  const child = spawnManager(flags, env);
  let stdout = '';
  let stderr = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  return { exitCode: await exitOf(child), stdout, stderr };
}

function spawnManager(args: readonly string[], env: Readonly<Record<string, string>>, program?: string): ChildProcess {
  const [file, before] = program === undefined ? [process.execPath, [mainFile]] : [program, []];
  const child = spawn(file, [...before, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  });
  const onExit = (): void => void child.kill('SIGKILL'); // nothing may outlive the test run
  process.once('exit', onExit);
  child.once('exit', () => process.removeListener('exit', onExit));
  return child;
}

function exitOf(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve, reject) => {
    child.once('close', (code) => resolve(code));
    child.once('error', reject);
  });
}

class ManagerProcess implements Manager {
  readonly baseUrl: string;
  readonly exited: Promise<number | null>;
  readonly #cluster: ClusterAccess;
  readonly #child: ChildProcess;
  #output = '';
  #ended = false;

  constructor(cluster: ClusterAccess, baseUrl: string, child: ChildProcess) {
    this.#cluster = cluster;
    this.baseUrl = baseUrl;
    this.#child = child;
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => (this.#output += text));
    }
    this.exited = exitOf(child).finally(() => (this.#ended = true));
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  logs(): string {
    return this.#output;
  }

  get(path: string, as?: Identity): Promise<PlainResponse> {
    return this.#cluster.request({ path: `${this.baseUrl}${path}`, ...(as === undefined ? {} : { as }) });
  }

  async leading(): Promise<void> {
    await this.#until(async () => this.#output.includes(leadingMessage));
  }

  async serving(): Promise<void> {
    await this.#until(async () => (await this.get('/healthz').catch(() => undefined))?.status === 200);
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  stop(): Promise<number | null> {
    this.#child.kill('SIGTERM');
    return this.exited;
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.exited;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#ended) await this.kill();
  }

  async #until(condition: () => Promise<boolean>): Promise<void> {
    while (!(await condition())) {
      if (this.#ended) throw new Error(`the controller manager ended; its log is:\n${this.#output}`);
      await sleep(20);
    }
  }
}
