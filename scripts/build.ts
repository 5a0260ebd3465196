/**
 * Builds the program into `dist`, or the directory given by `--out`: `kube-controller-manager`, and beside it the picture
 * of its memory that it starts from. Both name the directory and the Node that they were built with, and run with no
 * other.
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';

import { bundlePlugins } from './bundle-plugins.ts';

const root = join(import.meta.dirname, '..');

async function writeBundle(file: string): Promise<void> {
  await build({
    absWorkingDir: root,
    entryPoints: ['cmd/kube-controller-manager/snapshot.ts'],
    outfile: file,
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
}

/**
 * Runs the bundle until it is loaded, and keeps what is then in memory. V8 usually compiles a function when it is first
 * called; here it compiles all of them, so that no start has to.
 */
function takeSnapshot(bundle: string, directory: string, snapshot: string): void {
  const builder = join(directory, 'builder.cjs');
  const configuration = join(directory, 'snapshot.json');
  writeFileSync(
    builder,
    `const { readFileSync } = require('node:fs');
const { setFlagsFromString } = require('node:v8');
const { Script } = require('node:vm');
for (const flag of ['--no-lazy', '--no-flush-bytecode']) setFlagsFromString(flag);
const filename = ${JSON.stringify(bundle)};
new Script(\`(function (require) { \${readFileSync(filename, 'latin1')}\\n})\`, { filename }).runInThisContext()(require);
for (const flag of ['--lazy', '--flush-bytecode']) setFlagsFromString(flag);
`,
  );
  // Without the compiled code of Node's own parts: it would be another 7 MB in memory, to save a start some 30 ms.
  writeFileSync(configuration, JSON.stringify({ builder, withoutCodeCache: true }));
  execFileSync(process.execPath, ['--snapshot-blob', snapshot, '--build-snapshot-config', configuration], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, NODE_NO_WARNINGS: '1' }, // that not all of Node has been tried in snapshots: process-bundle.test.ts does
  });
  for (const file of [builder, configuration]) rmSync(file);
}

function writeExecutable(snapshot: string, executable: string): void {
  const firstLine = `#!${process.execPath} --snapshot-blob=${snapshot}\n`;
  if (firstLine.length > longestFirstLine) throw new Error(`--out: too long a path for Linux to run: ${firstLine}`);
  writeFileSync(executable, firstLine);
  chmodSync(executable, 0o755);
}

/** Linux reads no more of a file to see what runs it, and cuts off the rest in silence. */
const longestFirstLine = 255;

function report(path: string): void {
  console.log(`${path} (${(statSync(path).size / 1e6).toFixed(1)} MB)`);
}

const { values } = parseArgs({ options: { out: { type: 'string', default: join(root, 'dist') } } });
const directory = resolve(values.out);
const [bundle, snapshot, executable] = ['program.cjs', 'program.snapshot', 'kube-controller-manager'].map((name) =>
  join(directory, name),
) as [string, string, string];
mkdirSync(directory, { recursive: true });
await writeBundle(bundle);
takeSnapshot(bundle, directory, snapshot);
writeExecutable(snapshot, executable);
report(snapshot);
report(executable);
