import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { exitCodes } from '../../cmd/kube-controller-manager/exit-codes.ts';
import { findFreePort } from '../cluster/index.ts';
import { runManager } from '../support/manager.ts';
import { useSharedCluster } from './use-cluster.ts';

const cluster = useSharedCluster();
const kubeconfig = (): string => `--kubeconfig=${cluster.kubeconfig()}`;

/** Writes a file into the cluster's directory, which goes with it, and gives its path. */
function write(name: string, content: string): string {
  const path = join(cluster.directory, name);
  writeFileSync(path, content);
  return path;
}

/** The admin's kubeconfig with one part replaced. */
function changedKubeconfig(name: string, change: (config: Kubeconfig) => void, url = cluster.url): string {
  const config: Kubeconfig = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'x',
    contexts: [{ name: 'x', context: { cluster: 'x', user: 'x' } }],
    clusters: [{ name: 'x', cluster: { server: url, 'certificate-authority': cluster.files.ca } }],
    users: [{ name: 'x', user: { token: 'not-a-token' } }],
  };
  change(config);
  return write(name, JSON.stringify(config));
}

interface Kubeconfig {
  readonly apiVersion: string;
  readonly kind: string;
  readonly 'current-context': string;
  readonly contexts: unknown[];
  readonly clusters: [{ name: string; cluster: Record<string, unknown> }];
  readonly users: [{ name: string; user: Record<string, unknown> }];
}

interface Row {
  readonly name: string;
  readonly flags: () => readonly string[] | Promise<readonly string[]>;
  readonly exitCode: number;
  readonly message: RegExp;
}

const rows: readonly Row[] = [
  { name: 'an unknown flag', flags: () => ['--nope=1'], exitCode: exitCodes.usage, message: /'--nope/ },
  {
    name: 'a bad duration',
    flags: () => ['--leader-elect-lease-duration=15'],
    exitCode: exitCodes.usage,
    message: /"--leader-elect-lease-duration"/,
  },
  {
    name: 'lease durations that contradict each other',
    flags: () => ['--leader-elect-lease-duration=5s'],
    exitCode: exitCodes.usage,
    message: /--leader-elect-lease-duration/,
  },
  {
    name: 'an unknown controller',
    flags: () => ['--controllers=*,-nope'],
    exitCode: exitCodes.usage,
    message: /"nope" is not in the list of known controllers: .*deployment-controller/,
  },
  {
    name: 'an unknown field in the configuration file',
    flags: () => [`--config=${write('bad.yaml', 'Generic:\n  Controlers: []\n')}`],
    exitCode: exitCodes.usage,
    message: /Generic: .*Controlers/,
  },
  {
    name: 'a configuration file that does not exist',
    flags: () => ['--config=/nowhere.yaml'],
    exitCode: exitCodes.environment,
    message: /--config: .*nowhere/,
  },
  {
    name: 'a kubeconfig that does not exist',
    flags: () => ['--kubeconfig=/nowhere.conf'],
    exitCode: exitCodes.environment,
    message: /--kubeconfig: .*nowhere/,
  },
  {
    name: 'a kubeconfig that is not valid',
    flags: () => [`--kubeconfig=${write('broken.conf', '{ clusters: [')}`],
    exitCode: exitCodes.environment,
    message: /--kubeconfig: .*broken\.conf/,
  },
  {
    name: 'no kubeconfig outside a cluster',
    flags: () => [],
    exitCode: exitCodes.environment,
    message: /KUBERNETES_SERVICE_HOST/,
  },
  {
    name: 'a server that does not run, without leader election',
    flags: async () => {
      const url = `https://127.0.0.1:${String(await findFreePort())}`;
      return [
        `--kubeconfig=${changedKubeconfig('absent.conf', () => {}, url)}`,
        '--secure-port=0',
        '--leader-elect=false',
      ];
    },
    exitCode: exitCodes.apiServer,
    message: /API server https:.* not healthy within 10s: .*ECONNREFUSED/,
  },
  {
    name: 'a server that does not run, if the client CA has to be read from it',
    flags: async () => {
      const url = `https://127.0.0.1:${String(await findFreePort())}`;
      const path = changedKubeconfig('absent.conf', () => {}, url);
      return [`--kubeconfig=${path}`, `--authentication-kubeconfig=${path}`];
    },
    exitCode: exitCodes.apiServer,
    message: /API server https:.* not healthy within 10s: .*ECONNREFUSED/,
  },
  {
    name: 'a server whose certificate is not trusted',
    flags: () => {
      const distrust = (config: Kubeconfig): void => {
        config.clusters[0].cluster['certificate-authority'] = cluster.files.frontProxyCa;
      };
      return [`--kubeconfig=${changedKubeconfig('distrust.conf', distrust)}`, '--secure-port=0'];
    },
    exitCode: exitCodes.apiServer,
    message: /API server https:.*certificate/,
  },
  {
    name: 'a token that is not valid',
    flags: () => [`--kubeconfig=${changedKubeconfig('token.conf', () => {})}`, '--secure-port=0'],
    exitCode: exitCodes.apiServer,
    message: /does not accept the credentials/,
  },
  {
    name: 'a controller option that is not valid',
    flags: () => ['--concurrent-namespace-syncs=0'],
    exitCode: exitCodes.usage,
    message: /--concurrent-namespace-syncs: must be at least 1, got 0/,
  },
  {
    name: 'a key for tokens that does not exist',
    flags: () => ['--service-account-private-key-file=/nowhere.key'],
    exitCode: exitCodes.environment,
    message: /--service-account-private-key-file: .*nowhere/,
  },
  {
    name: 'a key for tokens that is not valid',
    flags: () => [`--service-account-private-key-file=${cluster.files.ca}`],
    exitCode: exitCodes.environment,
    message: /--service-account-private-key-file: .*contains no RSA or ECDSA private key/,
  },
  {
    name: 'root certificates that are not valid',
    flags: () => [`--root-ca-file=${write('empty.crt', 'nothing')}`],
    exitCode: exitCodes.environment,
    message: /--root-ca-file: .*contains no certificate/,
  },
  {
    name: 'one pair of files to sign with for all, and another for one',
    flags: () => [
      `--cluster-signing-cert-file=${cluster.files.ca}`,
      `--cluster-signing-key-file=${cluster.files.caKey}`,
      `--cluster-signing-kubelet-client-cert-file=${cluster.files.ca}`,
      `--cluster-signing-kubelet-client-key-file=${cluster.files.caKey}`,
    ],
    exitCode: exitCodes.usage,
    message: /--cluster-signing-cert-file: cannot be set together with --cluster-signing-kubelet-client-cert-file/,
  },
  {
    name: 'a key to sign with that belongs to another certificate',
    flags: () => [
      `--cluster-signing-cert-file=${cluster.files.ca}`,
      `--cluster-signing-key-file=${cluster.files.apiServerKey}`,
    ],
    exitCode: exitCodes.environment,
    message: /--cluster-signing-key-file: .*is not the key of the certificate in --cluster-signing-cert-file/,
  },
  {
    name: 'a certificate that cannot be read',
    flags: () => [kubeconfig(), '--tls-cert-file=/nowhere.crt', '--tls-private-key-file=/nowhere.key'],
    exitCode: exitCodes.environment,
    message: /--tls-cert-file/,
  },
];

describe('bad input ends the process with one clear line and an exit code:', () => {
  for (const { name, flags, exitCode, message } of rows) {
    test(name, async () => {
      const port = await findFreePort();
      const finished = await runManager([
        `--secure-port=${String(port)}`,
        '--bind-address=127.0.0.1',
        ...(await flags()),
      ]);
      const complaints = finished.stderr.split('\n').filter((line) => line.startsWith('kube-controller-manager: '));
      expect(complaints).toEqual([expect.stringMatching(message)]);
      expect(finished.exitCode).toBe(exitCode);
      expect(finished.stderr).not.toMatch(/^\s+at /m);
    });
  }

  describe('with a port in use', () => {
    let server: Server;
    let port: number;
    beforeAll(async () => {
      port = await findFreePort();
      server = createServer().listen(port, '127.0.0.1');
      await once(server, 'listening');
    });
    afterAll(() => void server.close());

    test('names the flag', async () => {
      const flags = [kubeconfig(), '--bind-address=127.0.0.1', `--secure-port=${String(port)}`];
      const { exitCode, stderr } = await runManager(flags);
      expect(stderr).toMatch(/^kube-controller-manager: --secure-port: .*in use/m);
      expect(exitCode).toBe(exitCodes.environment);
    });
  });
});
