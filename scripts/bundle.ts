import { join } from 'node:path';
import { build, type Metafile } from 'esbuild';

import { bundlePlugins } from './bundle-plugins.ts';

const root = join(import.meta.dirname, '..');

/** Writes the program as one script that imports only Node's own modules. Returns the inputs of the bundle. */
export async function writeBundle(file: string): Promise<Metafile> {
  const packed: Metafile[] = [];
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: ['cmd/kube-controller-manager/snapshot.ts'],
    outfile: file,
    bundle: true,
    // Names are kept, for error messages and stack traces.
    minifySyntax: true,
    minifyWhitespace: true,
    platform: 'node',
    format: 'cjs',
    target: 'node26',
    legalComments: 'none', // bill-of-materials.ts collects the licences
    metafile: true,
    plugins: bundlePlugins((part) => packed.push(part)),
  });
  const outputs = packed.flatMap((part, index) =>
    Object.entries(part.outputs).map(([path, output]) => [`packed ${index} ${path}`, output] as const),
  );
  return { ...metafile, outputs: { ...metafile.outputs, ...Object.fromEntries(outputs) } };
}
