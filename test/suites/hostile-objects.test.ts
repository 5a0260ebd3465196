import { expect, test } from 'vitest';

import { exitCodes } from '../../cmd/kube-controller-manager/exit-codes.ts';
import { eventually } from '../support/eventually.ts';
import { customResourceDefinitions, kindsWithBase } from '../support/hostile/bases.ts';
import { serveInnocents } from '../support/hostile/innocents.ts';
import { idOf, readServedKinds, type ServedKind } from '../support/hostile/schema.ts';
import { Stranger } from '../support/hostile/stranger.ts';
import { countErrors, readHealth, unexpectedErrors } from '../support/hostile/verdict.ts';
import { startManager, type Manager } from '../support/manager.ts';
import { useStrangers } from './use-strangers.ts';

/**
 * All controllers, among random but legal objects of every kind that the server has. A failure can be repeated, as far as
 * the order of events allows, with the seed that is printed:
 *
 *     HOSTILE_SEED=7 HOSTILE_OBJECTS=5000 npm run test:cluster -- test/suites/hostile-objects.test.ts
 */
const seed = Number(process.env['HOSTILE_SEED'] ?? 1);
const objects = Number(process.env['HOSTILE_OBJECTS'] ?? 300);
const objectsPerRound = 150;
const atOnce = 8;

const { cluster, sender, client } = useStrangers();

function startAllControllers(): Promise<Manager> {
  return startManager(cluster(), [
    '--controllers=*',
    '--logging-format=json',
    '-v=4', // errors with their class
    '--use-service-account-credentials=true',
    `--root-ca-file=${cluster().files.ca}`,
    `--service-account-private-key-file=${cluster().files.serviceAccountKey}`,
    '--node-monitor-period=1s',
    '--node-monitor-grace-period=5s',
    '--horizontal-pod-autoscaler-sync-period=1s',
    '--terminated-pod-gc-threshold=5',
  ]);
}

/** The schema of everything that the server serves, custom resources included. */
async function readKinds(signal: AbortSignal): Promise<readonly ServedKind[]> {
  for (const definition of customResourceDefinitions()) {
    await sender().send('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition);
  }
  return eventually(async () => {
    const kinds = await readServedKinds(sender());
    const ids = kinds.map(idOf);
    return kindsWithBase.every((id) => ids.includes(id)) && kinds;
  }, signal);
}

async function act(stranger: Stranger, until: number): Promise<void> {
  const loop = async (): Promise<void> => {
    while (stranger.counts.created < until) await stranger.act();
  };
  await Promise.all(Array.from({ length: atOnce }, loop));
}

/**
 * Waits until every queue has been empty once: workers still take keys, although syncs of hostile objects fail and are
 * retried.
 */
async function queuesDrain(manager: Manager, signal: AbortSignal): Promise<void> {
  let busy = (await readHealth(manager)).busyQueues;
  await eventually(async () => {
    const now = (await readHealth(manager)).busyQueues;
    busy = busy.filter((queue) => now.includes(queue));
    return busy.length === 0;
  }, signal);
}

test(`all controllers survive ${objects} hostile objects of seed ${seed} and serve an innocent user`, async ({
  signal,
  annotate,
}) => {
  await using manager = await startAllControllers();
  const stranger = new Stranger({ sender: sender(), kinds: await readKinds(signal), seed });
  const unknown = await stranger.learn('default');
  expect(unknown.filter((id) => kindsWithBase.includes(id))).toEqual([]);

  const residentMb: number[] = [];
  for (let round = 1; stranger.counts.created < objects; round++) {
    await stranger.moveIn(`hostile-${round}`);
    const until = Math.min(objects, round * objectsPerRound);
    await Promise.all([act(stranger, until), serveInnocents(client(), signal)]);
    await queuesDrain(manager, signal);
    await stranger.leave(signal);
    const health = await readHealth(manager);
    expect(health.failing).toEqual([]);
    residentMb.push(health.residentMb);
    expect(unexpectedErrors(manager.logs())).toEqual([]);
  }

  await serveInnocents(client(), signal);
  const { counts, createdByKind } = stranger;
  const errors = Object.fromEntries(countErrors(manager.logs()));
  await annotate(JSON.stringify({ seed, ...counts, kinds: createdByKind.size, unknown, residentMb, errors }));
  const [first = 0] = residentMb;
  expect(residentMb.at(-1)).toBeLessThan(1.5 * first + 50);
  expect(await manager.stop()).toBe(exitCodes.ok);
  expect(unexpectedErrors(manager.logs())).toEqual([]);
});
