import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { transform } from 'esbuild';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';

import { eventually } from '../support/eventually.ts';
import { createNamespace, useCluster } from './use-cluster.ts';

const root = join(import.meta.dirname, '../..');
const sample = join(root, 'examples/sample-controller');
const run = promisify(execFile);
const getCluster = useCluster();
let directory: string;
let packed: readonly string[];

/** What an author adds to the sample controller to run it. */
const main = `
import { runManager } from 'kube-controller-manager';
import { fooController } from './controller.ts';

const namespace = process.env['NAMESPACE'] ?? '';
await runManager({
  name: 'sample-controller',
  controllers: [fooController],
  namespace,
  leaderElection: { namespace },
  server: { port: 'any' },
});
`;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'package-'));
  const npm = (...args: string[]) => run('npm', args, { cwd: directory, maxBuffer: 1 << 24 });
  const { stdout } = await npm('pack', root, '--json', '--silent');
  const [tarball] = JSON.parse(stdout.slice(stdout.indexOf('[\n'))) as {
    filename: string;
    files: { path: string }[];
  }[];
  packed = (tarball?.files ?? []).map(({ path }) => path);
  writeFileSync(join(directory, 'package.json'), '{ "private": true, "type": "module" }');
  await npm('install', '--no-audit', '--no-fund', '--prefer-offline', `./${tarball?.filename}`);
  const foo = readFileSync(join(sample, 'foo.ts'), 'utf8');
  const controller = readFileSync(join(sample, 'controller.ts'), 'utf8');
  for (const extension of ['ts', 'js'] as const) {
    mkdirSync(join(directory, extension));
    for (const [name, text] of Object.entries({ foo, controller, main })) {
      const own = text.replaceAll("'../../index.ts'", "'kube-controller-manager'");
      const written =
        extension === 'ts' ? own : (await transform(own, { loader: 'ts' })).code.replaceAll('.ts"', '.js"');
      writeFileSync(join(directory, extension, `${name}.${extension}`), written);
    }
  }
  await createFooDefinition();
});
afterAll(() => rmSync(directory, { recursive: true }));

/** The manifest that the author would apply. */
async function readFooDefinition(): Promise<string> {
  const script = "import { Foos } from './js/foo.js'; console.log(JSON.stringify(Foos.crd));";
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', script], { cwd: directory });
  return stdout;
}

async function createFooDefinition(): Promise<void> {
  const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  expect(
    (await getCluster().request({ method: 'POST', path, body: JSON.parse(await readFooDefinition()) })).status,
  ).toBe(201);
}

describe('the package, installed in an empty project', () => {
  for (const extension of ['js', 'ts'] as const) {
    test(`runs the sample controller as ${extension}, and ends it with exit code 0`, async ({ signal }) => {
      const cluster = getCluster();
      const namespace = await createNamespace(cluster);
      const env = { ...process.env, KUBECONFIG: cluster.kubeconfig(), NAMESPACE: namespace };
      const child = spawn(process.execPath, [join(directory, extension, `main.${extension}`)], { env });
      let log = '';
      child.stderr.setEncoding('utf8').on('data', (text: string) => (log += text));
      const exited = once(child, 'close');
      onTestFinished(async () => {
        child.kill('SIGKILL');
        await exited;
      });
      await eventually(async () => {
        if (child.exitCode !== null) throw new Error(log);
        const foos = `/apis/samplecontroller.example.com/v1alpha1/namespaces/${namespace}/foos`;
        const body = { apiVersion: 'samplecontroller.example.com/v1alpha1', kind: 'Foo', metadata: { name: 'a' } };
        const spec = { deploymentName: 'web', replicas: 2 };
        const { status } = await cluster.request({ method: 'POST', path: foos, body: { ...body, spec } });
        return status === 201 || status === 409;
      }, signal);
      const path = `/apis/apps/v1/namespaces/${namespace}/deployments/web`;
      const deployment = await eventually(async () => {
        const { status, body } = await cluster.request({ path });
        return status === 200 && body;
      }, signal);
      expect(deployment).toMatchObject({
        spec: { replicas: 2 },
        metadata: { ownerReferences: [{ kind: 'Foo', name: 'a', controller: true }] },
      });
      child.kill('SIGTERM');
      expect(await exited, log).toEqual([0, null]);
      expect(log).toMatch(/^I\S+ \S+ +\d+ sample-controller\] "acquired the lease"/m);
    });
  }

  test('writes types with crd-types that compile to a kind', async () => {
    const definition = join(directory, 'foos.json');
    writeFileSync(definition, await readFooDefinition());
    const { stdout } = await run(join(directory, 'node_modules/.bin/crd-types'), [definition], { cwd: directory });
    writeFileSync(join(directory, 'foos.ts'), stdout);
    const script = "import { Foos } from './foos.ts'; console.log(Foos.kind, Foos.resource);";
    const made = await run(process.execPath, ['--input-type=module', '-e', script], { cwd: directory });
    expect(made.stdout).toBe('Foo foos\n');
  });

  test('has everything that users need, and no development files', () => {
    for (const path of ['README.md', 'LICENSE', 'CHANGELOG.md', 'dist/lib/index.js', 'dist/lib/testing.d.ts']) {
      expect(packed).toContain(path);
    }
    const rest = packed.filter(
      (path) => !/^(package\.json|README\.md|LICENSE|CHANGELOG\.md|dist\/lib\/.*)$/.test(path),
    );
    expect(rest).toEqual([]);
    expect(packed.filter((path) => /\.test\.|\/cmd\/(?!crd-types\/)/.test(path))).toEqual([]);
  });
});
