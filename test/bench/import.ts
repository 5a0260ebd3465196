/**
 * What it costs to import a library and to read a kubeconfig with it: this library, as it is published, and others, from
 * the registry. Medians of five processes each; an empty process for comparison.
 *
 *     node test/bench/import.ts
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');
const rounds = 5;

/** A library, and the code that reads the kubeconfig `file` with it. */
interface Library {
  readonly package: string | undefined;
  readonly code: string;
}

const clientNode = `const { KubeConfig } = await import('@kubernetes/client-node'); new KubeConfig().loadFromFile(file);`;
const libraries: readonly Library[] = [
  { package: undefined, code: '' },
  {
    package: 'kube-controller-manager',
    code: `await import('kube-controller-manager');
      const [{ loadKubeconfig }, { systemClock }] = await Promise.all([
        import('kube-controller-manager/client'), import('kube-controller-manager/engine')]);
      await loadKubeconfig({ path: file }, systemClock);`,
  },
  { package: '@kubernetes/client-node@2.0.1', code: clientNode },
  { package: '@dot-i/k8s-operator@1.3.8', code: `await import('@dot-i/k8s-operator'); ${clientNode}` },
  { package: 'pepr', code: `await import('pepr');` },
];

const kubeconfig = {
  apiVersion: 'v1',
  kind: 'Config',
  'current-context': 'a',
  clusters: [{ name: 'a', cluster: { server: 'https://127.0.0.1:6443' } }],
  contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
  users: [{ name: 'a', user: { token: 'a' } }],
};

/** An empty project with one library in it. */
function install(directory: string, name: string | undefined): void {
  mkdirSync(directory);
  writeFileSync(join(directory, 'package.json'), '{ "private": true, "type": "module" }');
  if (name === undefined) return;
  const npm = (...args: string[]): string =>
    execFileSync('npm', [...args, '--silent', '--no-audit', '--no-fund'], { cwd: directory, encoding: 'utf8' });
  if (name !== 'kube-controller-manager') {
    npm('install', name);
    return;
  }
  execFileSync('npm', ['run', 'build:lib', '--silent'], { cwd: root });
  const own = join(directory, 'own');
  mkdirSync(own);
  for (const file of ['package.json', 'dist/lib']) cpSync(join(root, file), join(own, file), { recursive: true });
  npm('install', '--install-links', './own', '--ignore-scripts');
  rmSync(own, { recursive: true });
}

interface Cost {
  readonly megabytes: number;
  readonly cpuSeconds: number;
  readonly wallSeconds: number;
}

function measure(directory: string, code: string): Cost {
  const program = `const file = 'kubeconfig.json'; const startMs = performance.now(); ${code}
    const { user, system } = process.cpuUsage();
    const wallSeconds = (performance.now() - startMs) / 1000;
    const megabytes = process.memoryUsage.rss() / 1e6;
    console.log(JSON.stringify({ megabytes, cpuSeconds: (user + system) / 1e6, wallSeconds })); process.exit();`;
  writeFileSync(join(directory, 'program.js'), program);
  writeFileSync(join(directory, 'kubeconfig.json'), JSON.stringify(kubeconfig));
  const costs = Array.from({ length: rounds }, () => {
    const out = execFileSync(process.execPath, ['program.js'], { cwd: directory, encoding: 'utf8' });
    return JSON.parse(out.trim().split('\n').at(-1) ?? '') as Cost;
  });
  const median = (of: (cost: Cost) => number): number =>
    costs.map(of).toSorted((a, b) => a - b)[Math.floor(rounds / 2)] ?? Number.NaN;
  return {
    megabytes: median((cost) => cost.megabytes),
    cpuSeconds: median((cost) => cost.cpuSeconds),
    wallSeconds: median((cost) => cost.wallSeconds),
  };
}

/** The packages that were installed, and their size on disk. */
function sizeOf(directory: string): { packages: number; megabytes: number } {
  const modules = join(directory, 'node_modules');
  const names = readdirSync(directory).includes('node_modules') ? readdirSync(modules, { recursive: true }) : [];
  const paths = names.map((name) => join(modules, String(name)));
  const bytes = paths.map((path) => statSync(path)).filter((each) => each.isFile());
  return {
    packages: paths.filter((path) => /node_modules\/(@[^/]+\/)?[^/@]+\/package\.json$/.test(path)).length,
    megabytes: bytes.reduce((sum, { size }) => sum + size, 0) / 1e6,
  };
}

const work = mkdtempSync(join(tmpdir(), 'import-'));
try {
  console.log('| | memory MB | CPU s | time s | packages | on disk MB |\n|---|---|---|---|---|---|');
  for (const [index, { package: name, code }] of libraries.entries()) {
    const directory = join(work, String(index));
    install(directory, name);
    const { megabytes, cpuSeconds, wallSeconds } = measure(directory, code);
    const size = sizeOf(directory);
    const cells = [megabytes.toFixed(0), cpuSeconds.toFixed(2), wallSeconds.toFixed(2), size.packages];
    console.log(`| ${name ?? 'nothing'} | ${cells.join(' | ')} | ${size.megabytes.toFixed(0)} |`);
  }
} finally {
  rmSync(work, { recursive: true });
}
