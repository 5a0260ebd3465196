import { describe, expect, test } from 'vitest';

import { configMap, deployment, pod, replicaSet, secret } from '../../test/support/builders.ts';
import { describePlan } from './describe-plan.ts';

const web = replicaSet({ name: 'web-1', spec: { replicas: 3 } });

const rows: readonly { readonly name: string; readonly plan: unknown; readonly expected: readonly string[] }[] = [
  {
    name: 'an action is its kind, its object and its numbers',
    plan: { actions: [{ kind: 'scaleReplicaSet', replicaSet: web, from: 3, to: 5 }], result: {} },
    expected: ['scale replica set web-1 replicas 3 from 3 to 5'],
  },
  {
    name: 'an object that is to be created is told by its generated name',
    plan: [{ kind: 'createPod', pod: { metadata: { generateName: 'web-1-' } } }],
    expected: ['create pod web-1-'],
  },
  {
    name: 'an object with a phase is told with it',
    plan: [{ kind: 'updateStatus', claim: pod({ name: 'a', status: { phase: 'Running' } }) }],
    expected: ['update status a phase Running'],
  },
  {
    name: 'an event is told with its reason and message',
    plan: [{ kind: 'recordEvent', event: { type: 'Normal', reason: 'Scaled', message: 'to 2', source: 'x' } }],
    expected: ['record event "Normal" "Scaled" "to 2"'],
  },
  {
    name: 'a key is told as it is',
    plan: [{ kind: 'requeue', key: 'default/web', afterMs: 500 }],
    expected: ['requeue default/web after ms 500'],
  },
  {
    name: 'a plan without actions is told field by field',
    plan: { podsToDelete: [pod({ name: 'a' }), pod({ name: 'b' })], diff: -2, isPaused: false, reason: 'TooMany' },
    expected: ['pods to delete: a, b', 'diff: -2', 'is paused: false', 'reason: TooMany'],
  },
  {
    name: 'maps and sets are told by their keys',
    plan: { byNode: new Map([['node-1', 3]]), names: new Set(['a', 'b']), none: new Set() },
    expected: ['by node: node-1', 'names: a, b'],
  },
  {
    name: 'objects in fields are told by name, other fields by their details',
    plan: { owner: deployment({ name: 'web' }), counts: { ready: 2, total: 3 }, empty: {} },
    expected: ['owner: web', 'counts: ready 2 total 3'],
  },
  {
    name: 'lists of plans are told one after the other',
    plan: ['wait', [{ kind: 'adopt' }]],
    expected: ['wait', 'adopt'],
  },
  {
    name: 'a whole object is told field by field: its kind is no action',
    plan: { kind: 'Pod', metadata: { name: 'a' } },
    expected: ['metadata: "a"'],
  },
  {
    name: 'lists of things without a name are counted',
    plan: { patches: [{ op: 'add' }, 3] },
    expected: ['patches: 2'],
  },
];

const nothing: readonly unknown[] = [undefined, null, '', 7, {}, [], { actions: [] }, { deleted: [], note: 'x' }];

describe('describePlan', () => {
  for (const { name, plan, expected } of rows) {
    test(name, () => expect(describePlan(plan)).toEqual(expected));
  }
  for (const plan of nothing) {
    test(`${JSON.stringify(plan) ?? 'undefined'} is nothing to do`, () => expect(describePlan(plan)).toEqual([]));
  }
});

const value = 'c2VzYW1l';
const hidden = secret({ name: 'password' }, { data: { key: value, name: value, password: value } });

const secretPlans: Readonly<Record<string, unknown>> = {
  'a secret in an action': [{ kind: 'createSecret', secret: hidden }],
  'a secret in a field': { secret: hidden, others: [hidden], byName: new Map([['password', hidden]]) },
  'a secret as the plan': hidden,
  'a config map in an action': [{ kind: 'update', configMap: configMap({ name: 'a' }, { message: value }) }],
  'data in an action': [{ kind: 'write', data: { key: value, name: value }, stringData: { key: value } }],
  'data in a field': { data: { key: value, name: value }, stringData: { message: value }, binaryData: { key: value } },
  'data in a patch': [{ kind: 'patch', patch: { type: 'merge', body: { data: { key: value } } } }],
  'a list of data': [{ kind: 'write', wanted: { data: [value] } }, { data: [value] }],
  'a token': [
    { kind: 'sign', token: value, tokens: [value], bearerToken: value },
    { token: value, tokens: [value] },
  ],
  'a string under another name': [{ kind: 'sign', password: value, content: value }, { password: value }],
  'a uid': [
    { kind: 'delete', uid: value, uids: [value], ownerUid: value },
    { uids: new Set([value]), uid: value },
  ],
};

describe('a plan never tells', () => {
  for (const [name, plan] of Object.entries(secretPlans)) {
    test(name, () => expect(describePlan(plan).join('\n')).not.toContain(value));
  }
  test('but it tells the name of a secret', () =>
    expect(describePlan([{ kind: 'createSecret', secret: hidden }])).toEqual(['create secret password']));
});

describe('a long plan is cut', () => {
  test('after twenty lines, and says how many are left', () => {
    const actions = Array.from({ length: 1000 }, (_, index) => ({ kind: 'deletePod', key: `default/web-${index}` }));
    const lines = describePlan({ actions });
    expect(lines).toHaveLength(21);
    expect(lines.slice(19)).toEqual(['delete pod default/web-19', '… and 980 more']);
  });

  test('not at twenty lines', () => {
    const lines = describePlan(Array.from({ length: 20 }, () => ({ kind: 'wait' })));
    expect(lines).toEqual(Array.from({ length: 20 }, () => 'wait'));
  });

  test('within a line, in each list', () => {
    const pods = Array.from({ length: 100 }, (_, index) => pod({ name: `web-${index}` }));
    const names = 'web-0, web-1, web-2, web-3, web-4, web-5 and 94 more';
    expect(describePlan({ pods })).toEqual([`pods: ${names}`]);
    expect(describePlan([{ kind: 'deletePods', pods }])).toEqual([`delete pods pods ${names}`]);
  });

  test('within a line, after six details', () => {
    const counts = Object.fromEntries(Array.from({ length: 10 }, (_, index) => [`c${index}`, index]));
    expect(describePlan([{ kind: 'count', counts }])).toEqual(['count c0 0 c1 1 c2 2 c3 3 c4 4 c5 5']);
  });

  test('at objects that contain themselves', () => {
    const loop: Record<string, unknown> = { count: 1 };
    loop['self'] = loop;
    expect(describePlan([{ kind: 'follow', loop }])).toEqual(['follow count 1 count 1 count 1']);
  });
});
