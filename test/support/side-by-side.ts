import { setTimeout as sleep } from 'node:timers/promises';

import type { Kind } from '../../pkg/api/index.ts';
import { type Client, ClientBuilder, loadKubeconfig } from '../../pkg/client/index.ts';
import { systemClock } from '../../pkg/time/index.ts';
import { type Cluster, startGoControllerManager } from '../cluster/index.ts';
import { createNamespace } from '../suites/use-cluster.ts';
import { compareStates, type CompareOptions, dumpState, type State } from './compare-state.ts';
import { startManager } from './manager.ts';

/** The actions on a namespace while one of the two controller managers runs. */
export interface Scenario {
  /** The controllers to run, by the names that `--controllers` takes. */
  readonly controllers: readonly string[];
  /** More flags, for both managers. */
  readonly flags?: readonly string[] | undefined;
  /** The kinds that are compared at the end; including `CoreEvents` compares events too. */
  readonly kinds: readonly Kind[];
  /** Acts like users, and resolves when the managers should have nothing left to do. */
  run(stage: Stage, signal: AbortSignal): Promise<void>;
}

export interface Stage {
  readonly client: Client;
  readonly namespace: string;
  readonly cluster: Cluster;
  readonly manager: ManagerName;
}

export type ManagerName = 'ours' | 'go';

/**
 * Runs a scenario with our controller manager, then with the Go one, each in its own namespace. Returns the differences
 * between the two end states, as `compareWithGo`. The caller runs hollow nodes, if the scenario needs any: once, for
 * both. The managers run one after the other, and the first namespace is read before the second manager starts.
 */
export async function runWithBoth(
  cluster: Cluster,
  scenario: Scenario,
  options: CompareOptions,
  signal: AbortSignal,
): Promise<string[]> {
  const ours = await runWith('ours', cluster, scenario, signal);
  return compareWithGo(ours, () => runWith('go', cluster, scenario, signal), options);
}

/** Compares an end state of ours with those of the Go binary, as `untilGoAgrees`. */
export async function compareWithGo(
  ours: State,
  runGo: () => Promise<State>,
  options: CompareOptions = {},
): Promise<string[]> {
  return untilGoAgrees(runGo, (go) => compareStates(ours, go, { names: ['ours', 'go'], ...options }));
}

const goRuns = 3;

/**
 * Where the end state of the Go binary depends on chance, ours must be one of those that it reaches: if they differ, it
 * runs again. Returns the differences from its last run. Ours runs once, and has no second chance.
 */
export async function untilGoAgrees<T>(runGo: () => Promise<T>, compare: (go: T) => string[]): Promise<string[]> {
  let differences: string[] = [];
  for (let run = 1; run <= goRuns; run++) {
    differences = compare(await runGo());
    if (differences.length === 0) break;
    process.stderr.write(`run ${run} of the Go binary has ended differently: ${differences.join('; ')}\n`);
  }
  return differences;
}

/** Runs a scenario with one of the two, and returns its end state. */
export async function runWith(
  manager: ManagerName,
  cluster: Cluster,
  scenario: Scenario,
  signal: AbortSignal,
): Promise<State> {
  const connection = await loadKubeconfig({ path: cluster.kubeconfig() }, systemClock);
  const clients = new ClientBuilder({ connection, clock: systemClock, userAgent: 'side-by-side' });
  const client = clients.clientFor(manager);
  const namespace = await createNamespace(cluster, manager);
  const stop = await startEither(manager, cluster, scenario);
  try {
    await scenario.run({ client, namespace, cluster, manager }, signal);
    return await dumpWhenQuiet(client, { namespace, kinds: scenario.kinds }, signal);
  } finally {
    await stop();
    clients.close();
  }
}

/** Starts one of the two. Returns a function that stops it. */
export async function startEither(
  manager: ManagerName,
  cluster: Cluster,
  scenario: Pick<Scenario, 'controllers' | 'flags'>,
): Promise<() => Promise<unknown>> {
  const flags = [
    `--controllers=${scenario.controllers.join(',')}`,
    '--leader-elect=false', // no other candidate; else the next start would wait for the lease to expire
    '--use-service-account-credentials=true',
    ...(scenario.flags ?? []),
  ];
  if (manager === 'ours') {
    const started = await startManager(cluster, flags);
    return () => started.stop();
  }
  const { process } = await startGoControllerManager(cluster, flags);
  return () => process.stop();
}

/** Events are written asynchronously, and some statuses follow later: the state is final when no more writes follow. */
const quietMs = 1500;

async function dumpWhenQuiet(
  client: Client,
  options: Parameters<typeof dumpState>[1],
  signal: AbortSignal,
): Promise<State> {
  let state = await dumpState(client, options, signal);
  for (let quietSinceMs = performance.now(); performance.now() - quietSinceMs < quietMs;) {
    await sleep(100, undefined, { signal });
    const next = await dumpState(client, options, signal);
    if (versionsOf(next) !== versionsOf(state)) quietSinceMs = performance.now();
    state = next;
  }
  return state;
}

function versionsOf({ objects }: State): string {
  return objects.map(({ object }) => `${object.metadata.uid} ${object.metadata.resourceVersion}`).join();
}
