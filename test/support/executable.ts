import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const root = join(import.meta.dirname, '../..');

/** Builds as `npm run build` does, into a new directory. */
export async function build(out: string): Promise<void> {
  await promisify(execFile)(process.execPath, ['scripts/build.ts', '--out', out], { cwd: root });
}

/** Makes the image from the output of `build` in a directory, as `npm run image` does. */
export async function buildImage(from: string): Promise<void> {
  await promisify(execFile)(process.execPath, ['scripts/image.ts', '--from', from], { cwd: root });
}

/**
 * The directory with the executable of this run, which the first suite that needs it builds. All suites of the run
 * share `directory`, which is removed after the run.
 */
export async function sharedBuild(directory: string): Promise<string> {
  const out = join(directory, 'dist');
  if (existsSync(out)) return out;
  const work = mkdtempSync(join(dirname(out), 'build-'));
  await build(work);
  // Suites may run in parallel: the first build wins, and the other one is the same anyway.
  if (!existsSync(out)) renameSync(work, out);
  return out;
}
