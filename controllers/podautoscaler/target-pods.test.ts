import { describe, expect, test } from 'vitest';

import { keyOf, objectKey, Pods, type Pod } from '../../pkg/api/index.ts';
import { pod } from '../../test/support/builders.ts';
import { FakeInformer } from '../../test/support/fake-informer.ts';
import { TargetPods } from './target-pods.ts';

const key = (name: string) => objectKey('default', name);
const web = (name: string, labels: Record<string, string>): Pod => pod({ name, labels });

function start(...pods: Pod[]) {
  const informer = new FakeInformer<Pod>(Pods);
  const target = new TargetPods(informer.store);
  informer.addHandler(target.handler());
  for (const each of pods) informer.set(each);
  const namesOf = (autoscaler: string) => target.podsOf(key(autoscaler)).map(({ metadata }) => metadata.name);
  return { informer, target, namesOf };
}

describe('TargetPods', () => {
  test('finds the pods of a selector, now and later', () => {
    const { informer, target, namesOf } = start(web('a', { app: 'web' }), web('b', { app: 'db' }));
    target.add(key('web'));
    target.select(key('web'), 'app=web');
    expect(namesOf('web')).toEqual(['a']);
    informer.set(web('c', { app: 'web' }));
    expect(namesOf('web')).toEqual(['a', 'c']);
    informer.set(web('a', { app: 'db' }));
    expect(namesOf('web')).toEqual(['c']);
    informer.delete(web('c', { app: 'web' }));
    expect(namesOf('web')).toEqual([]);
  });

  test('finds pods by selectors without a required label', () => {
    const { informer, target, namesOf } = start(web('a', { app: 'web' }));
    target.add(key('web'));
    target.select(key('web'), 'app in (web,api),!old');
    informer.set(web('b', { app: 'api' }));
    informer.set(web('c', { app: 'api', old: '' }));
    expect(namesOf('web')).toEqual(['a', 'b']);
  });

  test('a changed selector replaces the earlier one', () => {
    const { target, namesOf } = start(web('a', { app: 'web' }), web('b', { app: 'db' }));
    target.add(key('web'));
    target.select(key('web'), 'app=web');
    target.select(key('web'), 'app=db');
    expect(namesOf('web')).toEqual(['b']);
    expect(target.selecting([web('a', { app: 'web' })])).toEqual([]);
  });

  test('tells all autoscalers of some pods', () => {
    const first = web('a', { app: 'web', tier: 'front' });
    const { target } = start(first);
    for (const name of ['web', 'front', 'db']) target.add(key(name));
    target.select(key('web'), 'app=web');
    target.select(key('front'), 'tier');
    target.select(key('db'), 'app=db');
    expect(target.selecting([first]).toSorted()).toEqual([key('front'), key('web')]);
  });

  test('forgets a removed autoscaler, and does not learn its selector again', () => {
    const first = web('a', { app: 'web' });
    const { target, namesOf } = start(first);
    target.add(key('web'));
    target.select(key('web'), 'app=web');
    target.remove(key('web'));
    target.select(key('web'), 'app=web');
    expect([target.size, namesOf('web'), target.selecting([first])]).toEqual([0, [], []]);
    expect(keyOf(first)).toBe('default/a');
  });

  test('refuses an unusable selector, and keeps the earlier one', () => {
    const { target, namesOf } = start(web('a', { app: 'web' }));
    target.add(key('web'));
    target.select(key('web'), 'app=web');
    expect(() => target.select(key('web'), 'a b')).toThrow('unable to parse requirement');
    expect(namesOf('web')).toEqual(['a']);
  });
});
