/**
 * What the bundle leaves out, or leaves for later, of the packages that it is made of. Measured:
 *
 * - `kubeconfigOnly` and `leftOut`: 12 MB less memory and 0.16 s less CPU time at a start, 19 MB less memory with 1,000 pods,
 *   and 3.7 MB less to ship. To remove them is to delete them.
 * - `onDemand`: without it there is no snapshot, since V8 cannot keep what these parts of Node hold.
 */
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Plugin } from 'esbuild';

/**
 * Of client-node we take nothing but its reading of kubeconfigs. The file that does it also knows how to make a client,
 * with an HTTP library, proxies and a class for every kind: half of the bundle, for a path that we never go.
 */
const kubeconfigOnly: Plugin = {
  name: 'kubeconfig-only',
  setup({ onResolve, resolve }) {
    onResolve({ filter: /^@kubernetes\/client-node$/ }, async ({ pluginData, importer, kind, resolveDir }) => {
      if (pluginData === 'resolved') return undefined;
      const whole = await resolve('@kubernetes/client-node', { importer, kind, resolveDir, pluginData: 'resolved' });
      return { path: join(dirname(whole.path), 'config.js') };
    });
  },
};

/** Who imports what it never gets to use here, and the names that it imports. */
const unused: readonly { readonly importer: string; readonly path: string; readonly names: readonly string[] }[] = [
  {
    importer: 'client-node/dist/config.js',
    path: './gen/index.js',
    names: ['createConfiguration', 'ServerConfiguration'],
  },
  { importer: 'client-node/dist/config.js', path: 'undici', names: ['Agent', 'ProxyAgent'] },
  { importer: 'client-node/dist/config.js', path: 'hpagent', names: ['HttpProxyAgent', 'HttpsProxyAgent'] },
  { importer: 'client-node/dist/config.js', path: 'socks', names: ['SocksClient'] },
  { importer: 'client-node/dist/config.js', path: 'socks-proxy-agent', names: ['SocksProxyAgent'] },
  { importer: 'pino/lib/transport.js', path: 'thread-stream', names: [] }, // our logs are written by this thread
];

const leftOut: Plugin = {
  name: 'left-out',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /.*/ }, ({ path, importer }) => {
      const from = importer.replaceAll('\\', '/');
      const found = unused.find((entry) => entry.path === path && from.endsWith(entry.importer));
      return found && { path, namespace: 'left-out', pluginData: found.names };
    });
    onLoad({ filter: /.*/, namespace: 'left-out' }, ({ path, pluginData }) => ({
      contents: (pluginData as readonly string[])
        .map((name) => `export function ${name}() { throw new Error('${path} is not part of the bundle'); }`)
        .join('\n'),
    }));
  },
};

/**
 * Parts of Node that most runs never touch, each of several milliseconds and a megabyte or two; and those that cannot be
 * kept in a snapshot.
 */
const loadedLater =
  /^(node:)?(child_process|http|http2|https|inspector\/promises|perf_hooks|tls|vm|worker_threads|zlib)$/;

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

export const bundlePlugins: Plugin[] = [kubeconfigOnly, leftOut, onDemand];
