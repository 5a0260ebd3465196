import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { CoreEvents, keyOf, Namespaces, ServiceAccounts } from '../../../pkg/api/index.ts';
import { isAlreadyExists, type Client } from '../../../pkg/client/index.ts';
import type { HollowNodes } from '../../../pkg/hollow/index.ts';
import type { ClusterAccess } from '../../cluster/index.ts';
import { compareEndStates, findStorms, readEndState, type Activity, type EndState } from './end-state.ts';
import { commonWrites, describeFault, isForEverybody, isKill, type PlannedFault, type WritePattern } from './faults.ts';
import type { Course, FaultProxy } from './proxy.ts';
import { RestartingManager } from './restarting-manager.ts';
import type { FaultScenario } from './scenario.ts';

export interface Ground {
  readonly cluster: ClusterAccess;
  readonly proxy: FaultProxy;
  /** The users'. */
  readonly client: Client;
  readonly hollow: HollowNodes;
  /** The manager as it is built. */
  readonly program: string;
}

export interface Report {
  readonly writes: readonly WritePattern[];
  /** Faults that befell their write. */
  readonly tried: number;
  /** Faults whose write did not come this time: status writes may be one fewer than in the recording. */
  readonly missed: readonly string[];
  /** What was wrong in the end, by fault. */
  readonly failures: readonly string[];
}

interface Trial {
  readonly course: Course;
  /** What was wrong so far; undefined while nothing is. */
  failure?: string | undefined;
}

/** Trials at once, each in a namespace of its own: they mostly wait. */
const atOnce = 9;
/** A trial that takes longer is stuck. The longest wait by design are the 20 s of a controller that looks that seldom. */
const stuckMs = 30_000;
const pollMs = 150;
/** The undisturbed run is over when nothing has changed for this long. */
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
      '--leader-elect=false', // nobody has to wait for the lease of one that was killed
      ...(scenario.flags?.(ground.cluster) ?? []),
    ],
  });
  const run = new ScenarioRun(ground, scenario, manager);
  try {
    const writes = await run.record(signal);
    for (const group of groupsOf(plan(writes))) await run.disturb(group, signal);
    return { writes, ...(await run.finish(signal)) };
  } finally {
    await manager.stop();
    await run.cleanUp(signal);
  }
}

/** Trials of one group are run at once. */
function groupsOf(planned: readonly PlannedFault[]): PlannedFault[][] {
  const shared = planned.filter(({ fault }) => !isForEverybody(fault));
  const groups = planned.filter(({ fault }) => isForEverybody(fault)).map((one) => [one]);
  for (let i = 0; i < shared.length; i += atOnce) groups.push(shared.slice(i, i + atOnce));
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

  /** The writes of an undisturbed run. It is made twice: what differs between the two is no fault's doing. */
  async record(signal: AbortSignal): Promise<WritePattern[]> {
    const courses = [this.#newCourse(), this.#newCourse()] as const;
    await this.#act(courses, AbortSignal.any([signal, this.#manager.broken, AbortSignal.timeout(stuckMs)]));
    const [end, again] = [await this.#quietEnd(courses[0], signal), await this.#quietEnd(courses[1], signal)];
    const differences = compareEndStates(end, again, this.#scenario.ignore ?? []);
    if (differences.length > 0) throw new Error(`undisturbed runs differ: ${differences.join('\n')}`);
    const [first, second] = [[...courses[0].writes], [...courses[1].writes]];
    this.#usual = { end, writes: first };
    return commonWrites([first, second]);
  }

  /** Runs these trials at once, until each has come to the end of the undisturbed run or is stuck. */
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
      // Whichever of them it was, the comparison tells.
      if (this.#manager.broken.aborted) throw this.#manager.broken.reason;
      if (!limit.aborted) throw error;
    }
    await Promise.all(trials.map((trial) => this.#settle(trial, limit, signal)));
  }

  /** By now every trial has had time to go wrong after all. */
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

  /** Leaves nothing that the managers of other scenarios would have to list. */
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
    const course: Course = { token, fault, writes: [], kill: this.#manager.kill, hasFired: false };
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
    const { client, hollow } = this.#ground;
    await client.create(Namespaces, { metadata: { name: namespace } }, signal);
    if (this.#scenario.isBare !== true) {
      try {
        await client.create(ServiceAccounts, { metadata: { namespace, name: 'default' } }, signal);
      } catch (error) {
        if (!isAlreadyExists(error)) throw error;
      }
    }
    await this.#scenario.act({ client, namespace, hollow, signal });
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
        // Told here and not in the end, as every further trial may start the manager again.
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
