import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import {
  ConfigMaps,
  CustomResourceDefinitions,
  defineKind,
  Deployments,
  HorizontalPodAutoscalers,
  Nodes,
  objectKey,
  Pods,
  Services,
  type UntypedObject,
} from '../../pkg/api/index.ts';
import {
  type Client,
  ClientBuilder,
  isExpired,
  isInvalid,
  isNotFound,
  loadKubeconfig,
} from '../../pkg/client/index.ts';
import { startSandbox } from '../../pkg/sandbox/index.ts';
import { systemClock } from '../../pkg/time/index.ts';
import { startSandboxCluster } from '../../cmd/sandbox/cluster.ts';
import { findFreePort, kubectl } from '../cluster/index.ts';
import { eventually, watchUntil } from '../support/eventually.ts';
import { silentLogger } from '../support/loggers.ts';

const mainFile = new URL('../../cmd/sandbox/main.ts', import.meta.url).pathname;
const cleanUps: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp();
});

async function clientOf(kubeconfig: string): Promise<Client> {
  const connection = await loadKubeconfig({ path: kubeconfig }, systemClock);
  const clients = new ClientBuilder({ connection, clock: systemClock, userAgent: 'sandbox-suite' });
  cleanUps.push(() => clients.close());
  return clients.clientFor('suite');
}

async function errorOf(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => undefined,
    (error: unknown) => error,
  );
}

interface Program {
  readonly child: ChildProcess;
  output(): string;
  until(text: string): Promise<void>;
  readonly exited: Promise<number | null>;
}

function startProgram(...args: readonly string[]): Program {
  const child = spawn(process.execPath, [mainFile, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  }
  const exited = once(child, 'close').then(() => child.exitCode);
  cleanUps.push(async () => {
    child.kill('SIGKILL');
    await exited;
  });
  return {
    child,
    output: () => output,
    exited,
    async until(text) {
      const seen = (): string => {
        if (child.exitCode !== null && !output.includes(text)) throw new Error(`it has ended: ${output}`);
        return output;
      };
      await expect.poll(seen).toContain(text);
    },
  };
}

describe('npm start', () => {
  test('runs the demo, keeps serving, and leaves nothing behind when it is stopped', async ({ signal }) => {
    const program = startProgram();
    await program.until('Ctrl-C stops everything.');
    const output = program.output();
    expect(output).toMatch(
      /A Deployment "hello" of three pods[^]*ready[^]*kill hello-[^]*gone[^]*Version 2 is rolled out/,
    );
    const kubeconfig = /KUBECONFIG=(.*)/.exec(output)?.[1] ?? '';
    const client = await clientOf(kubeconfig);
    const { status } = await client.get(Deployments, objectKey('default', 'hello'), signal);
    expect(status).toMatchObject({ replicas: 3, updatedReplicas: 3, availableReplicas: 3 });
    program.child.kill('SIGINT');
    expect(await program.exited).toBe(0);
    expect(existsSync(dirname(kubeconfig))).toBe(false);
  });

  test('only serves with --quiet', async () => {
    const program = startProgram('--quiet');
    await program.until('Ctrl-C stops everything.');
    expect(program.output()).not.toContain('hello');
    program.child.kill('SIGTERM');
    expect(await program.exited).toBe(0);
  });

  test.each([
    { args: ['--nodes=many'], message: 'must be a whole number' },
    { args: ['--what'], message: "unknown option '--what'" },
    { args: ['--kubeconfig=/nowhere/at/all'], message: '--kubeconfig: kubeconfig /nowhere/at/all: no such file' },
  ])('reports the error in $args', async ({ args, message }) => {
    const program = startProgram(...args);
    expect(await program.exited).toBeGreaterThan(0);
    expect(program.output()).toContain(message);
  });
});

describe('with --data-dir', () => {
  test('no acknowledged write is lost on kill -9, and the history is dropped', async ({ signal }) => {
    const dataDir = mkdtempSync(join(tmpdir(), 'sandbox-data-'));
    cleanUps.push(() => rmSync(dataDir, { recursive: true, force: true }));
    const args = [
      '--quiet',
      '--no-controllers',
      '--nodes=0',
      `--data-dir=${dataDir}`,
      `--port=${await findFreePort()}`,
    ];
    const acknowledged = new Map<string, string>();
    let oldest = '';
    for (let round = 0; round < 3; round++) {
      const program = startProgram(...args);
      await program.until('Ctrl-C stops everything.');
      const client = await clientOf(join(dataDir, 'kubeconfig'));
      const { items, metadata } = await client.listAll(ConfigMaps, { namespace: 'default' }, signal);
      const found = new Map(items.map((item) => [item.metadata.name, item.metadata.resourceVersion]));
      for (const [name, version] of acknowledged) expect([name, found.get(name)]).toEqual([name, version]);
      const watching = client.watch(ConfigMaps, { resourceVersion: oldest, timeoutSeconds: 1 }, signal);
      expect(isExpired(await errorOf(Array.fromAsync(watching)))).toBe(round > 0);
      oldest = metadata.resourceVersion ?? '';
      const before = acknowledged.size;
      let next = 0;
      const write = async (): Promise<void> => {
        for (;;) {
          const name = `round-${round}-${next++}`;
          const created = await client.create(ConfigMaps, { metadata: { namespace: 'default', name } }, signal);
          acknowledged.set(name, created.metadata.resourceVersion);
        }
      };
      const writing = Array.from({ length: 8 }, () => errorOf(write()));
      await expect.poll(() => acknowledged.size).toBeGreaterThan(before + 100);
      program.child.kill('SIGKILL');
      await Promise.all([...writing, program.exited]);
    }
  });
});

describe('the library', () => {
  test('starts an API with only the objects that every cluster has', async ({ signal }) => {
    await using sandbox = await startSandbox();
    const client = await clientOf(sandbox.kubeconfigFile);
    expect((await client.list(Pods, {}, signal)).items).toEqual([]);
    expect(await client.request({ method: 'GET', path: '/version' }, signal)).toMatchObject({ minor: '36' });
  });

  test('starts a cluster with nodes and controllers', async ({ signal }) => {
    await using cluster = await startSandboxCluster({ logger: silentLogger });
    const labels = { app: 'web' };
    const template = { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'example' }] } };
    const spec = { replicas: 2, selector: { matchLabels: labels }, template };
    await cluster.client.create(Deployments, { metadata: { namespace: 'default', name: 'web' }, spec }, signal);
    const key = objectKey('default', 'web');
    const available = async () => (await cluster.client.get(Deployments, key, signal)).status?.availableReplicas;
    await expect.poll(available).toBe(2);
  });

  test('has a cloud: Services get addresses, and nodes go with their machines', async ({ signal }) => {
    await using cluster = await startSandboxCluster({ logger: silentLogger });
    const { client } = cluster;
    const spec = { type: 'LoadBalancer', ports: [{ port: 80 }] };
    await client.create(Services, { metadata: { namespace: 'default', name: 'web' }, spec }, signal);
    const key = objectKey('default', 'web');
    const address = async () => (await client.get(Services, key, signal)).status?.loadBalancer?.ingress?.[0]?.ip;
    await expect.poll(address).toBe('203.0.113.1');
    const annotations = { 'hollow-node/machine': 'gone' };
    const nodes = async () => (await client.list(Nodes, {}, signal)).items.map(({ metadata }) => metadata.name);
    await client.patch(
      Nodes,
      objectKey(undefined, 'node-2'),
      { type: 'merge', body: { metadata: { annotations } } },
      signal,
    );
    await expect.poll(nodes).toEqual(['node-0', 'node-1']);
  });

  test('drops the history in a compaction', async ({ signal }) => {
    await using sandbox = await startSandbox();
    const client = await clientOf(sandbox.kubeconfigFile);
    const { metadata } = await client.list(ConfigMaps, { namespace: 'default' }, signal);
    await client.create(ConfigMaps, { metadata: { namespace: 'default', name: 'later' } }, signal);
    sandbox.compact();
    const { resourceVersion } = metadata;
    expect(isExpired(await errorOf(Array.fromAsync(client.watch(ConfigMaps, { resourceVersion }, signal))))).toBe(true);
  });
});

describe('custom resources', () => {
  const Things = defineKind<UntypedObject>({
    group: 'example.com',
    version: 'v1',
    kind: 'Thing',
    resource: 'things',
    namespaced: true,
  });
  const schema = {
    type: 'object',
    properties: {
      spec: {
        type: 'object',
        required: ['size'],
        properties: {
          size: { type: 'integer', minimum: 1 },
          colour: { type: 'string', enum: ['red', 'blue'], default: 'blue' },
        },
      },
      status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    },
  };
  const definition = {
    metadata: { name: 'things.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { kind: 'Thing', plural: 'things', shortNames: ['th'] },
      versions: [
        { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema }, subresources: { status: {} } },
      ],
    },
  };
  const thing = (name: string, spec: object) => ({ metadata: { namespace: 'default', name }, spec });

  test('are defaulted, pruned and validated by their schema, and are deleted with their definition', async ({
    signal,
  }) => {
    await using sandbox = await startSandbox();
    const client = await clientOf(sandbox.kubeconfigFile);
    await client.create(CustomResourceDefinitions, definition, signal);
    const created = await client.create(Things, thing('one', { size: 2, unknown: true }), signal);
    expect(created).toMatchObject({ metadata: { generation: 1 }, spec: { size: 2, colour: 'blue' } });
    expect(created['spec']).not.toHaveProperty('unknown');
    for (const spec of [{}, { size: 0 }, { size: 'large' }, { size: 1, colour: 'green' }]) {
      expect(isInvalid(await errorOf(client.create(Things, thing('bad', spec), signal))), JSON.stringify(spec)).toBe(
        true,
      );
    }
    const withStatus = await client.updateStatus(
      Things,
      { ...created, spec: { size: 9 }, status: { seen: 1 } },
      signal,
    );
    expect(withStatus).toMatchObject({ metadata: { generation: 1 }, spec: { size: 2 }, status: { seen: 1 } });
    const changed = await client.patch(
      Things,
      objectKey('default', 'one'),
      { type: 'merge', body: { spec: { size: 3 } } },
      signal,
    );
    expect(changed).toMatchObject({ metadata: { generation: 2 }, spec: { size: 3 }, status: { seen: 1 } });
    await client.delete(CustomResourceDefinitions, objectKey(undefined, 'things.example.com'), {}, signal);
    await eventually(async () => isNotFound(await errorOf(client.list(Things, {}, signal))), signal);
  });
});

describe('the metrics of simulated pods', () => {
  const namespace = 'default';
  const metricsPath = '/apis/metrics.k8s.io/v1beta1';

  test('scale a Deployment, are added up for nodes, and are shown by kubectl top', async ({ signal }) => {
    const managerFlags = [
      '--horizontal-pod-autoscaler-sync-period=200ms',
      '--horizontal-pod-autoscaler-cpu-initialization-period=0s',
    ];
    await using cluster = await startSandboxCluster({ nodes: 1, logger: silentLogger, managerFlags });
    const { client } = cluster;
    const labels = { app: 'busy' };
    const containers = [{ name: 'app', image: 'example', resources: { requests: { cpu: '100m', memory: '64Mi' } } }];
    const template = { metadata: { labels, annotations: { 'hollow-node/cpu-usage': '100%' } }, spec: { containers } };
    const metadata = { namespace, name: 'busy' };
    await client.create(Deployments, { metadata, spec: { selector: { matchLabels: labels }, template } }, signal);
    const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'busy' };
    const target = { type: 'Utilization', averageUtilization: 50 };
    const metrics = [{ type: 'Resource', resource: { name: 'cpu', target } }];
    await client.create(
      HorizontalPodAutoscalers,
      { metadata, spec: { scaleTargetRef, maxReplicas: 4, metrics } },
      signal,
    );
    await watchUntil(client, Deployments, { namespace }, ({ status }) => status?.availableReplicas === 4, signal);

    const usage = { cpu: '100m', memory: '32Mi' };
    const list = async (path: string): Promise<unknown> => client.request({ method: 'GET', path }, signal);
    const pods = await list(`${metricsPath}/namespaces/${namespace}/pods?labelSelector=app%3Dbusy`);
    const item = { metadata: { namespace, labels }, window: '15s', containers: [{ name: 'app', usage }] };
    expect(pods).toMatchObject({ kind: 'PodMetricsList', items: [item, item, item, item] });
    expect(await list(`${metricsPath}/nodes`)).toMatchObject({ items: [{ usage: { cpu: '400m', memory: '128Mi' } }] });
    const [first] = (await client.listAll(Pods, { namespace }, signal)).items;
    const one = `${metricsPath}/namespaces/${namespace}/pods/${first?.metadata.name}`;
    expect(await list(one)).toMatchObject({ kind: 'PodMetrics', metadata: { name: first?.metadata.name } });
    const absent = await errorOf(list(`${metricsPath}/namespaces/${namespace}/pods/absent`));
    expect(isNotFound(absent)).toBe(true);

    const top = async (...args: readonly string[]): Promise<string[]> => {
      const output = await kubectl({ kubeconfig: () => cluster.sandbox.kubeconfigFile }, ['top', ...args]);
      return output
        .trim()
        .split('\n')
        .map((line) => line.trim().replaceAll(/\s+/g, ' '));
    };
    const [node] = (await client.listAll(Nodes, {}, signal)).items;
    const ofNode = expect.stringMatching(new RegExp(`^${node?.metadata.name} 400m \\d+% 128Mi \\d+%$`));
    expect(await top('nodes')).toEqual(['NAME CPU(cores) CPU(%) MEMORY(bytes) MEMORY(%)', ofNode]);
    const { items } = await client.listAll(Pods, { namespace }, signal);
    const ofPods = items.map(({ metadata: { name } }) => `${name} app 100m 32Mi`).sort();
    const [header, ...lines] = await top('pods', '--containers');
    expect(header).toBe('POD NAME CPU(cores) MEMORY(bytes)');
    expect(lines.sort()).toEqual(ofPods);
  });

  test('do not exist without nodes, as without a metrics server', async ({ signal }) => {
    await using sandbox = await startSandbox();
    const client = await clientOf(sandbox.kubeconfigFile);
    const error = await errorOf(client.request({ method: 'GET', path: `${metricsPath}/nodes` }, signal));
    expect(isNotFound(error)).toBe(true);
  });
});
