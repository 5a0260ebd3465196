/**
 * Makes one executable of a bundle: Node, and a snapshot of the memory after the bundle is loaded. The same input gives
 * the same bytes. The gain of each step, measured at a start with all controllers on an empty cluster:
 *
 * - The snapshot: `--version` takes 50 ms of CPU time instead of 840 from the sources, and works without a repository.
 * - All functions of the bundle compiled in it: 75 ms less CPU time of 490, for 6 MB more memory.
 * - Compiled code of Node's own modules only for those that a start loads: 8 MB less memory than with that of all, and
 *   15 ms less CPU time of 240 than with none.
 * - The flags below: 90 ms less CPU time of 420, and 8 MB less memory.
 * - Of these, few functions optimized at first, and none by the slower compiler: 30 ms less CPU time, most of it on other
 *   threads. With 5,000 pods in the cluster 110 ms of 540, and 13 MB less memory. One Deployment of 1,000 pods after the
 *   start takes 0.89 s and 122 MB; if all is optimized two seconds after the start, 1.07 s and 127 MB. Rollouts of 100
 *   Deployments after that take the same. Still fewer functions would save 17 ms more at the start, and cost these
 *   rollouts a fifth more.
 * - Node without its symbols and debug information: 34 MB less on disk.
 * - A file written in small pieces: 84 MB of memory after a start instead of 115. Linux keeps a file that was written at
 *   once in large pages, and counts a whole one as soon as a byte of it is used.
 */
import { spawnSync } from 'node:child_process';
import { closeSync, openSync, readFileSync, statSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';

/**
 * V8 trades memory for time freely: its space for new objects grows to 32 MB, and its heap to several times what is in
 * use. Here the trade goes the other way, as far as it is cheap. The space has 8 MB: with 2 MB that grow to 8, a start takes
 * a tenth more CPU time and 2 MB less memory; with 16 MB as much CPU time and 13 MB more memory. One thread clears it, since
 * starting a second takes longer than that. The first collection of old objects would fall into the start, 8 MB below
 * the initial size of their space, and find 1 MB of garbage: at 40 MB instead of 32, a start takes a tenth less CPU time.
 */
export const heapFlags: readonly string[] = [
  '--min-semi-space-size=8',
  '--max-semi-space-size=8',
  '--no-parallel-scavenge',
  '--heap-growing-percent=40',
  '--initial-old-space-size=40',
];

/**
 * V8 reads these when the process starts. The snapshot must be taken with the same flags. `snapshot.ts` says why little is
 * optimized at first; the last flag lets code that was compiled meanwhile be optimized later.
 */
const runtimeFlags: readonly string[] = [
  ...heapFlags,
  '--invocation-count-for-maglev=1000',
  '--no-turbofan',
  '--force-emit-interrupt-budget-checks',
];

/** Turns `program.cjs` in `directory` into the executable `out`. Leaves its intermediate files in the directory. */
export function writeExecutable(directory: string, out: string): void {
  takeSnapshot(directory);
  trimCodeCache(join(directory, 'program.snapshot'));
  writeStrippedNode(join(directory, 'node'));
  // Node can take a snapshot itself, but would add the compiled code of its own parts. So it gets our snapshot as if it
  // were a script, and a flag in the result, which tells the two apart, is set afterwards.
  const configuration = {
    main: 'program.snapshot',
    output: 'program',
    executable: 'node',
    disableExperimentalSEAWarning: true,
    execArgv: runtimeFlags,
    execArgvExtension: 'none', // NODE_OPTIONS of the user's environment is not meant for this program
  };
  writeFileSync(join(directory, 'sea.json'), JSON.stringify(configuration));
  runNode(directory, ['--build-sea', 'sea.json']);
  const program = readFileSync(join(directory, 'program'));
  markAsSnapshot(program, configuration.main);
  writeInPieces(out, program);
}

function runNode(directory: string, args: readonly string[]): void {
  const { status } = spawnSync(process.execPath, args, {
    cwd: directory, // paths on the command line become part of the snapshot, so they must be the same everywhere
    argv0: 'node',
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { NODE_NO_WARNINGS: '1' }, // no warning about snapshots: process-bundle.test.ts tests ours
  });
  if (status !== 0) throw new Error(`node ${args.join(' ')} has failed`);
}

/**
 * Runs the bundle until it is loaded, and takes the snapshot. V8 usually compiles a function at its first call; here it
 * compiles all functions, so that no start has to. Clocks and the process id are fixed meanwhile: values that packages
 * keep would differ from build to build, and be wrong at every start. Freed memory is cleared: what compiled functions
 * keep has gaps, in which its old contents would be.
 */
function takeSnapshot(directory: string): void {
  writeFileSync(
    join(directory, 'builder.cjs'),
    `const { openSync, readSync } = require('node:fs');
const { setFlagsFromString } = require('node:v8');
const { Script } = require('node:vm');
const { now } = Date;
const { bigint } = process.hrtime;
Date.now = () => 0;
process.hrtime.bigint = () => 0n;
for (const name of ['pid', 'execPath']) Object.defineProperty(process, name, { value: '', configurable: true });
process.argv = [];
for (const flag of ['--no-lazy', '--no-flush-bytecode', '--clear-free-memory']) setFlagsFromString(flag);
const filename = 'kube-controller-manager.cjs';
const source = Buffer.alloc(${statSync(join(directory, 'program.cjs')).size});
readSync(openSync('program.cjs'), source); // not readFileSync, which leaves the times of the file in memory
new Script(\`(function (require) { \${source.latin1Slice()}\\n})\`, { filename }).runInThisContext()(require);
for (const flag of ['--lazy', '--flush-bytecode', '--no-clear-free-memory']) setFlagsFromString(flag);
Date.now = now;
process.hrtime.bigint = bigint;
`,
  );
  writeFileSync(join(directory, 'snapshot.json'), JSON.stringify({ builder: 'builder.cjs' }));
  const seed = '--random-seed=1'; // of hashes: V8 chooses new seeds at every start
  runNode(directory, [
    ...runtimeFlags,
    seed,
    '--snapshot-blob=program.snapshot',
    '--build-snapshot-config=snapshot.json',
  ]);
}

/** Node's own modules that a start loads, because a snapshot cannot hold them. */
const loadedAtStart =
  /^(_http_\w+|https?|http2|tls|inspector(\/promises)?|internal\/(freelist|http|inspector|js_stream|tls).*)$/;

/**
 * Removes the compiled code of Node's own modules from a snapshot, except those that a start loads. Node can leave all of
 * it out, but then leaves out the compiled code of the bundle too. It is a list at the end of the file: the number of
 * entries, then of each entry the name and the code, both with their length in front of them.
 */
function trimCodeCache(path: string): void {
  const snapshot = readFileSync(path);
  let start = 0;
  let entries: CodeCacheEntry[] | undefined;
  while ((entries = readCodeCache(snapshot, start)) === undefined) {
    if (++start === snapshot.length)
      throw new Error(`Node ${process.version} has a snapshot layout that this script does not know`);
  }
  const kept = entries.filter(({ name }) => loadedAtStart.test(name));
  const count = Buffer.alloc(lengthSize);
  count.writeBigUInt64LE(BigInt(kept.length));
  writeFileSync(path, Buffer.concat([snapshot.subarray(0, start), count, ...kept.map(({ bytes }) => bytes)]));
}

const lengthSize = 8;
const longestName = 200;

interface CodeCacheEntry {
  readonly name: string;
  /** The whole entry. */
  readonly bytes: Buffer;
}

/** The list of named entries that starts here and ends where the file ends. Undefined if there is none. */
function readCodeCache(snapshot: Buffer, start: number): CodeCacheEntry[] | undefined {
  let at = start;
  const readLength = (): number => {
    at += lengthSize;
    return at <= snapshot.length ? Number(snapshot.readBigUInt64LE(at - lengthSize)) : Infinity;
  };
  const count = readLength();
  if (count === 0 || count > snapshot.length) return undefined;
  const entries: CodeCacheEntry[] = [];
  for (let entry = 0; entry < count; entry++) {
    const entryStart = at;
    const nameLength = readLength();
    if (nameLength === 0 || nameLength > longestName) return undefined;
    const name = snapshot.toString('latin1', at, at + nameLength);
    at += nameLength;
    const codeLength = readLength();
    at += codeLength;
    if (at > snapshot.length) return undefined;
    entries.push({ name, bytes: snapshot.subarray(entryStart, at) });
  }
  return at === snapshot.length ? entries : undefined;
}

/** Removes everything after the parts of the file that are loaded into memory: sections are for debuggers only. */
function writeStrippedNode(out: string): void {
  const elf = readFileSync(process.execPath);
  if (elf.toString('latin1', 0, 5) !== '\x7fELF\x02')
    throw new Error(`${process.execPath} is no 64-bit ELF executable`);
  const headersAt = Number(elf.readBigUInt64LE(32));
  const headerSize = elf.readUInt16LE(54);
  const ends = Array.from({ length: elf.readUInt16LE(56) }, (_, index) => {
    const at = headersAt + index * headerSize;
    return Number(elf.readBigUInt64LE(at + 8) + elf.readBigUInt64LE(at + 32)); // where in the file, and how long
  });
  elf.writeBigUInt64LE(0n, 40); // where the table of sections is
  elf.writeUInt32LE(0, 60); // how many sections there are, and which has their names
  writeFileSync(out, elf.subarray(0, Math.max(...ends)), { mode: 0o755 });
}

const magic = Buffer.from([0x20, 0xda, 0x43, 0x01]);
const usesSnapshot = 2;

/**
 * The data that Node puts into an executable starts with: magic, flags (32 bits), two bytes, then the name of `main`.
 */
function markAsSnapshot(program: Buffer, main: string): void {
  for (let at = program.indexOf(magic); at !== -1; at = program.indexOf(magic, at + 1)) {
    const length = program.readBigUInt64LE(at + 10);
    if (length !== BigInt(main.length) || program.toString('latin1', at + 18, at + 18 + main.length) !== main) continue;
    program.writeUInt32LE(program.readUInt32LE(at + 4) | usesSnapshot, at + 4);
    return;
  }
  throw new Error(`Node ${process.version} has an executable layout that this script does not know`);
}

function writeInPieces(path: string, content: Buffer): void {
  const pieceSize = 64 * 1024;
  const file = openSync(path, 'w', 0o755);
  try {
    for (let at = 0; at < content.length; at += pieceSize)
      writeSync(file, content, at, Math.min(pieceSize, content.length - at));
  } finally {
    closeSync(file);
  }
}
