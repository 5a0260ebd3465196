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

/** Keeps what the server sends. */
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
    return { socket, events: () => eventsIn(socket.text), close: () => response.emit('close') };
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
});
