/**
 * Builds the page of the loop into `dist/page`, from where a program run from its sources serves it. The executable has
 * the page inside of it: bundle-plugins.ts.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, type Metafile } from 'esbuild';

const root = join(import.meta.dirname, '..');
const source = 'pkg/loop/page';

interface BuiltPage {
  /** The text of each file, by its name. */
  readonly files: ReadonlyMap<string, string>;
  /** The inputs of the script, for the bill of materials. */
  readonly metafile: Metafile;
}

export async function bundlePage(): Promise<BuiltPage> {
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: [
      { in: `${source}/main.tsx`, out: 'page' },
      { in: `${source}/page.css`, out: 'page' },
    ],
    outdir: '.',
    bundle: true,
    write: false,
    minify: true,
    platform: 'browser',
    format: 'iife',
    target: ['chrome120', 'firefox121', 'safari17.4'],
    legalComments: 'none', // bill-of-materials.ts collects the licences
    metafile: true,
  });
  const built = outputFiles.map(({ path, text }): [string, string] => [path.slice(root.length + 1), text]);
  const index = readFileSync(join(root, source, 'index.html'), 'utf8');
  return { files: new Map([['index.html', index], ...built]), metafile };
}

export async function buildPage(folder: string = join(root, 'dist/page')): Promise<void> {
  const { files } = await bundlePage();
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of files) writeFileSync(join(folder, name), text);
}

if (import.meta.main) await buildPage();
