import { createHash } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import * as z from 'zod';

import { eventually } from '../support/eventually.ts';
import { build, buildImage, sharedBuild } from '../support/executable.ts';
import { useCluster } from './use-cluster.ts';

const cluster = useCluster();
const directory = mkdtempSync(join(tmpdir(), 'image-'));
const built = join(directory, 'built');
const root = join(built, 'image/root');
const layout = join(directory, 'layout');

beforeAll(async () => {
  cpSync(await sharedBuild(inject('sharedClusterDirectory')), built, { recursive: true });
  await buildImage(built);
  mkdirSync(layout);
  execFileSync('tar', ['-xf', join(built, 'image/kube-controller-manager.tar'), '-C', layout]);
});
afterAll(() => rmSync(directory, { recursive: true }));

const sha256 = (content: Buffer): string => `sha256:${createHash('sha256').update(content).digest('hex')}`;
const readBlob = (digest: string): Buffer => readFileSync(join(layout, 'blobs', digest.replace(':', '/')));
const descriptor = z.object({ digest: z.string(), size: z.number() });
const index = z.object({ manifests: z.tuple([descriptor]) });
const manifest = z.object({ config: descriptor, layers: z.tuple([descriptor]) });
const config = z.object({
  config: z.object({ User: z.string(), Entrypoint: z.array(z.string()) }),
  rootfs: z.object({ diff_ids: z.tuple([z.string()]) }),
});

describe('the image', () => {
  test('has the same program after another build', async () => {
    const again = join(directory, 'again');
    await build(again);
    const [expected, found] = [join(root, 'usr/local/bin'), again].map((path) =>
      sha256(readFileSync(join(path, 'kube-controller-manager'))),
    );
    expect(found).toBe(expected);
  });

  test('is an OCI image, in which every part has the digest and size of its descriptor', () => {
    const top = index.parse(JSON.parse(readFileSync(join(layout, 'index.json'), 'utf8'))).manifests[0];
    const parts = manifest.parse(JSON.parse(readBlob(top.digest).toString()));
    for (const { digest, size } of [top, parts.config, ...parts.layers]) {
      expect({ digest: sha256(readBlob(digest)), size: readBlob(digest).length }).toEqual({ digest, size });
    }
    const { config: run, rootfs } = config.parse(JSON.parse(readBlob(parts.config.digest).toString()));
    expect(run).toMatchObject({ User: '65532:65532', Entrypoint: ['/usr/local/bin/kube-controller-manager'] });
    const layer = execFileSync('gzip', ['-dc'], { input: readBlob(parts.layers[0].digest), maxBuffer: 1e9 });
    expect(rootfs.diff_ids).toEqual([sha256(layer)]);
    const listed = execFileSync('tar', ['-t'], { input: layer, encoding: 'utf8' }).trim().split('\n');
    const present = execFileSync('find', ['.', '-mindepth', '1'], { cwd: root, encoding: 'utf8' }).trim().split('\n');
    expect(listed.map((path) => path.replace(/\/$/, '')).sort()).toEqual(present.map((path) => path.slice(2)).sort());
  });

  test('has the licences of all its components', () => {
    const { components } = z
      .object({ components: z.array(z.object({ name: z.string(), version: z.string() })) })
      .parse(JSON.parse(readFileSync(join(root, 'sbom.cdx.json'), 'utf8')));
    const licences = readFileSync(join(root, 'licenses/licenses.txt'), 'utf8');
    const names = components.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['js-yaml', 'node', 'pino', 'zod']));
    for (const { name, version } of components) expect(licences).toContain(`\n${name} ${version}\n`);
  });
});

/**
 * Enters the root as a container does: mounts of its own, the root read-only, the user of the image. What it lacks must
 * be missing there, too. Root may do so; others get a user namespace, in which they are root and remain themselves.
 */
const isRoot = process.getuid?.() === 0;
const enter = `mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" &&
  exec chroot ${isRoot ? '--userspec=65532:65532 --groups=' : ''} "$0" /usr/local/bin/kube-controller-manager "$@"`;

test('the manager runs from the root of the image, read-only and unprivileged', async ({ signal }) => {
  const kubeconfig = 'etc/controller-manager.conf';
  copyFileSync(cluster().kubeconfig(), join(root, kubeconfig));
  chmodSync(join(root, kubeconfig), 0o644);
  for (const path of [directory, built, join(built, 'image'), root]) chmodSync(path, 0o755);
  const namespaces = isRoot ? ['--mount'] : ['--user', '--map-root-user', '--mount'];
  const manager = await cluster().startProcess({
    name: 'from-image',
    program: 'unshare',
    args: [...namespaces, 'sh', '-c', enter, root, `--kubeconfig=/${kubeconfig}`, '--secure-port=0'],
  });
  await eventually(async () => {
    if (!manager.isRunning) throw new Error(`it needs root or user namespaces to run:\n${manager.readLog()}`);
    return manager.readLog().includes('leading, and all caches are synced');
  }, signal);
  const process = `/proc/${String(manager.pid)}`;
  expect(readlinkSync(`${process}/root`)).toBe(root);
  expect(readFileSync(`${process}/mountinfo`, 'utf8')).toMatch(new RegExp(`^.* / ro[, ].*$`, 'm'));
  const uid = Number(/^Uid:\s+(\d+)/m.exec(readFileSync(`${process}/status`, 'utf8'))?.[1]);
  expect(uid).toBe(isRoot ? 65532 : statSync(directory).uid);
  await manager.stop();
});
