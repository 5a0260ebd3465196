import { join } from 'node:path';
import { build, type Metafile } from 'esbuild';

import { bundlePlugins } from './bundle-plugins.ts';

const root = join(import.meta.dirname, '..');

/** Writes the program as one script without imports other than Node's own, and tells what it is made of. */
export async function writeBundle(file: string): Promise<Metafile> {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: ['cmd/kube-controller-manager/snapshot.ts'],
    outfile: file,
    bundle: true,
    // Not the names: error messages and stack traces tell them.
    minifySyntax: true,
    minifyWhitespace: true,
    platform: 'node',
    format: 'cjs',
    target: 'node26',
    legalComments: 'none', // bill-of-materials.ts collects the licences
    metafile: true,
    plugins: bundlePlugins,
  });
  return metafile;
}
