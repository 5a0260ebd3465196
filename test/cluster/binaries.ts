import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';

const moduleDirectory = import.meta.dirname;
const cacheDirectory = join(moduleDirectory, '../../.cache');

interface Source {
  readonly module: string;
  readonly package: string;
  readonly cacheName: string;
}

const kubernetes = (command: string): Source => ({
  module: 'k8s.io/kubernetes',
  package: `k8s.io/kubernetes/cmd/${command}`,
  cacheName: 'kubernetes',
});

const sources = {
  etcd: { module: 'go.etcd.io/etcd/server/v3', package: 'go.etcd.io/etcd/server/v3', cacheName: 'etcd' },
  'kube-apiserver': kubernetes('kube-apiserver'),
  'kube-controller-manager': kubernetes('kube-controller-manager'),
  'kube-scheduler': kubernetes('kube-scheduler'),
  kubectl: kubernetes('kubectl'),
  // A program of this project. After a change, delete the old one from the cache.
  'cloud-controller-manager': {
    module: 'k8s.io/kubernetes',
    package: './cloud-controller-manager',
    cacheName: 'kubernetes',
  },
} as const satisfies Record<string, Source>;

export type BinaryName = keyof typeof sources;

/**
 * The path of a binary. The first match wins: the directory `KUBEBUILDER_ASSETS`, the project's cache, a build with Go
 * into that cache. Rejects with one line that says what to do if none of them is possible.
 */
export async function binaryPath(name: BinaryName): Promise<string> {
  const assets = process.env['KUBEBUILDER_ASSETS'];
  if (assets !== undefined && assets !== '' && existsSync(join(assets, name))) return join(assets, name);
  const source = sources[name];
  const version = pinnedVersion(readFileSync(join(moduleDirectory, 'go.mod'), 'utf8'), source.module);
  const cached = join(cacheDirectory, `${source.cacheName}-${version}`, name);
  if (!existsSync(cached)) await build({ name, source, version, target: cached });
  return cached;
}

/** The version that a go.mod requires of a module. */
export function pinnedVersion(goMod: string, module: string): string {
  for (const line of goMod.split('\n')) {
    const [path, version] = line.replace(/^\s*(require\s+)?/, '').split(/\s+/);
    if (path === module && version?.startsWith('v') === true) return version;
  }
  throw new Error(`find the version of ${module}: go.mod does not require it`);
}

interface Build {
  readonly name: BinaryName;
  readonly source: Source;
  readonly version: string;
  readonly target: string;
}

async function build({ name, source, version, target }: Build): Promise<void> {
  const title = `${name} ${version}`;
  // A build may be interrupted, or run twice at once: only a complete file gets the final name.
  const unfinished = `${target}.${String(process.pid)}.unfinished`;
  await mkdir(dirname(target), { recursive: true });
  try {
    const flags = ['-v', '-trimpath', '-ldflags', linkerFlags(source.module, version), '-o', unfinished];
    await runGo(title, ['build', ...flags, source.package]);
    await rename(unfinished, target);
  } finally {
    await rm(unfinished, { force: true });
  }
}

/** Kubernetes reports the version that the linker sets, or else `v0.0.0-master`. */
function linkerFlags(module: string, version: string): string {
  if (module !== 'k8s.io/kubernetes') return '-s -w';
  const [major = '', minor = ''] = version.slice(1).split('.');
  const stamps = {
    'k8s.io/component-base/version.gitVersion': version,
    'k8s.io/component-base/version.gitMajor': major,
    'k8s.io/component-base/version.gitMinor': minor,
    'k8s.io/component-base/version.gitTreeState': 'clean',
    'k8s.io/client-go/pkg/version.gitVersion': version,
  };
  return ['-s -w', ...Object.entries(stamps).map(([symbol, value]) => `-X ${symbol}=${value}`)].join(' ');
}

const progressEveryMs = 5000;

async function runGo(title: string, args: readonly string[]): Promise<void> {
  const startedAt = performance.now();
  const report = (text: string): void => {
    const seconds = Math.round((performance.now() - startedAt) / 1000);
    process.stderr.write(`[cluster] ${title}: ${text} (${String(seconds)} s)\n`);
  };
  report('not in the cache; building it with Go, once; a first build takes minutes');
  const go = spawn('go', args, {
    cwd: moduleDirectory,
    env: { ...process.env, CGO_ENABLED: '0' },
    stdio: ['ignore', 'inherit', 'pipe'],
  });
  const exited = once(go, 'close'); // rejects when go cannot be started
  // With -v go names each package when it is compiled, and each module when it is downloaded.
  const recent: string[] = [];
  let lineCount = 0;
  createInterface({ input: go.stderr }).on('line', (line) => {
    lineCount += 1;
    recent.push(line);
    if (recent.length > 20) recent.shift();
  });
  const timer = setInterval(
    () =>
      report(
        lineCount === 0 ? 'building' : `building, ${String(lineCount)} packages so far, now ${recent.at(-1) ?? ''}`,
      ),
    progressEveryMs,
  );
  try {
    const [code] = await exited;
    if (code !== 0) throw new Error(`go ${args.join(' ')} failed:\n${recent.join('\n')}`);
    report('built');
  } catch (error) {
    if (!isMissingProgram(error)) throw error;
    const remedy = 'install Go (1.21 or newer) or set KUBEBUILDER_ASSETS to a folder that holds it, then run again';
    throw new Error(
      `${title} is neither in KUBEBUILDER_ASSETS nor in .cache, and there is no Go to build it: ${remedy}`,
      {
        cause: error,
      },
    );
  } finally {
    clearInterval(timer);
  }
}

function isMissingProgram(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
