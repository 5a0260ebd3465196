import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');
const tool = (name: string): string => join(root, 'node_modules/.bin', name);

/** Somebody's operator: it knows the library by the names in `exports` alone. Valid as JavaScript, too. */
const operator = `
import { ConfigMaps, runManager } from 'kube-controller-manager';
import { ClientBuilder, loadKubeconfig } from 'kube-controller-manager/client';
import { createLogger, enqueueSelf, runWorkers, systemClock } from 'kube-controller-manager/engine';
import { startSandbox } from 'kube-controller-manager/sandbox';

const logger = createLogger({ format: 'json', verbosity: 0, destination: { write() {}, flush() {} }, clock: systemClock });
const sandbox = await startSandbox({ logger });
const connection = await loadKubeconfig({ path: sandbox.kubeconfigFile }, systemClock);
const clients = new ClientBuilder({ connection, clock: systemClock, userAgent: 'test' });
const client = clients.clientFor('test');
const stop = new AbortController();
await client.create(ConfigMaps, { metadata: { namespace: 'default', name: 'mine' } }, stop.signal);
await runManager({
  name: 'greeter',
  kubeconfig: connection,
  namespace: 'default',
  server: false,
  logger,
  signal: stop.signal,
  controllers: [
    {
      name: 'greeter',
      create(context) {
        const queue = context.queueFor('greeter');
        const configMaps = context.informers.informerFor(ConfigMaps);
        const caches = [configMaps.addHandler(enqueueSelf(queue))];
        const work = {
          ...{ name: 'greeter', context, queue, caches, workers: 1 },
          reconcile: async (KEY) => {
            console.log('hello', configMaps.store.get(key)?.metadata.name);
            stop.abort();
            return {};
          },
        };
        return { name: 'greeter', run: (signal) => runWorkers(work, signal) };
      },
    },
  ],
});
clients.close();
await sandbox.stop();
`;
const inJavaScript = operator.replace('KEY', 'key');
const inTypeScript = `import type { ObjectKey } from 'kube-controller-manager';
import type { TestCluster } from 'kube-controller-manager/testing';
import type { Cached } from 'kube-controller-manager/api';
export type Known = Cached<TestCluster>;${operator.replace('KEY', 'key: ObjectKey')}`;

/** A test of somebody's operator, with Kubernetes' own controllers and a node. */
const clusterTest = `
import { Deployments } from 'kube-controller-manager';
import { startTestCluster } from 'kube-controller-manager/testing';

const controllers = ['deployment-controller', 'replicaset-controller'];
await using cluster = await startTestCluster({ server: 'sandbox', controllers, nodes: 1 });
const labels = { app: 'web' };
const template = { metadata: { labels }, spec: { containers: [{ name: 'a', image: 'a' }] } };
const metadata = { namespace: 'default', name: 'web' };
await cluster.client.create(Deployments, { metadata, spec: { selector: { matchLabels: labels }, template } });
const { status } = await cluster.until(Deployments, metadata, ({ status }) => status?.availableReplicas === 1);
console.log('available', status?.availableReplicas);
`;

interface PackageJson {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

describe('the library as a package', () => {
  const packageJson = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as PackageJson;
  let directory = '';
  /** Without any package. */
  let alone = '';
  const write = (name: string, text: string): string => {
    const path = join(directory, name);
    writeFileSync(path, text);
    return path;
  };
  const modules = (): string => join(directory, 'node_modules');
  function link(name: string): void {
    const path = join(modules(), name);
    mkdirSync(dirname(path), { recursive: true });
    rmSync(path, { force: true });
    symlinkSync(join(root, 'node_modules', name), path);
  }
  /** What the compiler says. */
  function tryToCompile(argv: readonly string[]): string {
    return spawnSync(tool('tsc'), argv, { encoding: 'utf8' }).stdout;
  }
  /** As npm would: what the package depends on, and nothing else of this tree. */
  function install(): void {
    const installed = join(modules(), 'kube-controller-manager');
    mkdirSync(installed, { recursive: true });
    writeFileSync(join(installed, 'package.json'), readFileSync(join(root, 'package.json')));
    execFileSync(tool('node'), [join(root, 'scripts/build-lib.ts'), join(installed, 'dist/lib')]);
    for (const name of [...Object.keys(packageJson.dependencies), '@types/node']) link(name);
  }
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'library-'));
    alone = mkdtempSync(join(tmpdir(), 'bundle-'));
    install();
    write('package.json', '{ "type": "module" }');
    const strict = { strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true };
    const compilerOptions = { module: 'nodenext', target: 'esnext', lib: ['esnext'], types: ['node'], noEmit: true };
    const settings = { ...compilerOptions, ...strict, skipLibCheck: false };
    write('tsconfig.json', JSON.stringify({ compilerOptions: settings, files: ['operator.ts', 'mistake.ts'] }));
  });
  afterAll(() => [directory, alone].forEach((each) => rmSync(each, { recursive: true })));
  const run = (path: string): string => execFileSync(tool('node'), [path], { encoding: 'utf8', cwd: dirname(path) });

  test('gives its users types that hold, down to those of its dependencies', () => {
    const mistake =
      "import { runManager } from 'kube-controller-manager';\n// @ts-expect-error\nawait runManager({ name: 7 });\n";
    write('operator.ts', inTypeScript);
    write('mistake.ts', mistake);
    expect(() => execFileSync(tool('tsc'), ['-p', directory], { encoding: 'utf8' })).not.toThrow();
  });

  test('compiles the guide to operators as its reader does, down to the types of the dependencies', () => {
    const guide = readFileSync(join(root, 'docs/operators.md'), 'utf8');
    const [, install = ''] = /^npm install --save-dev (.*)$/m.exec(guide) ?? [];
    for (const name of install.split(' ')) link(name);
    mkdirSync(join(directory, 'guide'));
    const files = [...guide.matchAll(/`([\w.-]+\.(?:ts|json))`:\n\n```\w+\n([^]*?)```$/gm)];
    for (const [, name = '', text = ''] of files) write(`guide/${name}`, text);
    expect(files.map(([, name]) => name)).toContain('tsconfig.json');
    const project = join(directory, 'guide');
    const argv = ['-p', project, '--skipLibCheck', 'false'];
    expect(tryToCompile(argv)).toBe('');
    write('guide/mistake.ts', "import { Foos } from './foo.ts';\nFoos.crd.spec.replicas;\n");
    expect(tryToCompile(argv)).toContain("Property 'replicas' does not exist");
  });

  test('runs an operator in JavaScript, and the same in TypeScript', () => {
    expect(run(write('operator.js', inJavaScript))).toBe('hello mine\n');
    expect(run(write('operator.ts', inTypeScript))).toBe('hello mine\n');
  });

  test('brings a cluster for tests, with the controllers of Kubernetes', () => {
    expect(run(write('cluster-test.js', clusterTest))).toBe('available 1\n');
  });

  test('can be bundled as an ES module, without settings', async () => {
    const outfile = join(alone, 'operator.mjs');
    const entry = write('operator.js', inJavaScript);
    await build({ entryPoints: [entry], outfile, bundle: true, platform: 'node', format: 'esm', logLevel: 'error' });
    expect(run(outfile)).toBe('hello mine\n');
  });

  test('brings one YAML library and no parser of command lines', () => {
    const names = Object.keys(packageJson.dependencies);
    expect(names.filter((name) => /yaml/.test(name))).toEqual(['js-yaml']);
    expect(names.filter((name) => /commander|yargs|minimist/.test(name))).toEqual([]);
  });
});
