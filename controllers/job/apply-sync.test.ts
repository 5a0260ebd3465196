import { describe, expect, test } from 'vitest';

import { Jobs, keyOf, Pods, type Job, type JobSpec, type Pod } from '../../pkg/api/index.ts';
import { PendingWrites } from '../../pkg/controller/index.ts';
import { createMetricsRegistry } from '../../pkg/metrics/index.ts';
import { job } from '../../test/support/builders.ts';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { trackingFinalizer } from '../../test/support/job-pods.ts';
import { RecordingClient } from '../../test/support/recording-client.ts';
import { recallStreak } from './backoff.ts';
import { isFinished } from './job-spec.ts';
import { createJobMetrics } from './metrics.ts';
import { syncJob } from './apply-sync.ts';

const signal = new AbortController().signal;

/** A Job on a server, a kubelet that runs its pods, and a controller that may crash and restart. */
class World {
  readonly server = new RecordingClient();
  readonly clock = new FakeClock();
  readonly events: string[] = [];
  /** `undefined`: runs until it is deleted. */
  readonly #exitCodes: readonly (number | undefined)[];
  readonly #turns = new Map<string, number>();
  readonly #ends = new Map<string, 'Succeeded' | 'Failed'>();

  constructor(spec: Partial<JobSpec>, exitCodes: readonly (number | undefined)[]) {
    this.server.seed(Jobs, job({ spec, metadata: { resourceVersion: undefined as unknown as string } }));
    this.#exitCodes = exitCodes;
  }

  get job() {
    const [only] = this.server.stored(Jobs);
    if (only === undefined) throw new Error('the Job is gone');
    return only;
  }

  /** How many pods succeeded and failed, including pods that are gone. */
  get ends() {
    const count = (phase: string): number => [...this.#ends.values()].filter((end) => end === phase).length;
    return { succeeded: count('Succeeded'), failed: count('Failed') };
  }

  /** Ends each pod with its exit code, deletes every second pod at once, and stops terminating pods. */
  async runPods(): Promise<void> {
    for (const pod of this.server.stored(Pods)) {
      const { uid, deletionTimestamp } = pod.metadata;
      if (!this.#turns.has(uid)) this.#turns.set(uid, this.#turns.size);
      const turn = this.#turns.get(uid) ?? 0;
      const exitCode = turn < this.#exitCodes.length ? this.#exitCodes[turn] : 0;
      if (exitCode === undefined && deletionTimestamp !== undefined) await this.#end(pod, 'Failed');
      if (exitCode === undefined || this.#ends.has(uid)) continue;
      const phase = exitCode === 0 ? 'Succeeded' : 'Failed';
      this.#ends.set(uid, phase);
      await this.#end(pod, phase);
      if (turn % 2 === 1) await this.server.delete(Pods, keyOf(pod), {}, signal);
    }
  }

  async #end(pod: Pod, phase: 'Succeeded' | 'Failed'): Promise<void> {
    const patch = { type: 'merge', body: { status: { phase } }, subresource: 'status' } as const;
    await this.server.patch(Pods, keyOf(pod), patch, signal);
  }

  /** One sync by a process that crashes at the given write, before or after the write takes effect. */
  async sync(crash?: { readonly atWrite: number; readonly when: 'before' | 'after' }): Promise<void> {
    const client = new RecordingClient({ sharing: this.server });
    if (crash !== undefined) {
      const die = (): void => {
        const dead =
          client.writes.length > crash.atWrite || (client.writes.length === crash.atWrite && crash.when !== 'after');
        if (dead) throw new Error('killed');
      };
      client.before('*', die);
      client.after('*', () => {
        if (client.writes.length >= crash.atWrite) throw new Error('killed');
      });
    }
    const cache = { get: () => undefined, hasSeen: () => true };
    const current = this.job;
    const pods: readonly Pod[] = this.server.stored(Pods);
    const recorder = {
      event: (_kind: unknown, _about: unknown, { reason }: { reason: string }) => void this.events.push(reason),
    };
    await syncJob(
      { job: current, pods, streak: recallStreak(current, pods), nowMs: this.clock.now() },
      {
        control: { client, recorder, ownerKind: Jobs },
        pendingPods: new PendingWrites<Pod>({ kind: Pods, store: cache }, this.clock),
        pendingJobs: new PendingWrites<Job>({ kind: Jobs, store: cache }, this.clock),
        metrics: createJobMetrics(createMetricsRegistry()),
        clock: this.clock,
        clearsStartTime: true,
        streaks: { set: () => {} },
      },
      signal,
    );
  }

  /** Syncs until the Job has finished, with one crash at the given write of the given sync. Returns the number of syncs. */
  async finish(crash?: {
    readonly inSync: number;
    readonly atWrite: number;
    readonly when: 'before' | 'after';
  }): Promise<number> {
    for (let round = 1; round <= 20; round++) {
      const dies = crash?.inSync === round;
      try {
        await this.sync(dies ? crash : undefined);
      } catch (error) {
        if (!dies) throw error;
      }
      if (isFinished(this.job)) return round;
      await this.runPods();
      await this.clock.advance(3_600_000); // beyond every back-off
    }
    throw new Error(`not finished: ${JSON.stringify(this.job.status)}`);
  }
}

const shapes: {
  name: string;
  spec: Partial<JobSpec>;
  exitCodes: (number | undefined)[];
  ends: { succeeded: number; failed: number };
}[] = [
  {
    name: 'plain',
    spec: { completions: 4, parallelism: 3 },
    exitCodes: [0, 1, 1, 0, 0, 0],
    ends: { succeeded: 4, failed: 2 },
  },
  {
    name: 'failing',
    spec: { completions: 3, parallelism: 3, backoffLimit: 2 },
    exitCodes: [1, 1, 1, 1, 1, 1],
    ends: { succeeded: 0, failed: 3 },
  },
  {
    name: 'indexed',
    spec: { completionMode: 'Indexed', completions: 4, parallelism: 2 },
    exitCodes: [0, 1, 0, 0, 0],
    ends: { succeeded: 4, failed: 1 },
  },
  {
    name: 'indexed with limits per index',
    spec: { completionMode: 'Indexed', completions: 2, parallelism: 2, backoffLimitPerIndex: 1, backoffLimit: 99 },
    exitCodes: [0, 1, 1],
    ends: { succeeded: 1, failed: 2 },
  },
  {
    name: 'indexed that succeeds early',
    spec: {
      completionMode: 'Indexed',
      completions: 3,
      parallelism: 3,
      successPolicy: { rules: [{ succeededIndexes: '0' }] },
    },
    exitCodes: [0, undefined, undefined, undefined, undefined],
    ends: { succeeded: 1, failed: 0 },
  },
];

/** Whether the status matches the ended pods. */
function expectAllCounted(world: World): void {
  const { succeeded = 0, failed = 0, uncountedTerminatedPods } = world.job.status ?? {};
  expect({ succeeded, failed }).toEqual(world.ends);
  expect(uncountedTerminatedPods).toEqual({ succeeded: [], failed: [] });
  const kept = world.server.stored(Pods).filter(({ metadata }) => metadata.finalizers?.includes(trackingFinalizer));
  expect(kept).toEqual([]);
}

for (const { name, spec, exitCodes, ends } of shapes) {
  describe(`a Job (${name})`, () => {
    test('finishes with every pod counted once', async () => {
      const world = new World(spec, exitCodes);
      await world.finish();
      expectAllCounted(world);
      expect(world.ends).toEqual(ends);
    });

    test('counts every pod once, whichever write the controller crashes at', async () => {
      const syncs = await new World(spec, exitCodes).finish();
      let crashes = 0;
      for (let inSync = 1; inSync <= syncs; inSync++) {
        for (let atWrite = 1; atWrite <= 10; atWrite++) {
          for (const when of ['before', 'after'] as const) {
            const world = new World(spec, exitCodes);
            await world.finish({ inSync, atWrite, when });
            expectAllCounted(world);
            expect(world.ends.succeeded).toBe(ends.succeeded); // a lost success would have been replaced
            crashes++;
          }
        }
      }
      expect(crashes).toBe(20 * syncs);
    });
  });
}
