import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { CoreEvents, keyOf, Namespaces } from '../../../pkg/api/index.ts';
import type { Client } from '../../../pkg/client/index.ts';
import type { HollowNodes } from '../../../pkg/hollow/index.ts';
import type { ClusterAccess } from '../../cluster/index.ts';
import { createDefaultAccount } from './default-account.ts';
import { compareEndStates, findStorms, readEndState, type Activity, type EndState } from './end-state.ts';
import { commonWrites, describeFault, isForEverybody, isKill, type PlannedFault, type WritePattern } from './faults.ts';
import type { Course, FaultProxy } from './proxy.ts';
import { RestartingManager } from './restarting-manager.ts';
import type { FaultScenario } from './scenario.ts';

export interface Ground {
  readonly cluster: ClusterAccess;
  readonly proxy: FaultProxy;
  /** The client of the users. */
  readonly client: Client;
  readonly hollow: HollowNodes;
  /** The built manager. */
  readonly program: string;
}

export interface Report {
  readonly writes: readonly WritePattern[];
  /** The number of faults that were injected. */
  readonly tried: number;
  /** Faults whose write did not occur: a trial may have one status write less than the recording. */
  readonly missed: readonly string[];
  /** The problems at the end, by fault. */
  readonly failures: readonly string[];
}

interface Trial {
  readonly course: Course;
  /** The problems so far; undefined while there are none. */
  failure?: string | undefined;
}

/** Trials in parallel, each in its own namespace: they mostly wait. */
const atOnce = 9;
/** A trial that takes longer is stuck. The longest wait by design is the 20 s period of a controller. */
const stuckMs = 30_000;
const pollMs = 150;
/** The undisturbed run ends when nothing has changed for this long. */
const quietMs = 1000;
const errorsOfCode = /^.*\b(?:TypeError|RangeError|ReferenceError|SyntaxError)\b.*$/gm;

/** Runs the scenario undisturbed, and then once for each fault of the plan. */
export async function runScenario(
  ground: Ground,
  scenario: FaultScenario,
  plan: (writes: readonly WritePattern[]) => readonly PlannedFault[],
  signal: AbortSignal,
): Promise<Report> {
  await using manager = new RestartingManager({
    cluster: ground.proxy.cluster,
    program: ground.program,
    flags: [
      `--controllers=${[scenario.controller, ...(scenario.beside ?? [])].join(',')}`,
      '--leader-elect=false', // no manager has to wait for the lease of a killed one
      ...(scenario.flags?.(ground.cluster) ?? []),
    ],
  });
  const run = new ScenarioRun(ground, scenario, manager);
  try {
    const writes = await run.record(signal);
    const size = scenario.isAlone === true ? 1 : atOnce;
    for (const group of groupsOf(plan(writes), size)) await run.disturb(group, signal);
    return { writes, ...(await run.finish(signal)) };
  } finally {
    await manager.stop();
    await run.cleanUp(signal);
  }
}

/** The trials of one group run in parallel. */
function groupsOf(planned: readonly PlannedFault[], size: number): PlannedFault[][] {
  const shared = planned.filter(({ fault }) => !isForEverybody(fault));
  const groups = planned.filter(({ fault }) => isForEverybody(fault)).map((one) => [one]);
  for (let i = 0; i < shared.length; i += size) groups.push(shared.slice(i, i + size));
  return groups;
}

class ScenarioRun {
  readonly #ground: Ground;
  readonly #scenario: FaultScenario;
  readonly #manager: RestartingManager;
  readonly #trials: Trial[] = [];
  #usual: Activity | undefined;

  constructor(ground: Ground, scenario: FaultScenario, manager: RestartingManager) {
    this.#ground = ground;
    this.#scenario = scenario;
    this.#manager = manager;
  }

  /** The writes of an undisturbed run. It runs twice: differences between the two are not caused by faults. */
  async record(signal: AbortSignal): Promise<WritePattern[]> {
    const limit = AbortSignal.any([signal, this.#manager.broken, AbortSignal.timeout(stuckMs)]);
    const isAlone = this.#scenario.isAlone === true;
    const former = this.#newCourse();
    if (isAlone) await this.#act([former], limit);
    const courses = [former, this.#newCourse()] as const;
    await this.#act(isAlone ? courses.slice(1) : courses, limit);
    const [end, again] = [await this.#quietEnd(courses[0], signal), await this.#quietEnd(courses[1], signal)];
    const differences = compareEndStates(end, again, this.#scenario.ignore ?? []);
    if (differences.length > 0) throw new Error(`undisturbed runs differ: ${differences.join('\n')}`);
    const [first, second] = [[...courses[0].writes], [...courses[1].writes]];
    this.#usual = { end, writes: first };
    return commonWrites([first, second]);
  }

  /** Runs these trials in parallel, until each has reached the state of the undisturbed run or is stuck. */
  async disturb(planned: readonly PlannedFault[], signal: AbortSignal): Promise<void> {
    const trials = planned.map((fault): Trial => ({ course: this.#newCourse(fault) }));
    this.#trials.push(...trials);
    const limit = AbortSignal.any([signal, this.#manager.broken, AbortSignal.timeout(stuckMs)]);
    try {
      await this.#act(
        trials.map(({ course }) => course),
        limit,
      );
    } catch (error) {
      signal.throwIfAborted();
      // The comparison shows which one it was.
      if (this.#manager.broken.aborted) throw this.#manager.broken.reason;
      if (!limit.aborted) throw error;
    }
    await Promise.all(trials.map((trial) => this.#settle(trial, limit, signal)));
  }

  /** Trials that have settled must still match later. */
  async finish(signal: AbortSignal): Promise<Omit<Report, 'writes'>> {
    await sleep(quietMs, undefined, { signal });
    for (const trial of this.#trials) {
      const { differences } = await this.#compare(trial.course, signal);
      if (differences.length > 0) trial.failure ??= `after it had settled: ${differences.join('\n')}`;
    }
    await this.#manager.stop();
    const of = (course: Course): string => (course.fault === undefined ? '' : describeFault(course.fault));
    const fired = this.#trials.filter(({ course }) => course.hasFired);
    return {
      tried: fired.length,
      missed: this.#trials.filter(({ course }) => !course.hasFired).map(({ course }) => of(course)),
      failures: [
        ...this.#trials.flatMap(({ course, failure }) => (failure === undefined ? [] : [`${of(course)}: ${failure}`])),
        ...new Set(this.#manager.logs.match(errorsOfCode)),
      ],
    };
  }

  /** Deletes everything that the managers of other scenarios would have to list. */
  async cleanUp(signal: AbortSignal): Promise<void> {
    const { client } = this.#ground;
    for (const { course } of this.#trials) {
      for (const kind of this.#scenario.kinds) {
        if (kind === Namespaces) continue;
        if (kind.namespaced) {
          const options = { namespace: course.token, gracePeriodSeconds: 0, propagationPolicy: 'Background' } as const;
          await client.deleteCollection(kind, options, signal);
          continue;
        }
        const { items } = await client.listAll(kind, {}, signal);
        for (const object of items.filter(({ metadata }) => metadata.name.startsWith(course.token))) {
          await client.delete(kind, keyOf(object), {}, signal);
        }
      }
      await client.deleteCollection(CoreEvents, { namespace: course.token }, signal);
    }
  }

  #newCourse(fault?: PlannedFault): Course {
    const token = `trial-${randomBytes(4).toString('hex')}`;
    const isAlone = this.#scenario.isAlone === true;
    const course: Course = { token, isAlone, fault, writes: [], kill: this.#manager.kill, hasFired: false };
    this.#ground.proxy.follow(course);
    return course;
  }

  async #act(courses: readonly Course[], signal: AbortSignal): Promise<void> {
    const { looksAtStart = false } = this.#scenario;
    const begin = (): Promise<unknown> => Promise.all(courses.map((course) => this.#actIn(course.token, signal)));
    if (!looksAtStart) {
      await this.#manager.start();
      await begin();
      return;
    }
    await this.#manager.stop();
    await begin();
    await this.#manager.start();
    const disturbed = courses.filter(({ fault }) => fault !== undefined && !isKill(fault.fault));
    if (disturbed.length === 0) return;
    while (disturbed.some(({ hasFired }) => !hasFired)) await sleep(pollMs, undefined, { signal });
    await this.#manager.stop();
    await this.#manager.start();
  }

  async #actIn(namespace: string, signal: AbortSignal): Promise<void> {
    const { client, cluster, hollow } = this.#ground;
    await client.create(Namespaces, { metadata: { name: namespace } }, signal);
    if (this.#scenario.isBare !== true) await createDefaultAccount(namespace, client, signal);
    await this.#scenario.act({ client, cluster, namespace, hollow, signal });
  }

  async #quietEnd({ token }: Course, signal: AbortSignal): Promise<EndState> {
    const read = (): Promise<EndState> => this.#read(token, signal);
    let end = await read();
    for (let quietSinceMs = performance.now(); performance.now() - quietSinceMs < quietMs;) {
      await sleep(pollMs, undefined, { signal });
      const next = await read();
      if (next.versions !== end.versions) quietSinceMs = performance.now();
      end = next;
    }
    return end;
  }

  async #settle(trial: Trial, limit: AbortSignal, signal: AbortSignal): Promise<void> {
    for (;;) {
      const { differences, storms } = await this.#compare(trial.course, signal);
      if (differences.length === 0) {
        // Checked here and not at the end, because every further trial may restart the manager.
        if (storms.length > 0) trial.failure = storms.join('\n');
        return;
      }
      if (limit.aborted) {
        trial.failure = `it is stuck, after ${trial.course.writes.join(', ')}:\n${[...differences, ...storms].join('\n')}`;
        return;
      }
      await sleep(pollMs, undefined, { signal });
    }
  }

  async #compare({ token, writes }: Course, signal: AbortSignal): Promise<Record<'differences' | 'storms', string[]>> {
    if (this.#usual === undefined) throw new Error('compare a trial: nothing is recorded yet');
    const end = await this.#read(token, signal);
    return {
      differences: compareEndStates(this.#usual.end, end, this.#scenario.ignore ?? []),
      storms: findStorms(this.#usual, { end, writes }),
    };
  }

  #read(namespace: string, signal: AbortSignal): Promise<EndState> {
    return readEndState(this.#ground.client, { namespace, kinds: this.#scenario.kinds }, signal);
  }
}
