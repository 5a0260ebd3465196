import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import type { ClusterAccess } from '../cluster/index.ts';
import { eventually } from './eventually.ts';
import { startManager, type Manager } from './manager.ts';

/** The memory and handles of a process after a garbage collection. */
export interface SizeReport {
  readonly heapBytes: number;
  /** Handles that keep the process alive, by kind. */
  readonly resources: Readonly<Record<string, number>>;
  /** Every Map and Set. */
  readonly collections: readonly {
    readonly size: number;
    /** A few of the keys, which show the contents. */
    readonly sample: readonly string[];
    /** All keys that contain the marker. */
    readonly marked: readonly string[];
  }[];
}

export interface MeasuredManager {
  readonly manager: Manager;
  measure(signal: AbortSignal): Promise<SizeReport>;
}

const preload = new URL('size-probe.ts', import.meta.url).pathname;

/** A manager that can be asked for its sizes. Keys that contain `marker` are reported. */
export async function startMeasuredManager(
  cluster: ClusterAccess,
  flags: readonly string[],
  marker: string,
): Promise<MeasuredManager> {
  const file = join(cluster.directory, 'sizes.json');
  const manager = await startManager(cluster, flags, {
    env: { NODE_OPTIONS: `--expose-gc --import ${preload}`, SIZE_REPORT: file, SIZE_MARKER: marker },
  });
  return {
    manager,
    async measure(signal) {
      rmSync(file, { force: true });
      manager.signal('SIGUSR2');
      await eventually(async () => existsSync(file), signal);
      return JSON.parse(readFileSync(file, 'utf8')) as SizeReport;
    },
  };
}

/** The event correlator keeps the last 4096 events of a component, as Go's does. Only its keys have NULs or spaces. */
const ofCorrelator = /[\0 ]/;
/** Bounded caches are keyed by uid: the models of shared memory, and owners known to be absent. */
const ofUid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/;

/** The remaining marked keys, one line for each collection. */
export function markedIn({ collections }: SizeReport): string[] {
  return collections.flatMap(({ marked, size }) => {
    const names = marked.filter((key) => !ofCorrelator.test(key));
    return names.length === 0 ? [] : [`${String(names.length)} of ${String(size)}: ${names.slice(0, 3).join(' ')}`];
  });
}

/** All entries, except those of bounded caches. */
export function entriesIn({ collections }: SizeReport): number {
  const counted = collections.filter(({ sample }) => !sample.some((key) => ofCorrelator.test(key) || ofUid.test(key)));
  return counted.reduce((sum, { size }) => sum + size, 0);
}
