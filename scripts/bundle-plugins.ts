/**
 * The parts of the bundle that are loaded on demand, and the page of the loop.
 *
 * - `onDemand`: without it there is no snapshot, since V8 cannot keep what these parts of Node hold.
 * - `packed`: 1.7 MB less memory at a start, of 93.7. The first use of what is packed takes as long as without it.
 * - `embeddedPage`: the executable is one file, and has the page in it.
 */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { deflateRawSync } from 'node:zlib';
import { build, type Metafile, type Plugin } from 'esbuild';

import { bundlePage } from './build-page.ts';

/** Parts of Node that cannot be in a snapshot. */
const loadedLater = /^(node:)?(http|http2|https|tls)$/;

const onDemand: Plugin = {
  name: 'on-demand',
  setup({ onResolve, onLoad }) {
    const requireHere = createRequire(import.meta.url);
    onResolve({ filter: loadedLater }, ({ path, namespace }) =>
      namespace === 'on-demand' ? undefined : { path, namespace: 'on-demand' },
    );
    onLoad({ filter: /.*/, namespace: 'on-demand' }, ({ path }) => {
      const names = Object.keys(requireHere(path) as object);
      const getters = names.map((name) => `get ${name}() { return load().${name}; }`);
      return {
        contents: `let loaded; const load = () => (loaded ??= require('${path}'));
          module.exports = { ${getters.join(', ')} };`,
      };
    });
  },
};

/**
 * The X.509 library, and the checks of policies with their parser, which few processes need. Loading one decompresses and
 * compiles its source.
 */
const packedModule = /\/(x509-library|check-policy)\.ts$/;

/** Calls `onPacked` with the metadata of the packed modules, which is not in that of the bundle. So does `embeddedPage`. */
const packed = (onPacked: (metafile: Metafile) => void): Plugin => ({
  name: 'packed',
  setup({ onResolve, onLoad, initialOptions: { absWorkingDir, platform, target } }) {
    onResolve({ filter: packedModule }, ({ path, resolveDir }) => ({
      path: join(resolveDir, path),
      namespace: 'packed',
    }));
    onLoad({ filter: /.*/, namespace: 'packed' }, async ({ path }) => {
      const { outputFiles, metafile } = await build({
        ...(absWorkingDir !== undefined && { absWorkingDir }),
        ...(platform !== undefined && { platform }),
        ...(target !== undefined && { target }),
        entryPoints: [path],
        bundle: true,
        write: false,
        format: 'cjs',
        minifySyntax: true,
        minifyWhitespace: true,
        legalComments: 'none',
        metafile: true,
      });
      onPacked(metafile);
      const source = deflateRawSync(outputFiles[0]?.contents ?? '').toString('base64');
      return {
        contents: `const source = require('node:zlib').inflateRawSync(Buffer.from('${source}', 'base64')).toString();
          new Function('module', 'exports', 'require', source)(module, exports, require);`,
      };
    });
  },
});

/** Replaces the module that reads the files of the page by one that has their text. */
const embeddedPage = (onPacked: (metafile: Metafile) => void): Plugin => ({
  name: 'embedded-page',
  setup({ onLoad }) {
    onLoad({ filter: /\/pkg\/loop\/page-files\.ts$/ }, async () => {
      const { files, metafile } = await bundlePage();
      onPacked(metafile);
      return {
        contents: `const files = new Map(${JSON.stringify([...files])});
          export const readPageFile = (name) => files.get(name);`,
      };
    });
  },
});

export const bundlePlugins = (onPacked: (metafile: Metafile) => void): Plugin[] => [
  packed(onPacked),
  embeddedPage(onPacked),
  onDemand,
];
