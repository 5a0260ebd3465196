// Builds the library: what `exports` and `bin` in package.json name, with its types, and nothing that an earlier build
// left. `node scripts/build-lib.ts FOLDER` builds it elsewhere than in dist/lib.
//
// Its code is joined into a few modules, because Node resolves, reads and links each file that is imported: a program
// that imports the root takes 0.13 s of CPU above an empty one, and 0.18 s if each source is a module of its own.
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';

const root = join(import.meta.dirname, '..');
const folder = resolve(process.argv[2] ?? join(root, 'dist/lib'));
rmSync(folder, { recursive: true, force: true });
const tsc = join(root, 'node_modules/.bin/tsc');
const { status } = spawnSync(tsc, ['-p', join(root, 'tsconfig.lib.json'), '--outDir', folder], { stdio: 'inherit' });
process.exitCode = status ?? 1;
if (status === 0) {
  bringModels();
  await writeModules();
}

/** A module for each entry point, and modules with the code that several of them share or that is loaded on demand. */
async function writeModules(): Promise<void> {
  const { include } = JSON.parse(readFileSync(join(root, 'tsconfig.lib.json'), 'utf8')) as { include: string[] };
  await build({
    absWorkingDir: root,
    entryPoints: include.filter((path) => !path.endsWith('.d.ts')),
    outdir: folder,
    outbase: '.',
    chunkNames: 'shared/[name]-[hash]',
    bundle: true,
    splitting: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'node24',
    logLevel: 'warning',
  });
}

/**
 * The library needs only the declarations of Kubernetes objects from client-node: 2 MB of 83 MB including dependencies.
 * They become part of the library, with their licence.
 */
function bringModels(): void {
  const clientNode = join(root, 'node_modules/@kubernetes/client-node');
  const from = join(clientNode, 'dist/gen/models');
  const to = join(folder, 'models');
  mkdirSync(join(to, 'gen/models'), { recursive: true });
  for (const name of readdirSync(from).filter((each) => each.endsWith('.d.ts'))) {
    copyFileSync(join(from, name), join(to, 'gen/models', name));
  }
  copyFileSync(join(clientNode, 'LICENSE'), join(to, 'LICENSE'));
  copyFileSync(join(clientNode, 'dist/types.d.ts'), join(to, 'types.d.ts'));
  writeFileSync(join(to, 'api.d.ts'), "export * from './gen/models/all.js';\n"); // what types.d.ts imports
  const objects = join(folder, 'pkg/api/objects.d.ts');
  const declared = readFileSync(objects, 'utf8');
  const own = declared.replaceAll('@kubernetes/client-node/dist/', '../../models/');
  if (own === declared) throw new Error(`${objects} does not import the models of client-node`);
  writeFileSync(objects, own);
}
