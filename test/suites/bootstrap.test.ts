import { afterAll, beforeAll, expect, test } from 'vitest';

import { ConfigMaps, Secrets } from '../../pkg/api/index.ts';
import { ClientBuilder, isNotFound, loadKubeconfig, type Client } from '../../pkg/client/index.ts';
import { systemClock } from '../../pkg/time/index.ts';
import { startGoControllerManager } from '../cluster/index.ts';
import {
  clusterInfo,
  createClusterInfo,
  createToken,
  deleteToken,
  tokenKey,
  untilSigned,
} from '../support/bootstrap-tokens.ts';
import { eventually } from '../support/eventually.ts';
import { startManager } from '../support/manager.ts';
import { useCluster } from './use-cluster.ts';

const cluster = useCluster();
let clients: ClientBuilder;
let client: Client;

beforeAll(async () => {
  const connection = await loadKubeconfig({ path: cluster().kubeconfig() }, systemClock);
  clients = new ClientBuilder({ connection, clock: systemClock, userAgent: 'bootstrap-suite' });
  client = clients.clientFor('bootstrap-suite');
});
afterAll(() => clients?.close());

/** The names that kubeadm uses; they are off by default. */
const flags = [
  '--controllers=bootstrapsigner,tokencleaner',
  '--leader-elect=false',
  '--use-service-account-credentials=true',
];
const inMs = (ms: number): string => new Date(Date.now() + ms).toISOString();

async function isGone(id: string, signal: AbortSignal): Promise<boolean> {
  try {
    await client.get(Secrets, tokenKey(id), signal);
    return false;
  } catch (error) {
    if (isNotFound(error)) return true;
    throw error;
  }
}

/** All changes of tokens and cluster-info. Returns cluster-info after each. */
async function play(signal: AbortSignal): Promise<unknown[]> {
  const states: unknown[] = [];
  await createClusterInfo(client, 'first', signal);
  await createToken(client, 'aaaaaa', {}, signal);
  states.push(await untilSigned(client, ['aaaaaa'], signal));
  await createToken(client, 'bbbbbb', { 'token-secret': 'fedcba9876543210', expiration: inMs(3_600_000) }, signal);
  await createToken(client, 'nosign', { 'usage-bootstrap-signing': 'false' }, signal);
  states.push(await untilSigned(client, ['aaaaaa', 'bbbbbb'], signal));
  const patch = { type: 'merge', body: { data: { kubeconfig: 'second', 'jws-kubeconfig-forged': 'x' } } } as const;
  await client.patch(ConfigMaps, clusterInfo, patch, signal);
  states.push(await untilSigned(client, ['aaaaaa', 'bbbbbb'], signal));
  await createToken(client, 'cccccc', { expiration: inMs(1500) }, signal);
  await createToken(client, 'dddddd', { expiration: 'no time at all' }, signal);
  await createToken(client, 'eeeeee', { expiration: inMs(-1000) }, signal);
  for (const id of ['cccccc', 'dddddd', 'eeeeee']) await eventually(() => isGone(id, signal), signal);
  await deleteToken(client, 'bbbbbb', signal);
  states.push(await untilSigned(client, ['aaaaaa'], signal));
  await deleteToken(client, 'aaaaaa', signal);
  states.push(await untilSigned(client, [], signal));
  expect(await isGone('nosign', signal)).toBe(false);
  await deleteToken(client, 'nosign', signal);
  return states;
}

test('cluster-info has a signature for each token, and tokens expire, as with the Go manager', async ({ signal }) => {
  await using manager = await startManager(cluster(), flags);
  const ours = await play(signal);
  const { body } = await manager.get('/metrics');
  expect(body).toMatch(/workqueue_adds_total\{name="bootstrap_signer_queue"\} [1-9]/);
  expect(body).toMatch(/workqueue_adds_total\{name="token_cleaner"\} [1-9]/);
  expect(await manager.stop()).toBe(0);
  const { process } = await startGoControllerManager(cluster(), flags);
  const go = await play(signal);
  await process.stop();
  expect(ours).toEqual(go);
});
