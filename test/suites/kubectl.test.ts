import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startSandboxCluster } from '../../cmd/sandbox/cluster.ts';
import { ClientBuilder, loadKubeconfig } from '../../pkg/client/index.ts';
import { startHollowNodes } from '../../pkg/hollow/index.ts';
import { systemClock } from '../../pkg/time/index.ts';
import { binaryPath } from '../cluster/index.ts';
import { kubectlFiles, kubectlScript } from '../support/kubectl-script.ts';
import { silentLogger } from '../support/loggers.ts';
import { startManager } from '../support/manager.ts';
import { sameOnAnyServer } from '../support/kubectl-screen.ts';
import { useCluster } from './use-cluster.ts';

/**
 * kubectl on the sandbox and on a real API server, both with the same controllers and nodes: the output must be the
 * same.
 */
const cluster = useCluster();
const directory = mkdtempSync(join(tmpdir(), 'kubectl-'));
const stack = new AsyncDisposableStack();

interface Screens {
  readonly sandbox: string[];
  readonly cluster: string[];
}
let screens: Screens;
let watched: { readonly sandbox: string; readonly cluster: string };

beforeAll(async () => {
  for (const [name, text] of Object.entries(kubectlFiles)) {
    writeFileSync(join(directory, name), text, { mode: name === 'editor' ? 0o700 : 0o600 });
  }
  const program = dirname(await binaryPath('kubectl'));
  const sandbox = stack.use(await startSandboxCluster({ logger: silentLogger, cloud: false }));
  await startNodesAndControllers();
  const terminals = {
    sandbox: terminal(program, sandbox.sandbox.kubeconfigFile),
    cluster: terminal(program, cluster().kubeconfig()),
  };
  const plays = Promise.all([play(terminals.sandbox), play(terminals.cluster)]);
  const [onSandbox, onCluster] = await Promise.race([plays, sandbox.failed]);
  screens = { sandbox: onSandbox, cluster: onCluster };
  watched = { sandbox: await watch(terminals.sandbox), cluster: await watch(terminals.cluster) };
});

afterAll(async () => {
  await stack.disposeAsync();
  rmSync(directory, { recursive: true, force: true });
});

/** Objects that the sandbox has from the start. */
async function startNodesAndControllers(): Promise<void> {
  const connection = await loadKubeconfig({ path: cluster().kubeconfig() }, systemClock);
  const clients = new ClientBuilder({ connection, clock: systemClock, userAgent: 'kubectl-suite' });
  stack.defer(() => clients.close());
  const stop = new AbortController();
  const pace = { podReadyDelayMs: 400, podStopDelayMs: 300 };
  const client = clients.clientFor('hollow-nodes');
  const options = { client, clock: systemClock, logger: silentLogger, nodes: 3, namePrefix: 'node', ...pace };
  const hollow = await startHollowNodes(options, stop.signal);
  stack.defer(async () => {
    stop.abort();
    await hollow.stopped;
  });
  const { ca, serviceAccountKey } = cluster().files;
  const keys = [`--root-ca-file=${ca}`, `--service-account-private-key-file=${serviceAccountKey}`];
  stack.use(await startManager(cluster(), ['--use-service-account-credentials=true', ...keys]));
}

type Terminal = NodeJS.ProcessEnv;

function terminal(program: string, kubeconfig: string): Terminal {
  const PATH = `${program}${delimiter}${process.env['PATH'] ?? ''}`;
  return { PATH, KUBECONFIG: kubeconfig, KUBE_EDITOR: join(directory, 'editor'), HOME: dirname(kubeconfig), TZ: 'UTC' };
}

async function play(env: Terminal): Promise<string[]> {
  const printed: string[] = [];
  for (const line of kubectlScript) printed.push(await run(line, env));
  return printed;
}

function run(line: string, env: Terminal): Promise<string> {
  return new Promise((resolve) => {
    // A command that fails has output too.
    execFile('sh', ['-c', line], { env, cwd: directory }, (_error, stdout, stderr) => resolve(stdout + stderr));
  });
}

/** `kubectl get -w` beside one change of each type. */
async function watch(env: Terminal): Promise<string> {
  const selected = ['get', 'configmaps', '--field-selector=metadata.name=seen', '-w', '--output-watch-events'];
  await run('kubectl create configmap seen', env);
  const child = spawn('kubectl', selected, { env, cwd: directory, stdio: ['ignore', 'pipe', 'inherit'] });
  let printed = '';
  const changes = [
    { once: 'ADDED', line: 'kubectl patch configmap seen -p \'{"data":{"a":"b"}}\'' },
    { once: 'MODIFIED', line: 'kubectl delete configmap seen' },
  ];
  for await (const text of child.stdout.setEncoding('utf8')) {
    printed += String(text);
    const next = changes[0];
    if (next !== undefined && printed.includes(next.once)) {
      changes.shift();
      await run(next.line, env);
    }
    if (printed.includes('DELETED')) child.kill();
  }
  return printed;
}

describe('kubectl shows the same on a real server and on the sandbox', () => {
  test.each(kubectlScript.map((line, index) => ({ line, index })))('$line', ({ index }) => {
    expect(sameOnAnyServer(screens.sandbox[index] ?? '')).toBe(sameOnAnyServer(screens.cluster[index] ?? ''));
  });

  test('kubectl get configmaps -w', () => {
    expect(sameOnAnyServer(watched.sandbox)).toBe(sameOnAnyServer(watched.cluster));
  });
});
