import { ChildProcess } from 'node:child_process';
import { Server, Socket } from 'node:net';
import type { Worker } from 'node:worker_threads';

import { afterAll } from 'vitest';

/**
 * For every test file: after its last hook, no timer, socket, server, child process or worker is left that did not
 * exist before. Sockets take a moment to close, so the check waits for them before it fails.
 */
void [process.stdin, process.stdout, process.stderr]; // created at first use, and kept
const before = activeResources();
const patienceMs = 10_000;
/** Not among the active resources. */
const workers = new Set<Worker>();
const followWorker = (worker: Worker): void => {
  workers.add(worker);
  worker.once('exit', () => workers.delete(worker));
};
process.on('worker', followWorker);

afterAll(async () => {
  const startMs = performance.now();
  let left = leftOver();
  while (left.length > 0 && performance.now() - startMs < patienceMs) {
    await new Promise<void>((resolve) => {
      setTimeout(resolve, 20);
    });
    left = leftOver();
  }
  process.off('worker', followWorker); // the next file of this process has its own hook
  if (left.length > 0) throw new Error(`left behind by the tests of this file:\n${left.join('\n')}`);
}, 2 * patienceMs);

/** The number of resources of each kind that keep the process alive. */
function activeResources(): Map<string, number> {
  const counts = new Map<string, number>();
  for (const kind of process.getActiveResourcesInfo()) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return counts;
}

function leftOver(): string[] {
  const surplus = [...activeResources()].flatMap(([kind, count]) => {
    const more = count - (before.get(kind) ?? 0);
    return more > 0 ? [`${String(more)} × ${kind}`] : [];
  });
  if (workers.size > 0) surplus.push(`${String(workers.size)} × Worker`);
  return surplus.length === 0 ? [] : [...surplus, ...describeHandles()];
}

/** The current handles, including those of the test runner, with details that show where they come from. */
function describeHandles(): string[] {
  const { _getActiveHandles: getHandles } = process as { _getActiveHandles?: () => readonly object[] };
  return (getHandles?.() ?? []).map((handle) => `  there is a ${handle.constructor.name}${detailOf(handle)}`);
}

function detailOf(handle: object): string {
  if (handle instanceof ChildProcess) return `: ${handle.spawnargs.join(' ')}`;
  if (handle instanceof Server) return ` at ${JSON.stringify(handle.address())}`;
  if (handle instanceof Socket) return ` to ${handle.remoteAddress ?? 'nobody'}:${String(handle.remotePort ?? 0)}`;
  return '';
}
