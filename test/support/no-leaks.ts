import { ChildProcess } from 'node:child_process';
import { Server, Socket } from 'node:net';
import type { Worker } from 'node:worker_threads';

import { afterAll } from 'vitest';

/**
 * For every test file: after its last hook no timer, socket, server, child process or worker is left that was not there
 * before it. Sockets take a moment to close, so the check waits for them before it fails.
 */
void [process.stdin, process.stdout, process.stderr]; // made when first asked for, and there from then on
const before = activeResources();
const patienceMs = 10_000;
/** Not among the active resources. */
const workers = new Set<Worker>();
process.on('worker', (worker) => {
  workers.add(worker);
  worker.once('exit', () => workers.delete(worker));
});

afterAll(async () => {
  const startMs = performance.now();
  let left = leftOver();
  while (left.length > 0 && performance.now() - startMs < patienceMs) {
    await new Promise<void>((resolve) => {
      setTimeout(resolve, 20);
    });
    left = leftOver();
  }
  if (left.length > 0) throw new Error(`left behind by the tests of this file:\n${left.join('\n')}`);
}, 2 * patienceMs);

/** How many there are of each kind of resource that keeps the process alive. */
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

/** The handles there are, those of the test runner included, with what helps to find out whose they are. */
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
