import { setTimeout as sleep } from 'node:timers/promises';

import type { Kind } from '../../pkg/api/index.ts';
import { type Client, ClientBuilder, loadKubeconfig } from '../../pkg/client/index.ts';
import { systemClock } from '../../pkg/time/index.ts';
import { type Cluster, startGoControllerManager } from '../cluster/index.ts';
import { createNamespace } from '../suites/use-cluster.ts';
import { compareStates, type CompareOptions, dumpState, type State } from './compare-state.ts';
import { startManager } from './manager.ts';

/** What is done to a namespace while one or the other controller manager looks after it. */
export interface Scenario {
  /** The controllers to run, by the names that `--controllers` takes. */
  readonly controllers: readonly string[];
  /** More flags, for both managers. */
  readonly flags?: readonly string[] | undefined;
  /** What is compared in the end; with `CoreEvents` among them, events too. */
  readonly kinds: readonly Kind[];
  /** Does what users do, and resolves when the managers should have nothing left to do. */
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
 * Runs a scenario with our controller manager, then with the Go one, each in a namespace of its own, and gives the
 * differences between the two end states. Hollow nodes, if the scenario needs any, are for the caller to run: once, for
 * both. The managers run one after the other, and the first namespace is read before the second manager starts.
 */
export async function runWithBoth(
  cluster: Cluster,
  scenario: Scenario,
  options: CompareOptions,
  signal: AbortSignal,
): Promise<string[]> {
  const ours = await runWith('ours', cluster, scenario, signal);
  const go = await runWith('go', cluster, scenario, signal);
  return compareStates(ours, go, { names: ['ours', 'go'], ...options });
}

/** Runs a scenario with one of the two, and gives the state it ends in. */
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
  const stop = await start(manager, cluster, scenario);
  try {
    await scenario.run({ client, namespace, cluster, manager }, signal);
    return await dumpWhenQuiet(client, { namespace, kinds: scenario.kinds }, signal);
  } finally {
    await stop();
    clients.close();
  }
}

async function start(manager: ManagerName, cluster: Cluster, scenario: Scenario): Promise<() => Promise<unknown>> {
  const flags = [
    `--controllers=${scenario.controllers.join(',')}`,
    '--leader-elect=false', // nobody else is there, and a lease left behind would only have to be waited out
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

/** Recorders write events behind their controllers' backs, and some statuses follow later: quiet is when no more come. */
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
