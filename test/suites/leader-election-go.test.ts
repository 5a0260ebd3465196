import { afterAll, beforeAll, expect, test } from 'vitest';

import { CoreEvents, type CoreEvent } from '../../pkg/api/index.ts';
import { ClientBuilder, loadKubeconfig, type Client } from '../../pkg/client/index.ts';
import { systemClock } from '../../pkg/time/index.ts';
import { startGoControllerManager, type Cluster, type ServerProcess } from '../cluster/index.ts';
import { eventually } from '../support/eventually.ts';
import { followLease } from '../support/follow-lease.ts';
import type { CandidateReport } from '../support/leader-candidate.ts';
import { useCluster } from './use-cluster.ts';

const getCluster = useCluster();
const lock = { namespace: 'kube-system', name: 'shared' };
const rounds = 10;
let clients: ClientBuilder;
let client: Client;

beforeAll(async () => {
  const connection = await loadKubeconfig({ path: getCluster().kubeconfig() }, systemClock);
  clients = new ClientBuilder({ connection, clock: systemClock, userAgent: 'test' });
  client = clients.clientFor('test');
});
afterAll(() => clients.close());

/** One candidate: its process and its output. */
interface Contender {
  readonly name: 'ours' | 'go';
  readonly process: ServerProcess;
  /** When it logged that it leads, each time; and that it is a candidate, each time. */
  ledAt(): number[];
  timesWaiting(): number;
}

async function startOurs(cluster: Cluster): Promise<Contender> {
  const script = new URL('../support/leader-candidate.ts', import.meta.url).pathname;
  const kubeconfig = cluster.kubeconfig({ user: 'system:kube-controller-manager' });
  const process = await cluster.startProcess({
    name: 'leader-candidate',
    program: globalThis.process.execPath,
    args: [script, kubeconfig, `${lock.namespace}/${lock.name}`, 'ours'],
  });
  const reports = (): CandidateReport[] =>
    process
      .readLog()
      .split('\n')
      .filter((line) => line.startsWith('{') && line.endsWith('}'))
      .map((line) => JSON.parse(line) as CandidateReport);
  return {
    name: 'ours',
    process,
    ledAt: () => reports().flatMap(({ state, atMs }) => (state === 'leading' ? [atMs] : [])),
    timesWaiting: () => reports().filter(({ state }) => state === 'waiting').length,
  };
}

async function startGo(cluster: Cluster): Promise<Contender> {
  const { process } = await startGoControllerManager(cluster, [
    `--leader-elect-resource-name=${lock.name}`,
    '--leader-elect-lease-duration=3s',
    '--leader-elect-renew-deadline=2s',
    '--leader-elect-retry-period=500ms',
    '--controllers=ttl-after-finished-controller',
  ]);
  const lines = (text: string): string[] =>
    process
      .readLog()
      .split('\n')
      .filter((line) => line.includes(text));
  return {
    name: 'go',
    process,
    ledAt: () => lines('"Successfully acquired lease"').map(timeOfLine),
    timesWaiting: () => lines('"Attempting to acquire leader lease..."').length,
  };
}

/** `I1116 02:55:18.123456 …`: month, day and local time. */
function timeOfLine(line: string): number {
  const [, month, day, time] = /^[A-Z](\d\d)(\d\d) (\d\d:\d\d:\d\d\.\d{3})/.exec(line) ?? [];
  return Date.parse(`${new Date().getFullYear()}-${month}-${day}T${time}`);
}

test('our manager and the Go one take over from a killed leader, and never lead at the same time', async ({
  signal,
}) => {
  const cluster = getCluster();
  const lease = await followLease(client, lock);
  const contenders = [await startOurs(cluster), await startGo(cluster)] as const;
  const terms: { name: string; fromMs: number; toMs: number }[] = [];
  const led = new Map(contenders.map(({ name }) => [name, 0]));

  const nextLeader = (): Promise<Contender> =>
    eventually(
      async () => contenders.find(({ name, ledAt }) => ledAt().length > (led.get(name) ?? 0)) ?? false,
      signal,
    );

  for (let round = 0; round < rounds; round += 1) {
    const leader = await nextLeader();
    const fromMs = leader.ledAt().at(-1) ?? Number.NaN;
    led.set(leader.name, leader.ledAt().length);
    await leader.process.kill();
    terms.push({ name: leader.name, fromMs, toMs: Date.now() });
    await nextLeader(); // so that the lease has a new holder before the killed one returns
    const waited = leader.timesWaiting();
    await leader.process.start();
    await eventually(async () => leader.timesWaiting() > waited, signal);
  }

  await lease.end();
  expect(terms.map(({ name }) => name)).toEqual(
    Array.from({ length: rounds }, (_, round) => (round % 2 === 0 ? terms[0]?.name : terms[1]?.name)),
  );
  expect(new Set(terms.map(({ name }) => name))).toEqual(new Set(['ours', 'go']));
  for (const [index, term] of terms.entries()) {
    expect(term.fromMs).toBeLessThan(term.toMs);
    const next = terms[index + 1];
    // From its log line until it was certainly dead: the next one's line must come later.
    expect(next?.fromMs ?? Number.POSITIVE_INFINITY).toBeGreaterThanOrEqual(term.toMs);
  }
  // The lease agrees: one transition for each change of holder.
  const holders = lease.specs.filter((spec, index) => spec.holderIdentity !== lease.specs[index - 1]?.holderIdentity);
  expect(holders.map(({ leaseTransitions }) => leaseTransitions)).toEqual(holders.map((_, index) => index));
  expect(holders.length).toBe(rounds + 1);

  await expectSameEvents(signal);
}, 600_000); // ten turns of several seconds each: this only ends a run that hangs

/** Both have recorded "became leader" on the lease: the two events may differ only in fields of one occurrence. */
async function expectSameEvents(signal: AbortSignal): Promise<void> {
  const about = {
    namespace: lock.namespace,
    fieldSelector: `involvedObject.kind=Lease,involvedObject.name=${lock.name}`,
  };
  const eventOf = (byUs: boolean): Promise<CoreEvent> =>
    eventually(async () => {
      const { items } = await client.listAll(CoreEvents, about, signal);
      return items.find(({ message }) => message?.startsWith('ours ') === byUs) ?? false;
    }, signal);
  const [ours, gos] = [await eventOf(true), await eventOf(false)];
  expect(withoutOccurrence(ours)).toEqual(withoutOccurrence(gos));
}

function withoutOccurrence(event: CoreEvent): unknown {
  const { metadata, involvedObject, message, firstTimestamp, lastTimestamp, ...rest } = event;
  const mask = (name: string): string => name.replace(/[0-9a-f]{16}$/, 'nanos');
  return {
    ...rest,
    name: mask(metadata.name),
    metadata: Object.keys(metadata).sort((a, b) => a.localeCompare(b)),
    involvedObject: { ...involvedObject, resourceVersion: typeof involvedObject.resourceVersion },
    message: message?.replace(/^\S+/, 'identity'),
    times: [firstTimestamp, lastTimestamp].map((time) => time?.replaceAll(/\d/g, '0')),
  };
}
