import { spawn } from 'node:child_process';

import * as z from 'zod';

import { parseTime } from '../api/index.ts';
import { ConfigError } from './errors.ts';
import { readNamedFile, type ExecPlugin, type KubeconfigCluster } from './kubeconfig-files.ts';

/** What a plugin gave. */
export interface PluginCredential {
  readonly token?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  /** In Unix milliseconds; infinite if the plugin did not say. */
  readonly expiresAtMs: number;
}

const answerSchema = z.object({
  status: z.object({
    token: z.string().optional(),
    clientCertificateData: z.string().optional(),
    clientKeyData: z.string().optional(),
    expirationTimestamp: z.string().nullish(),
  }),
});

/** Runs a credential plugin (`exec` in a kubeconfig). Throws `ConfigError` if it fails. */
export async function runExecPlugin(exec: ExecPlugin, cluster: KubeconfigCluster): Promise<PluginCredential> {
  const { stdout } = await run(exec, execInfo(exec, cluster));
  const { status } = readAnswer(stdout);
  const { token, clientCertificateData: cert, clientKeyData: key, expirationTimestamp } = status;
  if (token === undefined && cert === undefined) throw new ConfigError('the plugin gave neither token nor certificate');
  return { token, cert, key, expiresAtMs: parseTime(expirationTimestamp ?? undefined) ?? Number.POSITIVE_INFINITY };
}

function readAnswer(stdout: string): z.output<typeof answerSchema> {
  try {
    return answerSchema.parse(JSON.parse(stdout));
  } catch (error) {
    throw new ConfigError('the answer of the plugin is not an ExecCredential', { cause: error });
  }
}

function run({ command, args, env }: ExecPlugin, info: string): Promise<{ readonly stdout: string }> {
  const own = Object.fromEntries((env ?? []).map(({ name, value }) => [name, value]));
  return new Promise((resolve, reject) => {
    const child = spawn(command, args ?? [], {
      env: { ...process.env, ...own, KUBERNETES_EXEC_INFO: info },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    child.once('error', reject);
    child.once('close', (code) => {
      if (code === 0) resolve({ stdout });
      else reject(new ConfigError(firstLine(stderr) || `the plugin ended with code ${code}`));
    });
  });
}

function firstLine(text: string): string {
  return text.trim().split('\n')[0] ?? '';
}

/** What plugins built with client-go require in KUBERNETES_EXEC_INFO. */
function execInfo(exec: ExecPlugin, cluster: KubeconfigCluster): string {
  return JSON.stringify({
    apiVersion: exec.apiVersion ?? 'client.authentication.k8s.io/v1',
    kind: 'ExecCredential',
    spec: { interactive: false, cluster: exec.provideClusterInfo === true ? clusterInfo(cluster) : undefined },
  });
}

function clusterInfo(cluster: KubeconfigCluster): object {
  const file = cluster['certificate-authority'];
  const fromFile =
    file === undefined ? undefined : Buffer.from(readNamedFile('certificate-authority', file)).toString('base64');
  return {
    server: cluster.server,
    'tls-server-name': cluster['tls-server-name'],
    'insecure-skip-tls-verify': cluster['insecure-skip-tls-verify'],
    'certificate-authority-data': cluster['certificate-authority-data'] ?? fromFile,
    'proxy-url': cluster['proxy-url'],
  };
}
