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

import { bundlePlugins } from './bundle-plugins.ts';
import { launcherSource, writeCodeCache } from './code-cache.ts';

const root = join(import.meta.dirname, '..');
const directory = join(root, 'dist');
const bundle = join(directory, 'program.cjs');
const launcher = join(directory, 'kube-controller-manager.mjs');
const executable = join(directory, 'kube-controller-manager');

async function writeBundle(): Promise<void> {
  await build({
    absWorkingDir: root,
    entryPoints: ['cmd/kube-controller-manager/main.ts'],
    outfile: bundle,
    bundle: true,
    // Not the names: error messages and stack traces tell them.
    minifySyntax: true,
    minifyWhitespace: true,
    platform: 'node',
    format: 'cjs',
    target: 'node24',
    legalComments: 'linked',
    plugins: bundlePlugins,
  });
  report(bundle);
  writeFileSync(launcher, launcherSource, { mode: 0o755 });
  report(launcher);
  await writeCodeCache(directory);
  report(join(directory, 'program.cache'));
}

function writeExecutable(): void {
  const configuration = join(directory, 'executable.json');
  writeFileSync(
    configuration,
    JSON.stringify({
      main: bundle,
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
