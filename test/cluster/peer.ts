import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import {
  findFreePort,
  type Cluster,
  type ClusterAccess,
  type Identity,
  type ServerProcess,
} from '../../pkg/servers/index.ts';
import { binaryPath } from './binaries.ts';

const run = promisify(execFile);

/** Runs kubectl as the administrator and resolves with its output. Rejects with its error output if it fails. */
export async function kubectl(
  cluster: Pick<ClusterAccess, 'kubeconfig'>,
  args: readonly string[],
  identity?: Identity,
): Promise<string> {
  const program = await binaryPath('kubectl');
  const { stdout } = await run(program, ['--kubeconfig', cluster.kubeconfig(identity), ...args], {
    maxBuffer: 64 * 1024 * 1024,
  });
  return stdout;
}

export interface Peer {
  readonly process: ServerProcess;
  /** The port of its health and metrics endpoints. */
  readonly url: string;
}

/**
 * Starts the Go kube-controller-manager against a cluster, with the flags of kubeadm. Resolves when /healthz is ok.
 * `flags` come last and take precedence.
 */
export async function startGoControllerManager(cluster: Cluster, flags: readonly string[] = []): Promise<Peer> {
  return startPeer(cluster, 'kube-controller-manager', [
    `--root-ca-file=${cluster.files.ca}`,
    `--service-account-private-key-file=${cluster.files.serviceAccountKey}`,
    `--cluster-signing-cert-file=${cluster.files.ca}`,
    `--cluster-signing-key-file=${cluster.files.caKey}`,
    `--client-ca-file=${cluster.files.ca}`,
    `--requestheader-client-ca-file=${cluster.files.frontProxyCa}`,
    '--use-service-account-credentials=true',
    // A list flag that is given twice adds up, so the caller's value must be the only one.
    ...(flags.some((flag) => flag.startsWith('--controllers='))
      ? []
      : ['--controllers=*,bootstrapsigner,tokencleaner']),
    ...flags,
  ]);
}

/** Starts the cloud controllers of Kubernetes on a cloud that exists only in memory: see their `main.go`. */
export async function startGoCloudControllers(cluster: Cluster, flags: readonly string[]): Promise<ServerProcess> {
  return cluster.startProcess({
    name: 'go-cloud-controller-manager',
    program: await binaryPath('cloud-controller-manager'),
    args: [`--kubeconfig=${cluster.kubeconfig()}`, ...flags],
  });
}

async function startPeer(cluster: Cluster, name: 'kube-controller-manager', flags: readonly string[]): Promise<Peer> {
  const port = await findFreePort();
  const url = `https://127.0.0.1:${String(port)}`;
  const kubeconfig = cluster.kubeconfig({ user: `system:${name}` });
  const process = await cluster.startProcess({
    name: `go-${name}-${String(port)}`,
    program: await binaryPath(name),
    args: [
      `--kubeconfig=${kubeconfig}`,
      `--authentication-kubeconfig=${kubeconfig}`,
      `--authorization-kubeconfig=${kubeconfig}`,
      '--bind-address=127.0.0.1',
      `--secure-port=${String(port)}`,
      `--tls-cert-file=${cluster.files.apiServer}`,
      `--tls-private-key-file=${cluster.files.apiServerKey}`,
      ...flags,
    ],
    isReady: () => isHealthy(cluster, url),
  });
  return { process, url };
}

async function isHealthy(cluster: ClusterAccess, url: string): Promise<boolean> {
  try {
    return (await cluster.request({ path: `${url}/healthz` })).status === 200;
  } catch {
    return false; // not listening yet
  }
}
