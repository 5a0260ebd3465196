/**
 * Bundles the program, so that it needs nothing but Node: `node dist/kube-controller-manager.mjs`. With `--binary` it
 * also makes `dist/kube-controller-manager`: the bundle, its compiled code and the Node that runs this script, in one
 * executable.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';
import type { Plugin } from 'esbuild';

const root = join(import.meta.dirname, '..');
const directory = join(root, 'dist');
const bundle = join(directory, 'program.mjs');
const launcher = join(directory, 'kube-controller-manager.mjs');
const executable = join(directory, 'kube-controller-manager');

/**
 * V8 trades memory for time freely: its space for new objects grows to 32 MB, and its heap to several times what is in
 * use. A controller manager spends one part in twenty of its time on collecting, so here the trade goes the other way.
 */
const heapFlags = ['--semi-space-growth-factor=1', '--heap-growing-percent=40'];

/**
 * Keeps compiled code beside the bundle from the first run on: the next starts take a third less time and a fifth less
 * memory. Node can do so only for modules that are loaded after it was asked to, hence the file of its own. Not in the
 * directory for temporary files, which is Node's default: others may write there.
 */
const launcherSource = `#!/usr/local/bin/node
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
for (const flag of ${JSON.stringify(heapFlags)}) setFlagsFromString(flag);
enableCompileCache(join(import.meta.dirname, 'compile-cache'));
await import('./program.mjs');
`;

/** Without a word from their authors, esbuild must assume that importing a package does something, and keeps it all. */
const withoutSideEffects: Plugin = {
  name: 'without-side-effects',
  setup({ onResolve, resolve }) {
    onResolve({ filter: /^(@kubernetes\/client-node|\.)/ }, async (args) => {
      if (args.pluginData === 'resolved' || args.kind === 'require-call') return undefined;
      if (args.path.startsWith('.') && !args.importer.includes('@kubernetes/client-node')) return undefined;
      const { importer, kind, resolveDir } = args;
      const { path } = await resolve(args.path, { importer, kind, resolveDir, pluginData: 'resolved' });
      return { path, sideEffects: false };
    });
  },
};

/** zod brings its messages in some fifty languages; the program speaks one. */
const oneLanguage: Plugin = {
  name: 'one-language',
  setup({ onLoad }) {
    onLoad({ filter: /[/\\]zod[/\\]v4[/\\]locales[/\\]index\.js$/ }, () => ({
      contents: "export { default as en } from './en.js';",
    }));
  },
};

/**
 * client-node brings an HTTP client, a third of the bundle, which only its own request path uses. We take nothing but
 * its reading of kubeconfigs, so here it gets one that says so should it ever be asked.
 */
const ownTransportOnly: Plugin = {
  name: 'own-transport-only',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^undici$/ }, () => ({ path: 'undici', namespace: 'left-out' }));
    onLoad({ filter: /.*/, namespace: 'left-out' }, () => ({
      contents: ['Agent', 'ProxyAgent', 'fetch']
        .map((name) => `export function ${name}() { throw new Error('undici is not part of the bundle'); }`)
        .join('\n'),
    }));
  },
};

async function writeBundle(): Promise<void> {
  await build({
    absWorkingDir: root,
    entryPoints: ['cmd/kube-controller-manager/main.ts'],
    outfile: bundle,
    bundle: true,
    minify: true,
    // Error messages and stack traces keep the names that the source gives.
    keepNames: true,
    platform: 'node',
    format: 'esm',
    target: 'node24',
    legalComments: 'linked',
    plugins: [withoutSideEffects, oneLanguage, ownTransportOnly],
    // Packages in the older module format ask for Node's own modules through `require`.
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
  });
  report(bundle);
  writeFileSync(launcher, launcherSource, { mode: 0o755 });
  report(launcher);
}

function writeExecutable(): void {
  const configuration = join(directory, 'executable.json');
  writeFileSync(
    configuration,
    JSON.stringify({
      main: bundle,
      mainFormat: 'module',
      output: executable,
      disableExperimentalSEAWarning: true,
      useCodeCache: true,
    }),
  );
  execFileSync(process.execPath, ['--build-sea', configuration], { stdio: ['ignore', 'ignore', 'inherit'] });
  rmSync(configuration);
  report(executable);
}

function report(path: string): void {
  console.log(`${path} (${(statSync(path).size / 1e6).toFixed(1)} MB)`);
}

const { values } = parseArgs({ options: { binary: { type: 'boolean', default: false } } });
rmSync(directory, { recursive: true, force: true });
mkdirSync(directory, { recursive: true });
await writeBundle();
if (values.binary) writeExecutable();
