import { describe, expect, test } from 'vitest';

import { Registry } from '../registry/index.ts';
import { parseFieldSelector } from './fields.ts';
import { parseLabelSelector } from './labels.ts';

const labels = { app: 'web', tier: 'front', size: '10' };
const labelRows: readonly (readonly [string, boolean])[] = [
  ['', true],
  ['app=web', true],
  ['app==web', true],
  ['app = web , tier=front', true],
  ['app!=web', false],
  ['absent!=x', true],
  ['app in (web,db)', true],
  ['app in (db)', false],
  ['app notin (db, cache)', true],
  ['absent notin (x)', true],
  ['app', true],
  ['!app', false],
  ['! absent', true],
  ['size>9', true],
  ['size<9', false],
  ['app in (web),tier notin (back),!absent', true],
  ['app=', false],
];

describe('parseLabelSelector', () => {
  for (const [text, expected] of labelRows) {
    test(`"${text}" ${expected ? 'selects' : 'does not select'}`, () =>
      expect(parseLabelSelector(text)(labels)).toBe(expected));
  }
  for (const [text, why] of [
    ['a in', "found '' expected: '('"],
    ['a in b', "found 'b' expected: '('"],
    ['a b', "found 'b', expected: in, notin, =, ==, !=, gt, lt"],
  ] as const) {
    test(`"${text}" is refused with the reason`, () => expect(() => parseLabelSelector(text)).toThrow(why));
  }
  for (const text of ['a=b=c', 'a in b', '=x', 'a in (b', 'a b', '-x', 'a=b c', ',']) {
    test(`"${text}" is refused`, () => expect(() => parseLabelSelector(text)).toThrow('unable to parse'));
  }
});

const pods = new Registry().get('', 'v1', 'pods');
const metadata = { name: 'a', namespace: 'b', uid: '', resourceVersion: '', creationTimestamp: '' };
const pod = { metadata, spec: { nodeName: 'n' }, status: { phase: 'Running' } };
const fieldRows: readonly (readonly [string, boolean])[] = [
  ['', true],
  ['metadata.name=a', true],
  ['metadata.name!=a', false],
  ['spec.nodeName=n,status.phase=Running', true],
  ['status.podIP=', true],
  ['spec.hostNetwork=false', true],
];

describe('parseFieldSelector', () => {
  for (const [text, expected] of fieldRows) {
    test(`"${text}" ${expected ? 'selects' : 'does not select'}`, () =>
      expect(parseFieldSelector(text, pods)(pod)).toBe(expected));
  }
  test('an unsupported field is refused by name', () =>
    expect(() => parseFieldSelector('spec.dnsPolicy=x', pods)).toThrow('field label not supported: spec.dnsPolicy'));
});
