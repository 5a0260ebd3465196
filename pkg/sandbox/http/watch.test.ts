import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';

import { describe, expect, test } from 'vitest';

import { FakeClock, settle } from '../../../test/support/fake-clock.ts';
import { objectKey, type UntypedObject } from '../../api/index.ts';
import { Registry } from '../registry/index.ts';
import { Api } from '../rest/api.ts';
import { Store } from '../storage/index.ts';
import type { View } from './represent.ts';
import { startWatch, type WatchRequest } from './watch.ts';

/** Records what the server sends. */
class RecordingSocket extends Socket {
  text = '';

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString();
    done();
  }
}

const request: WatchRequest = {
  resourceVersion: '',
  resourceVersionMatch: '',
  sendInitialEvents: undefined,
  allowBookmarks: false,
  timeoutSeconds: 60,
};
const view: View = { representation: 'object', includeObject: 'Metadata', nowMs: 0 };

function configMap(name: string, labels: Record<string, string> = {}): UntypedObject {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace: 'ns', name, labels, uid: name, resourceVersion: '', creationTimestamp: '' },
  };
}

function setUp() {
  const clock = new FakeClock();
  const store = new Store({ historyLength: 2 });
  const registry = new Registry();
  const api = new Api({ store, registry, clock, random: () => 0 });
  const resource = registry.get('', 'v1', 'configmaps');
  const put = (name: string, labels?: Record<string, string>) =>
    store.put('configmaps', objectKey('ns', name), configMap(name, labels));
  const watch = (asked: Partial<WatchRequest> = {}, shown: Partial<View> = {}) => {
    const socket = new RecordingSocket();
    const response = new ServerResponse(new IncomingMessage(socket));
    response.assignSocket(socket);
    const deps = { api, clock, random: () => 0, bookmarkEveryMs: 60_000 };
    startWatch(deps, resource, { ...request, ...asked }, { view: { ...view, ...shown }, response });
    return { socket, response, events: () => eventsIn(socket.text), close: () => response.emit('close') };
  };
  return { clock, store, put, watch };
}

/** The events of a chunked body, as `TYPE name@version`. */
function eventsIn(text: string): string[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as { type: string; object: UntypedObject & { code?: number } })
    .map(({ type, object }) =>
      type === 'ERROR'
        ? `ERROR ${object.code}`
        : `${type} ${object.metadata.name ?? ''}@${object.metadata.resourceVersion}`,
    );
}

describe('a watch', () => {
  test('answers with its headers before the first event', async () => {
    const { clock, watch } = setUp();
    const { socket, close } = watch();
    await settle();
    expect(socket.text).toContain('HTTP/1.1 200 OK');
    expect(socket.text).toContain('Content-Type: application/json');
    close();
    expect(clock.pendingTimers).toBe(0);
  });

  const events = [
    {
      name: 'starts with the existing objects',
      asked: {},
      expected: ['ADDED a@2', 'ADDED b@3', 'MODIFIED a@4', 'ADDED c@5'],
    },
    { name: 'resumes from a version', asked: { resourceVersion: '3' }, expected: ['MODIFIED a@4', 'ADDED c@5'] },
    {
      name: 'ends its initial events with a bookmark',
      asked: { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan', allowBookmarks: true },
      expected: ['ADDED a@2', 'ADDED b@3', 'BOOKMARK @3', 'MODIFIED a@4', 'ADDED c@5'],
    },
    {
      name: 'sends ADDED for an object that starts to match its selector',
      asked: { labelSelector: 'new' },
      expected: ['ADDED a@4'],
    },
    {
      name: 'sends DELETED for an object that no longer matches its selector',
      asked: { labelSelector: '!new' },
      expected: ['ADDED a@2', 'ADDED b@3', 'DELETED a@4', 'ADDED c@5'],
    },
    { name: 'sends no events of other namespaces', asked: { namespace: 'other' }, expected: [] },
  ];
  for (const { name, asked, expected } of events) {
    test(name, async () => {
      const { put, watch } = setUp();
      put('a');
      put('b');
      const { events: received, close } = watch(asked);
      put('a', { new: '' });
      put('c');
      await settle();
      expect(received()).toEqual(expected);
      close();
    });
  }

  test('from an expired version sends an error as its first event', async () => {
    const { put, watch } = setUp();
    for (let index = 0; index < 6; index++) put('a');
    const { socket, events: received } = watch({ resourceVersion: '2' });
    await settle();
    expect(socket.text).toContain('200 OK');
    expect(received()).toEqual(['ERROR 410']);
  });

  test('sends a bookmark with the current version when idle', async () => {
    const { clock, put, store, watch } = setUp();
    const { events: received, close } = watch({ allowBookmarks: true, timeoutSeconds: 600, labelSelector: 'x' });
    put('a');
    await clock.advance(60_000);
    await settle();
    expect(received()).toEqual([`BOOKMARK @${store.version}`]);
    close();
  });

  test('ends at its timeout', async () => {
    const { clock, watch } = setUp();
    const { response } = watch({ timeoutSeconds: 5 });
    await clock.advance(4999);
    expect(response.writableEnded).toBe(false);
    await clock.advance(1);
    expect(response.writableEnded).toBe(true);
  });

  const refusals = [
    { name: 'a match alone', asked: { resourceVersionMatch: 'NotOlderThan' }, code: 422 },
    { name: 'initial events without a match', asked: { sendInitialEvents: true }, code: 422 },
    { name: 'a selector that is not valid', asked: { labelSelector: 'a=b=c' }, code: 400 },
    { name: 'a version that is not a number', asked: { resourceVersion: 'x' }, code: 400 },
  ];
  for (const { name, asked, code } of refusals) {
    test(`with ${name} is refused before anything is sent`, () =>
      expect(() => setUp().watch(asked)).toThrow(expect.objectContaining({ code })));
  }
});
