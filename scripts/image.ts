/**
 * Makes an image from the output of `npm run build` in `dist`, or the directory given by `--from`, without a container
 * engine: `image/root`, the root file system, and `image/kube-controller-manager.tar`, the same as an OCI image for
 * docker load, podman load and ctr images import. The same input gives the same bytes.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';

import packageJson from '../package.json' with { type: 'json' };
import { formatTar, type TarEntry } from './tar.ts';

const program = 'usr/local/bin/kube-controller-manager';
const user = '65532:65532';

/** The contents of the image. There is no shell; public CA certificates and time zones are inside Node. */
function collectFiles(from: string): TarEntry[] {
  const executable = join(from, 'kube-controller-manager');
  const file = (path: string, content: string | Buffer, mode = 0o644): TarEntry => ({
    path,
    mode,
    content: Buffer.from(content),
  });
  const libraries = listLibraries(executable).map((path) => file(path.slice(1), readFileSync(path), 0o755));
  const copyrights = [...new Set(libraries.flatMap(({ path }) => debianPackageOf(`/${path}`) ?? []))].map((name) =>
    file(`usr/share/doc/${name}/copyright`, readFileSync(`/usr/share/doc/${name}/copyright`)),
  );
  return [
    { path: 'tmp', mode: 0o1777 },
    file('etc/group', 'nonroot:x:65532:\n'),
    file('etc/passwd', 'nonroot:x:65532:65532::/:/sbin/nologin\n'),
    file('licenses/licenses.txt', readFileSync(join(from, 'licenses.txt'))),
    file('sbom.cdx.json', readFileSync(join(from, 'sbom.cdx.json'))),
    file(program, readFileSync(executable), 0o755),
    ...libraries,
    ...copyrights,
  ];
}

/** The shared libraries that the executable links, and the loader, by the names under which it links them. */
function listLibraries(executable: string): string[] {
  const printed = execFileSync('ldd', [executable], { encoding: 'utf8' });
  return [...printed.matchAll(/^\t(?:\S+ => )?(\/\S+) \(/gm)].flatMap(([, path]) => path ?? []);
}

/** The package whose licence covers a library. Other distributions keep licences elsewhere: there, nothing is added. */
function debianPackageOf(library: string): string | undefined {
  for (const path of [library, library.replace(/^\/lib/, '/usr/lib')]) {
    try {
      return execFileSync('dpkg', ['-S', path], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).split(
        ':',
      )[0];
    } catch {
      // The package may list the library under another path, or there is no dpkg.
    }
  }
  return undefined;
}

/** Adds the parent directories of the files, and sorts. */
function withDirectories(files: readonly TarEntry[]): TarEntry[] {
  const entries = new Map(files.map((entry) => [entry.path, entry]));
  for (const { path } of files) {
    for (let parent = dirname(path); parent !== '.'; parent = dirname(parent)) {
      if (!entries.has(parent)) entries.set(parent, { path: parent, mode: 0o755 });
    }
  }
  return [...entries.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
}

function writeRoot(directory: string, entries: readonly TarEntry[]): void {
  for (const { path, mode, content } of entries) {
    const target = join(directory, path);
    if (content === undefined) mkdirSync(target, { recursive: true });
    else writeFileSync(target, content, { mode });
  }
  for (const { path, mode } of entries) execFileSync('chmod', [mode.toString(8), join(directory, path)]); // umask or not
}

const sha256 = (content: Buffer): string => createHash('sha256').update(content).digest('hex');

/** An OCI image layout: https://github.com/opencontainers/image-spec, image-layout.md. */
function formatImage(entries: readonly TarEntry[]): TarEntry[] {
  const blobs: TarEntry[] = [];
  const addBlob = (mediaType: string, content: Buffer): Readonly<Record<string, unknown>> => {
    const digest = sha256(content);
    blobs.push({ path: `blobs/sha256/${digest}`, mode: 0o644, content });
    return { mediaType, digest: `sha256:${digest}`, size: content.length };
  };
  const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
  const layer = formatTar(entries);
  const layerBlob = addBlob('application/vnd.oci.image.layer.v1.tar+gzip', gzipSync(layer));
  const architecture = process.arch === 'x64' ? 'amd64' : process.arch;
  const config = {
    created: '1970-01-01T00:00:00Z',
    architecture,
    os: 'linux',
    config: { User: user, Env: ['PATH=/usr/local/bin'], Entrypoint: [`/${program}`], WorkingDir: '/' },
    rootfs: { type: 'layers', diff_ids: [`sha256:${sha256(layer)}`] },
  };
  const manifest = {
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.manifest.v1+json',
    config: addBlob('application/vnd.oci.image.config.v1+json', json(config)),
    layers: [layerBlob],
  };
  const { name, version } = packageJson;
  const index = {
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.index.v1+json',
    manifests: [
      {
        ...addBlob(manifest.mediaType, json(manifest)),
        platform: { architecture, os: 'linux' },
        annotations: {
          'io.containerd.image.name': `docker.io/library/${name}:${version}`,
          'org.opencontainers.image.ref.name': version,
        },
      },
    ],
  };
  const file = (path: string, value: unknown): TarEntry => ({ path, mode: 0o644, content: json(value) });
  return [file('oci-layout', { imageLayoutVersion: '1.0.0' }), file('index.json', index), ...blobs];
}

const { values } = parseArgs({ options: { from: { type: 'string', default: join(import.meta.dirname, '../dist') } } });
const from = resolve(values.from);
const out = join(from, 'image');
const entries = withDirectories(collectFiles(from));
rmSync(out, { recursive: true, force: true });
mkdirSync(out);
writeRoot(join(out, 'root'), entries);
const image = formatTar(withDirectories(formatImage(entries)));
const tar = join(out, 'kube-controller-manager.tar');
writeFileSync(tar, image);
console.log(`${tar} (${(image.length / 1e6).toFixed(1)} MB, sha256:${sha256(image)})`);
