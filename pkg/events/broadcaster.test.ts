import { describe, expect, test } from 'vitest';

import { FakeClock, settle } from '../../test/support/fake-clock.ts';
import { RecordingLogger } from '../../test/support/loggers.ts';
import { apiError, RecordingClient } from '../../test/support/recording-client.ts';
import { ClusterRoles, CoreEvents, Nodes, Pods } from '../api/index.ts';
import { ConnectionError } from '../client/index.ts';
import { EventBroadcaster, type EventBroadcasterOptions } from './broadcaster.ts';

function createBroadcaster(changes: Partial<EventBroadcasterOptions> = {}) {
  const clock = new FakeClock('2026-01-01T00:00:00Z');
  const client = new RecordingClient();
  const logger = new RecordingLogger();
  const broadcaster = new EventBroadcaster({ client, clock, logger, random: () => 0.5, ...changes });
  const recorder = broadcaster.recorderFor('replicaset-controller');
  const stop = new AbortController();
  const record = (message: string, name = 'p'): void =>
    recorder.event(Pods, pod(name), { type: 'Normal', reason: 'Created', message });
  const complaints = (): string[] =>
    logger.lines.filter(({ level }) => level === 'error' || level === 'warn').map(({ message }) => message);
  return { clock, client, logger, broadcaster, recorder, stop, record, complaints };
}

const pod = (name: string) => ({ metadata: { namespace: 'a', name, uid: 'u', resourceVersion: '7' } });
const unreachable = (): never => {
  throw new ConnectionError('refused', { mayHaveBeenSent: false });
};

describe('EventBroadcaster', () => {
  test('writes events as the Go recorder does', async () => {
    const { broadcaster, client, clock, recorder, stop } = createBroadcaster();
    const running = broadcaster.run(stop.signal);
    recorder.event(Pods, pod('p'), {
      type: 'Warning',
      reason: 'Failed',
      message: 'm',
      fieldPath: 'spec.containers{c}',
    });
    await settle();
    const nanos = (BigInt(clock.now()) * 1_000_000n + 500_000n).toString(16);
    expect(client.writes).toEqual([
      {
        verb: 'create',
        resource: 'events',
        key: `a/p.${nanos}`,
        body: {
          metadata: { name: `p.${nanos}`, namespace: 'a' },
          involvedObject: {
            apiVersion: 'v1',
            kind: 'Pod',
            namespace: 'a',
            name: 'p',
            uid: 'u',
            resourceVersion: '7',
            fieldPath: 'spec.containers{c}',
          },
          reason: 'Failed',
          message: 'm',
          type: 'Warning',
          source: { component: 'replicaset-controller' },
          reportingComponent: 'replicaset-controller',
          reportingInstance: '',
          firstTimestamp: '2026-01-01T00:00:00Z',
          lastTimestamp: '2026-01-01T00:00:00Z',
          count: 1,
        },
      },
    ]);
    stop.abort();
    await running;
    expect(clock.pendingTimers).toBe(0);
  });

  test('a repeated event is a strategic patch of count, time and message', async () => {
    const { broadcaster, client, clock, stop, record } = createBroadcaster();
    const running = broadcaster.run(stop.signal);
    record('m');
    await clock.advance(3000);
    record('m');
    stop.abort();
    await running;
    expect(client.writes[1]?.body).toEqual({
      type: 'strategic',
      body: { count: 2, lastTimestamp: '2026-01-01T00:00:03Z', message: 'm' },
    });
    expect(client.stored(CoreEvents)).toMatchObject([{ count: 2, firstTimestamp: '2026-01-01T00:00:00Z' }]);
  });

  test('an event that has expired is created again, with its count', async () => {
    const { broadcaster, client, stop, record } = createBroadcaster();
    const running = broadcaster.run(stop.signal);
    record('m');
    await settle();
    await client.deleteCollection(CoreEvents, {}, new AbortController().signal);
    record('m');
    stop.abort();
    await running;
    expect(client.stored(CoreEvents)).toMatchObject([{ count: 2 }]);
  });

  test('events about one object within a millisecond have different names', async () => {
    const { broadcaster, client, stop, record } = createBroadcaster();
    for (const message of ['a', 'b', 'c']) record(message);
    stop.abort();
    await broadcaster.run(stop.signal);
    expect(client.stored(CoreEvents)).toHaveLength(3);
  });

  test('events about cluster-scoped objects are in the namespace default', async () => {
    const { broadcaster, client, recorder, stop } = createBroadcaster();
    const about = { metadata: { name: 'n1', uid: 'n1' } };
    recorder.event(Nodes, about, { type: 'Normal', reason: 'NodeNotReady', message: '' });
    stop.abort();
    await broadcaster.run(stop.signal);
    const [event] = client.stored(CoreEvents);
    expect(event?.metadata.namespace).toBe('default');
    expect(event?.involvedObject).toEqual({ apiVersion: 'v1', kind: 'Node', name: 'n1', uid: 'n1' });
  });

  test('an object whose name is not valid for an event still gets its event', async () => {
    const { broadcaster, client, recorder, stop } = createBroadcaster();
    recorder.event(ClusterRoles, { metadata: { name: 'system:Node' } }, { type: 'Normal', reason: 'R', message: '' });
    stop.abort();
    await broadcaster.run(stop.signal);
    expect(client.stored(CoreEvents)[0]?.metadata.name).toMatch(/^[0-9a-f]{8}-/);
  });

  test('tries 12 times when the server cannot be reached, first at random, then every 10 s', async () => {
    const { broadcaster, client, clock, stop, record, complaints } = createBroadcaster();
    client.before('create', unreachable);
    const running = broadcaster.run(stop.signal);
    record('m');
    await clock.advance(4999);
    expect(client.writes).toHaveLength(1);
    await clock.advance(1);
    expect(client.writes).toHaveLength(2);
    await clock.advance(10_000);
    expect(client.writes).toHaveLength(3);
    await clock.advance(1e6);
    expect(client.writes).toHaveLength(12);
    expect(complaints().at(-1)).toBe('cannot write an event: giving up');
    stop.abort();
    await running;
  });

  test('a hung request times out and is retried', async () => {
    const { broadcaster, client, clock, stop, record } = createBroadcaster();
    const recover = client.before('create', () => new Promise<void>(() => undefined));
    const running = broadcaster.run(stop.signal);
    record('m');
    await clock.advance(30_000);
    recover();
    await clock.advance(5000);
    expect(client.stored(CoreEvents)).toHaveLength(1);
    stop.abort();
    await running;
  });

  const refusals = [
    {
      name: 'a terminating namespace',
      error: apiError(403, 'Forbidden', '', { causes: ['NamespaceTerminating'] }),
      loud: false,
    },
    { name: 'a deleted namespace', error: apiError(404, 'NotFound'), loud: false },
    { name: 'an event that exists', error: apiError(409, 'AlreadyExists'), loud: false },
    { name: 'missing rights', error: apiError(403, 'Forbidden'), loud: true },
    { name: 'a server error', error: apiError(500, 'InternalError'), loud: true },
  ];
  for (const { name, error, loud } of refusals) {
    test(`a refusal for ${name} is ${loud ? 'logged as an error' : 'not worth an error'}, and final`, async () => {
      const { broadcaster, client, clock, stop, record, complaints } = createBroadcaster();
      client.before('create', () => {
        throw error;
      });
      const running = broadcaster.run(stop.signal);
      record('m');
      await clock.advance(1e6);
      expect(client.writes).toHaveLength(1);
      expect(complaints()).toEqual(loud ? ['server refused an event'] : []);
      stop.abort();
      await running;
    });
  }

  test('a full buffer drops events and logs how many', async () => {
    const { broadcaster, client, stop, record, complaints } = createBroadcaster({ bufferSize: 5 });
    for (let index = 0; index < 8; index += 1) record('m', `p${index}`);
    stop.abort();
    await broadcaster.run(stop.signal);
    expect(client.stored(CoreEvents)).toHaveLength(5);
    expect(complaints().slice(1)).toEqual([
      'too many events wait to be sent: dropping new ones',
      'events were dropped',
    ]);
  });

  test('spam does not fill the buffer while the server is unreachable', async () => {
    const { broadcaster, client, clock, stop, record } = createBroadcaster({ bufferSize: 30 });
    const recover = client.before('create', unreachable);
    const running = broadcaster.run(stop.signal);
    for (let index = 0; index < 1000; index += 1) record('m');
    record('m', 'q');
    recover();
    await clock.advance(5000);
    expect(client.stored(CoreEvents).map(({ involvedObject }) => involvedObject.name)).toEqual(['p', 'q']);
    stop.abort();
    await running;
  });

  test('an abort ends the wait for a retry, sends the remaining events, and ends', async () => {
    const { broadcaster, client, clock, stop, record } = createBroadcaster();
    const recover = client.before('create', unreachable);
    const running = broadcaster.run(stop.signal);
    record('m', 'p');
    record('m', 'q');
    await settle();
    recover();
    stop.abort();
    await running;
    expect(client.stored(CoreEvents)).toHaveLength(2);
    expect(clock.pendingTimers).toBe(0);
  });

  test('a hung server does not delay the end beyond drainMs', async () => {
    const { broadcaster, client, clock, stop, record, complaints } = createBroadcaster({ drainMs: 5000 });
    client.before('create', () => new Promise<void>(() => undefined));
    const running = broadcaster.run(stop.signal);
    for (const name of ['p', 'q', 'r']) record('m', name);
    await settle();
    stop.abort();
    await clock.advance(5000);
    await running;
    expect(client.writes).toHaveLength(1);
    expect(complaints()).toEqual(['cannot write an event: giving up', 'events were dropped']);
  });

  test('a hung write delays no other component, not even one that is added later', async () => {
    const { broadcaster, client, clock, stop, record } = createBroadcaster({ drainMs: 5000 });
    client.before('create', ({ body }) =>
      JSON.stringify(body).includes('replicaset-controller') ? new Promise<void>(() => undefined) : undefined,
    );
    const early = broadcaster.recorderFor('job-controller');
    const running = broadcaster.run(stop.signal);
    const late = broadcaster.recorderFor('cronjob-controller');
    for (let index = 0; index < 3; index += 1) record('m', `p${index}`);
    early.event(Pods, pod('q'), { type: 'Normal', reason: 'Created', message: '' });
    late.event(Pods, pod('r'), { type: 'Normal', reason: 'Created', message: '' });
    await settle();
    expect(client.stored(CoreEvents).map(({ involvedObject }) => involvedObject.name)).toEqual(['q', 'r']);
    stop.abort();
    await clock.advance(5000);
    await running;
    expect(clock.pendingTimers).toBe(0);
  });

  test('a component with too many events drops only its own, and the log names it and their number', async () => {
    const { broadcaster, client, logger, stop, record } = createBroadcaster({ bufferSize: 5 });
    for (let index = 0; index < 8; index += 1) record('m', `p${index}`);
    const other = broadcaster.recorderFor('job-controller');
    other.event(Pods, pod('q'), { type: 'Normal', reason: 'Created', message: '' });
    stop.abort();
    await broadcaster.run(stop.signal);
    expect(client.stored(CoreEvents)).toHaveLength(6);
    expect(logger.lines.find(({ message }) => message === 'events were dropped')?.fields).toEqual({
      component: 'replicaset-controller',
      dropped: 3,
    });
  });

  test('says once that events wait for it to run, and once that it has ended', async () => {
    const { broadcaster, client, stop, record, complaints } = createBroadcaster();
    record('m', 'a');
    record('m', 'b');
    const running = broadcaster.run(stop.signal);
    record('m', 'c');
    stop.abort();
    await running;
    expect(client.stored(CoreEvents)).toHaveLength(3);
    record('m', 'd');
    record('m', 'e');
    expect(complaints()).toEqual([
      'the event broadcaster does not run yet: events wait until it does',
      'the event broadcaster has ended: events are lost',
    ]);
  });

  test('events are logged at verbosity 3, those of some components at 0', () => {
    const { broadcaster, logger, record } = createBroadcaster({ alwaysLogged: new Set(['kube-controller-manager']) });
    record('m');
    const process = broadcaster.recorderFor('kube-controller-manager');
    process.event(Pods, pod('q'), { type: 'Normal', reason: 'LeaderElection', message: '' });
    const lines = logger.lines.filter(({ message }) => message === 'event occurred');
    expect(lines.map(({ level, message }) => [level, message])).toEqual([
      ['verbose', 'event occurred'],
      ['info', 'event occurred'],
    ]);
  });
});
