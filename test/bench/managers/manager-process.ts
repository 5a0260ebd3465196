import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { binaryPath, findFreePort, type Cluster, type ServerProcess } from '../../cluster/index.ts';

export type ManagerName = 'ours' | 'go';

/** The build that users deploy. */
const executable = join(import.meta.dirname, '../../../dist/kube-controller-manager');

/** The first run brings the files into memory, as the first start after an installation does; all others find that done. */
export async function warmUp(): Promise<void> {
  await promisify(execFile)(executable, ['--version']);
}

export interface ManagerUsage {
  readonly cpuSeconds: number;
  readonly peakMegabytes: number;
  readonly settledMegabytes: number;
}

/** One of the two controller managers, as a process whose CPU and memory can be read at any time. */
export class ManagerProcess implements AsyncDisposable {
  readonly #process: ServerProcess;
  readonly #cluster: Cluster;
  readonly #url: string;

  private constructor(process: ServerProcess, cluster: Cluster, url: string) {
    this.#process = process;
    this.#cluster = cluster;
    this.#url = url;
  }

  /** Starts it and returns at once. The workload waits until it leads. */
  static async start(manager: ManagerName, cluster: Cluster, flags: readonly string[]): Promise<ManagerProcess> {
    const port = await findFreePort();
    const kubeconfig = cluster.kubeconfig({ user: 'system:kube-controller-manager' });
    const args = [
      `--kubeconfig=${kubeconfig}`,
      `--authentication-kubeconfig=${kubeconfig}`,
      `--authorization-kubeconfig=${kubeconfig}`,
      `--client-ca-file=${cluster.files.ca}`,
      `--requestheader-client-ca-file=${cluster.files.frontProxyCa}`,
      `--root-ca-file=${cluster.files.ca}`,
      `--service-account-private-key-file=${cluster.files.serviceAccountKey}`,
      '--use-service-account-credentials=true',
      '--bind-address=127.0.0.1',
      `--secure-port=${port}`,
      `--tls-cert-file=${cluster.files.apiServer}`,
      `--tls-private-key-file=${cluster.files.apiServerKey}`,
      ...flags,
    ];
    const command =
      manager === 'ours'
        ? { program: executable, args }
        : { program: await binaryPath('kube-controller-manager'), args };
    const env = { NODE_EXTRA_CA_CERTS: '' }; // a control plane has no settings for Node, and reading many CAs takes 7 ms
    const started = await cluster.startProcess({ name: `${manager}-${port}`, env, ...command });
    return new ManagerProcess(started, cluster, `https://127.0.0.1:${port}`);
  }

  readUsage(): ManagerUsage {
    const { pid } = this.#process;
    if (pid === undefined) throw new Error(`${this.#process.name} has ended:\n${this.#process.readLog().slice(-2000)}`);
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return {
      cpuSeconds: readCpuSeconds(pid),
      peakMegabytes: readMegabytes(status, 'VmHWM'),
      settledMegabytes: readMegabytes(status, 'VmRSS'),
    };
  }

  /** Resets the peak of the memory. */
  resetPeak(): void {
    writeFileSync(`/proc/${this.#process.pid}/clear_refs`, '5');
  }

  /** Requests to the API server since the process started, by method. Reading them costs the process CPU too. */
  async readRequests(): Promise<ReadonlyMap<string, number>> {
    const { body } = await this.#cluster.request({ path: `${this.#url}/metrics` });
    const totals = new Map<string, number>();
    const pattern = /^rest_client_requests_total\{.*method="([A-Z]+)".*\} (\S+)$/gm;
    for (const [, method = '', count] of String(body).matchAll(pattern)) {
      totals.set(method, (totals.get(method) ?? 0) + Number(count));
    }
    return totals;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#process.stop();
  }
}

/** Linux counts CPU time in hundredths of a second. */
const ticksPerSecond = 100;

function readCpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' '); // the program's name may hold blanks
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

function readMegabytes(status: string, field: string): number {
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) / 1024;
}
