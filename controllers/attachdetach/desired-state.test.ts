import { beforeEach, describe, expect, test } from 'vitest';

import { keyOf, type Pod } from '../../pkg/api/index.ts';
import type { AttachableVolume } from '../../pkg/volumes/index.ts';
import { pod } from '../../test/support/builders.ts';
import { DesiredState } from './desired-state.ts';

const volume = (uniqueName: string): AttachableVolume => {
  return { uniqueName, name: uniqueName, plugin: 'kubernetes.io/csi', isExclusive: true, isMigrated: false };
};
const on = (nodeName: string, name = 'app'): Pod => pod({ name, spec: { nodeName } });
const resolved = (...names: string[]) => ({ attachable: names.map(volume), unattached: [] });
let state = new DesiredState();
beforeEach(() => {
  state = new DesiredState();
  state.manage('a');
});

describe('DesiredState', () => {
  test('pods on nodes that attach themselves need nothing', () => {
    expect(state.add(on('b'), resolved('v'))).toEqual([]);
    expect(state.needsOf('v').size).toBe(0);
  });

  test('a volume is needed until its last pod on the node has stopped', () => {
    expect(state.add(on('a', 'one'), resolved('v'))).toEqual(['v']);
    state.add(on('a', 'two'), resolved('v'));
    state.remove(keyOf(on('a', 'one')));
    expect(state.needsOf('v').get('a')?.pods.size).toBe(1);
    expect(state.remove(keyOf(on('a', 'two')))).toEqual(['v']);
    expect(state.volume('v')).toBeUndefined();
  });

  test('a volume stays if its claim is gone', () => {
    state.add(on('a'), resolved('v'));
    expect(state.add(on('a'), resolved())).toEqual([]);
    expect(state.needsOf('v').has('a')).toBe(true);
  });

  test('a volume whose driver does not attach any more is not needed', () => {
    state.add(on('a'), resolved('v', 'w'));
    expect(state.add(on('a'), { attachable: [volume('w')], unattached: ['v'] })).toEqual(['v']);
    expect(state.volume('v')).toBeUndefined();
  });

  test('a new pod of the same name replaces the old one', () => {
    state.add(on('a'), resolved('v'));
    const next = { ...on('a'), metadata: { ...on('a').metadata, uid: 'next' } };
    expect(state.add(next, resolved('w'))).toEqual(['v', 'w']);
    expect(state.volume('v')).toBeUndefined();
  });

  test('a deleted node is forgotten once no pod of it needs a volume', () => {
    state.add(on('a'), resolved('v'));
    state.forgetNode('a');
    expect(state.isManaged('a')).toBe(true);
    state.remove(keyOf(on('a')));
    expect(state.isManaged('a')).toBe(false);
    state.manage('b');
    state.forgetNode('b');
    expect(state.isManaged('b')).toBe(false);
  });
});
