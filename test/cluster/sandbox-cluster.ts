import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  credentialFiles,
  findFreePort,
  openCluster,
  saveAddresses,
  ServerProcess,
  watchOver,
  writeCredentials,
  type Cluster,
  type ClusterOptions,
  type ProcessCommand,
} from '../../pkg/servers/index.ts';

const mainFile = new URL('../../cmd/sandbox/main.ts', import.meta.url).pathname;

/**
 * The sandbox in place of etcd and kube-apiserver, in its own process. It keeps its objects on disk, so that it can be
 * killed and started again. It is both the API server and the storage. A restart also compacts: the sandbox does not
 * keep history. Feature gates are passed on; API server flags and runtime config have no effect.
 */
export async function startSandboxCluster({ featureGates = {} }: ClusterOptions = {}): Promise<Cluster> {
  const directory = mkdtempSync(join(tmpdir(), 'kube-sandbox-'));
  const callOffWatchdog = watchOver(directory);
  const servers: ServerProcess[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(servers.map((server) => server.kill()));
    await rm(directory, { recursive: true, force: true });
    callOffWatchdog();
  };
  try {
    const port = await findFreePort();
    const url = `https://127.0.0.1:${String(port)}`;
    saveAddresses(directory, { url, etcdUrl: '' });
    writeCredentials(credentialFiles(directory)); // the directory where the sandbox looks for its credentials
    const access = { ...openCluster(directory), compact: async () => {} };
    const isReady = async (): Promise<boolean> => {
      try {
        return (await access.request({ path: '/api/v1/namespaces/default' })).status === 200;
      } catch {
        return false; // not listening yet
      }
    };
    const gates = Object.entries(featureGates).map(([gate, isOn]) => `${gate}=${String(isOn)}`);
    const serve = [mainFile, '--quiet', '--no-controllers', '--nodes=0', `--port=${port}`, `--data-dir=${directory}`];
    const args = [...serve, ...(gates.length > 0 ? [`--feature-gates=${gates.join(',')}`] : [])];
    const sandbox = new ServerProcess({ name: 'sandbox', directory, program: process.execPath, args, isReady });
    servers.push(sandbox);
    await sandbox.start();
    const startProcess = async (command: ProcessCommand): Promise<ServerProcess> => {
      const server = new ServerProcess({ ...command, directory });
      servers.push(server);
      await server.start();
      return server;
    };
    return { ...access, etcd: sandbox, apiServer: sandbox, startProcess, stop, [Symbol.asyncDispose]: stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
