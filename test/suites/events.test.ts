import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import {
  ConfigMaps,
  CoreEvents,
  keyOf,
  Namespaces,
  Nodes,
  type ConfigMap,
  type CoreEvent,
} from '../../pkg/api/index.ts';
import { ClientBuilder, loadKubeconfig, type Client } from '../../pkg/client/index.ts';
import { EventBroadcaster, type EventRecorder, type NewEvent } from '../../pkg/events/index.ts';
import { systemClock } from '../../pkg/time/index.ts';
import { RecordingLogger } from '../support/loggers.ts';
import { createNamespace, useSharedCluster } from './use-cluster.ts';

const cluster = useSharedCluster();
let clients: ClientBuilder;
let client: Client;

beforeAll(async () => {
  const connection = await loadKubeconfig({ path: cluster.kubeconfig() }, systemClock);
  clients = new ClientBuilder({ connection, clock: systemClock, userAgent: 'test' });
  client = clients.clientFor('events');
});
afterAll(() => clients.close());

const warning = (message: string): NewEvent => ({ type: 'Warning', reason: 'Failed', message });

/** Calls `record`, sends all events, and returns the logged warnings and errors. */
async function recordAll(record: (recorder: EventRecorder) => void): Promise<string[]> {
  const logger = new RecordingLogger();
  const broadcaster = new EventBroadcaster({ client, clock: systemClock, logger, drainMs: 60_000 });
  const stop = new AbortController();
  const running = broadcaster.run(stop.signal);
  record(broadcaster.recorderFor('job-controller'));
  stop.abort();
  await running;
  return logger.lines.filter(({ level }) => level === 'error' || level === 'warn').map(({ message }) => message);
}

async function createSubject(signal: AbortSignal): Promise<ConfigMap> {
  const namespace = await createNamespace(cluster, 'events');
  return client.create(ConfigMaps, { metadata: { namespace, name: 'subject' } }, signal);
}

async function eventsIn({ metadata }: ConfigMap, signal: AbortSignal): Promise<CoreEvent[]> {
  const { items } = await client.listAll(CoreEvents, { namespace: metadata.namespace }, signal);
  return items.sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
}

describe('recorded events', () => {
  test('are the same objects as those of the Go recorder', async ({ signal }) => {
    const subject = await createSubject(signal);
    const { name, namespace, uid, resourceVersion } = subject.metadata;
    expect(await recordAll((recorder) => recorder.event(ConfigMaps, subject, warning('no luck')))).toEqual([]);
    const second = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    expect(await eventsIn(subject, signal)).toEqual([
      {
        metadata: {
          name: expect.stringMatching(/^subject\.[0-9a-f]{16}$/),
          namespace,
          uid: expect.any(String),
          resourceVersion: expect.any(String),
          creationTimestamp: second,
        },
        involvedObject: { kind: 'ConfigMap', namespace, name, uid, apiVersion: 'v1', resourceVersion },
        reason: 'Failed',
        message: 'no luck',
        source: { component: 'job-controller' },
        firstTimestamp: second,
        lastTimestamp: second,
        count: 1,
        type: 'Warning',
        eventTime: null,
        reportingComponent: 'job-controller',
        reportingInstance: '',
      },
    ]);
  });

  test('that are the same are counted', async ({ signal }) => {
    const subject = await createSubject(signal);
    await recordAll((recorder) => {
      for (let time = 0; time < 3; time += 1) recorder.event(ConfigMaps, subject, warning('again'));
    });
    expect(await eventsIn(subject, signal)).toMatchObject([{ message: 'again', count: 3 }]);
  });

  test('that are similar are combined from the tenth on', async ({ signal }) => {
    const subject = await createSubject(signal);
    await recordAll((recorder) => {
      for (let time = 1; time <= 12; time += 1) recorder.event(ConfigMaps, subject, warning(`try ${time}`));
    });
    const events = await eventsIn(subject, signal);
    expect(events.map(({ message, count }) => `${message} ×${count}`)).toEqual([
      ...Array.from({ length: 9 }, (_, index) => `try ${index + 1} ×1`),
      '(combined from similar events): try 12 ×3',
    ]);
    expect(events.at(-1)?.reportingComponent).toBe('');
  });

  test('are limited for each object', async ({ signal }) => {
    const subject = await createSubject(signal);
    await recordAll((recorder) => {
      for (let time = 0; time < 40; time += 1) recorder.event(ConfigMaps, subject, warning('spam'));
    });
    expect(await eventsIn(subject, signal)).toMatchObject([{ count: 25 }]);
  });

  test('are created again when they have expired', async ({ signal }) => {
    const subject = await createSubject(signal);
    const logger = new RecordingLogger();
    const broadcaster = new EventBroadcaster({ client, clock: systemClock, logger });
    const recorder = broadcaster.recorderFor('job-controller');
    recorder.event(ConfigMaps, subject, warning('again'));
    await broadcaster.run(AbortSignal.abort());
    await client.deleteCollection(CoreEvents, { namespace: subject.metadata.namespace }, signal);
    recorder.event(ConfigMaps, subject, warning('again'));
    await broadcaster.run(AbortSignal.abort());
    expect(await eventsIn(subject, signal)).toMatchObject([{ count: 2 }]);
  });

  test('in a terminating namespace are dropped without an error, others are not', async ({ signal }) => {
    const going = await createSubject(signal);
    const staying = await createSubject(signal);
    await client.delete(Namespaces, keyOf({ metadata: { name: going.metadata.namespace } }), {}, signal);
    const gone = { metadata: { namespace: 'never-was', name: 'subject' } };
    const complaints = await recordAll((recorder) => {
      recorder.event(ConfigMaps, going, warning('lost'));
      recorder.event(ConfigMaps, gone, warning('lost'));
      recorder.event(ConfigMaps, staying, warning('kept'));
    });
    expect(complaints).toEqual([]);
    expect(await eventsIn(going, signal)).toEqual([]);
    expect(await eventsIn(staying, signal)).toMatchObject([{ message: 'kept' }]);
  });

  test('about cluster-scoped objects are in the namespace default', async ({ signal }) => {
    const name = `node-${(await createSubject(signal)).metadata.uid}`;
    await recordAll((recorder) => recorder.event(Nodes, { metadata: { name, uid: name } }, warning('down')));
    const about = { namespace: 'default', fieldSelector: `involvedObject.name=${name}` };
    const { items } = await client.listAll(CoreEvents, about, signal);
    expect(items.map(({ involvedObject }) => involvedObject)).toEqual([
      { kind: 'Node', name, uid: name, apiVersion: 'v1' },
    ]);
  });
});
