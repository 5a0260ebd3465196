import { describe, expect, test } from 'vitest';

import { objectKey, type UntypedObject } from '../../api/index.ts';
import { Store, type Change } from './store.ts';

const key = (name: string) => objectKey('default', name);
const object = (name: string, value = 0): UntypedObject => ({
  metadata: { namespace: 'default', name, uid: name, resourceVersion: '', creationTimestamp: '' },
  value,
});

describe('Store', () => {
  test('assigns increasing versions across all resources', () => {
    const store = new Store({ historyLength: 10 });
    const versions = [
      store.put('a', key('x'), object('x')).version,
      store.put('b', key('y'), object('y')).version,
      store.put('a', key('x'), object('x', 1)).version,
      store.remove('b', key('y'), object('y')).version,
    ];
    expect(versions).toEqual(versions.toSorted((a, b) => a - b));
    expect(new Set(versions).size).toBe(4);
    expect(store.version).toBe(versions.at(-1));
    expect(store.get('a', key('x'))?.object.metadata.resourceVersion).toBe(String(versions[2]));
  });

  test('notifies the listeners of a resource of its changes only, in order', () => {
    const store = new Store({ historyLength: 10 });
    const heard: Change[] = [];
    const stop = store.listen('a', (change) => heard.push(change));
    store.put('a', key('x'), object('x'));
    store.put('b', key('y'), object('y'));
    store.put('a', key('x'), object('x', 1));
    store.remove('a', key('x'), object('x', 1));
    stop();
    store.put('a', key('z'), object('z'));
    expect(heard.map(({ type }) => type)).toEqual(['ADDED', 'MODIFIED', 'DELETED']);
    expect(heard.map(({ previous }) => previous?.version)).toEqual([undefined, heard[0]?.version, heard[1]?.version]);
  });

  test('returns the objects of an earlier version', () => {
    const store = new Store({ historyLength: 10 });
    store.put('a', key('kept'), object('kept'));
    const { version } = store.put('a', key('removed'), object('removed'));
    store.put('a', key('kept'), object('kept', 1));
    store.remove('a', key('removed'), object('removed'));
    store.put('a', key('new'), object('new'));
    const then = store.entriesAt('a', version);
    expect([...then.keys()].sort()).toEqual([key('kept'), key('removed')]);
    expect(then.get(key('kept'))?.object['value']).toBe(0);
    expect(store.keys('a')).toEqual([key('kept'), key('new')]);
  });

  test('refuses to resume from an expired version', () => {
    const store = new Store({ historyLength: 2 });
    const { version } = store.put('a', key('x'), object('x'));
    for (let value = 1; value <= 5; value++) store.put('a', key('x'), object('x', value));
    expect(() => store.changesSince('a', version)).toThrow('too old resource version');
    expect(store.changesSince('a', store.version - 1)).toHaveLength(1);
    store.compact();
    expect(() => store.changesSince('a', store.version - 1)).toThrow('too old resource version');
    expect(store.changesSince('a', store.version)).toEqual([]);
  });
});
