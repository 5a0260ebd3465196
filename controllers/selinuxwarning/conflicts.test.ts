import { beforeEach, describe, expect, test } from 'vitest';

import { objectKey } from '../../pkg/api/index.ts';
import { conflictEvent, VolumeUse, type Conflict } from './conflicts.ts';

const [a, b, c] = ['a', 'b', 'c'].map((name) => objectKey('default', name)) as [never, never, never];
const mount = (label: string) => ({ label, changePolicy: 'MountOption' });
const recursive = { label: '', changePolicy: 'Recursive' };
let current: Conflict[] = [];
let use = new VolumeUse(() => undefined);
beforeEach(() => {
  current = [];
  use = new VolumeUse((ended, begun) => {
    current = [...current.filter((conflict) => !ended.includes(conflict)), ...begun];
  });
});

describe('VolumeUse', () => {
  test('pods with the same label do not conflict', () => {
    expect(use.add('v', 'd', a, mount(':::s0:c1'))).toEqual([]);
    expect(use.add('v', 'd', b, mount(':::s0:c1'))).toEqual([]);
  });

  test('a conflict is told to both pods, once', () => {
    use.add('v', 'd', a, mount(':::s0:c1'));
    const found = use.add('v', 'd', b, mount(':::s0:c2'));
    expect(found.map(({ pod, property }) => [pod, property])).toEqual([
      [b, 'SELinuxLabel'],
      [a, 'SELinuxLabel'],
    ]);
    expect(use.add('v', 'd', b, mount(':::s0:c2'))).toEqual([]);
  });

  test('pods with different policies conflict in both', () => {
    use.add('v', 'd', a, mount(':::s0:c1'));
    const properties = use.add('v', 'd', b, recursive).map(({ property }) => property);
    expect(properties).toEqual(['SELinuxChangePolicy', 'SELinuxChangePolicy', 'SELinuxLabel', 'SELinuxLabel']);
  });

  test('volumes do not conflict with each other', () => {
    use.add('v', 'd', a, mount(':::s0:c1'));
    expect(use.add('w', 'd', b, mount(':::s0:c2'))).toEqual([]);
  });

  test('a conflict ends with one of its pods, and others stay', () => {
    use.add('v', 'd', a, mount(':::s0:c1'));
    use.add('v', 'd', b, mount(':::s0:c2'));
    use.add('v', 'd', c, mount(':::s0:c3'));
    use.remove(a);
    expect(current.map(({ pod }) => pod).sort()).toEqual([b, c]);
    use.remove(b);
    use.remove(c);
    expect(current).toEqual([]);
    expect(use.podsOfDriver('d')).toEqual([]);
  });

  test('the pods of a driver are found', () => {
    use.add('v', 'd', a, mount('x'));
    use.add('w', 'd', b, mount('x'));
    use.add('x', 'other', c, mount('x'));
    expect(use.podsOfDriver('d')).toEqual([a, b]);
  });
});

test('the message names no pod of another namespace', () => {
  const conflict = {
    property: 'SELinuxLabel',
    pod: a,
    value: 'x',
    otherPod: objectKey('secret', 'name'),
    otherValue: 'y',
  } as const;
  const { message } = conflictEvent(conflict);
  expect(message).toMatch(/^SELinuxLabel"x" conflicts with another pod /);
  expect(message).not.toMatch(/secret|name/);
});
