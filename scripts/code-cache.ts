/**
 * Compiled code that ships with the bundle. V8 compiles a function when it is first called, and a controller manager
 * calls thousands of them before it leads; kept from an earlier run, they cost next to nothing. So the bundle runs once
 * when it is built: it plays the scene of `npm start` on a sandbox, and what V8 has compiled by then is kept.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { startSandboxCluster } from '../cmd/sandbox/cluster.ts';
import { createOutput } from '../cmd/sandbox/output.ts';
import { playScene } from '../cmd/sandbox/scene.ts';
import { createLogger } from '../pkg/log/index.ts';
import { systemClock } from '../pkg/time/index.ts';

/**
 * V8 trades memory for time freely: its space for new objects grows to 32 MB, and its heap to several times what is in
 * use. Here the trade goes the other way, as far as it is cheap: the space grows once, from 1 MB to 2 MB, which halves
 * the work of clearing it, and one thread clears it, since starting a second takes longer than that. V8 takes the size
 * from the command line alone; but it doubles the space whenever much of it has survived, so something is made to.
 */
const heapSetting = `for (const flag of ['--heap-growing-percent=40', '--no-parallel-scavenge']) setFlagsFromString(flag);
const newSpace = () => getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space');
const roomIn = ({ space_used_size, space_available_size }) => space_used_size + space_available_size;
for (const survivors = []; roomIn(newSpace()) < 2e6; ) survivors.push(Array.from({ length: 500 }, () => [0]));
setFlagsFromString('--semi-space-growth-factor=1');`;

/** Starts `program.cjs` with the code in `program.cache`, if that was made by the same Node, else without. */
export const launcherSource = sourceOf('');
/** Writes `program.cache` at the end. */
const rehearsalSource = sourceOf(`
import { writeFileSync } from 'node:fs';
process.on('exit', () => writeFileSync(cacheFile, script.createCachedData()));`);

function sourceOf(afterLoading: string): string {
  return `#!/usr/local/bin/node
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { Script } from 'node:vm';
${heapSetting}
const filename = join(import.meta.dirname, 'program.cjs');
const cacheFile = join(import.meta.dirname, 'program.cache');
const cachedData = existsSync(cacheFile) ? readFileSync(cacheFile) : undefined;
const script = new Script(\`(function (require) { \${readFileSync(filename, 'latin1')}\\n})\`, { filename, cachedData });${afterLoading}
script.runInThisContext()(createRequire(filename));
`;
}

/** Runs the bundle in `directory`, and leaves its compiled code there. */
export async function writeCodeCache(directory: string): Promise<void> {
  const rehearsal = join(directory, 'rehearsal.mjs');
  writeFileSync(rehearsal, rehearsalSource);
  const nowhere = { write: () => {}, flush: () => {} };
  const logger = createLogger({ format: 'text', verbosity: () => 0, destination: nowhere, clock: systemClock });
  await using cluster = await startSandboxCluster({ controllers: false, logger });
  const { client, sandbox } = cluster;
  const args = [`--kubeconfig=${sandbox.kubeconfigFile}`, '--use-service-account-credentials', '--secure-port=0'];
  const program = spawn(process.execPath, [rehearsal, ...args], { stdio: ['ignore', 'ignore', 'pipe'] });
  const log: Buffer[] = [];
  program.stderr.on('data', (text: Buffer) => log.push(text));
  const ended = once(program, 'exit');
  try {
    const failed = ended.then(() => Promise.reject(new Error(`the rehearsal has ended:\n${log.join('')}`)));
    const scene = { client, output: createOutput(() => {}, false), clock: systemClock };
    await Promise.race([playScene(scene, AbortSignal.timeout(60_000)), failed]);
  } finally {
    program.kill('SIGTERM');
    await ended;
    rmSync(rehearsal);
  }
}
