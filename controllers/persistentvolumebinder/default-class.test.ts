import { expect, test } from 'vitest';

import { StorageClasses } from '../../pkg/api/index.ts';
import { build } from '../../test/support/builders.ts';
import type { Class } from '../../pkg/volumes/index.ts';
import { selectDefaultClass } from './default-class.ts';

const stable = 'storageclass.kubernetes.io/is-default-class';
const classOf = (
  name: string,
  annotations: Record<string, string>,
  creationTimestamp = '2026-01-01T00:00:00Z',
): Class =>
  build(StorageClasses, { name, annotations, metadata: { creationTimestamp } }, { provisioner: 'example.com' });

test.each([
  ['none without annotation', [classOf('a', {})], undefined],
  ['none that says no', [classOf('a', { [stable]: 'false' })], undefined],
  ['one with the annotation', [classOf('a', {}), classOf('b', { [stable]: 'true' })], 'b'],
  [
    'one with the older annotation',
    [classOf('a', { 'storageclass.beta.kubernetes.io/is-default-class': 'true' })],
    'a',
  ],
  ['the newest', [classOf('a', { [stable]: 'true' }), classOf('b', { [stable]: 'true' }, '2026-01-02T00:00:00Z')], 'b'],
  [
    'the first by name of those made at the same time',
    [classOf('b', { [stable]: 'true' }), classOf('a', { [stable]: 'true' })],
    'a',
  ],
])('the default class is %s', (_which, classes, expected) => expect(selectDefaultClass(classes)).toBe(expected));
