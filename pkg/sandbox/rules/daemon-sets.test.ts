import { beforeEach, describe, expect, test } from 'vitest';

import type { UntypedObject } from '../../api/index.ts';
import { refusalOf, SandboxApi } from '../../../test/support/sandbox-api.ts';

let sandbox: SandboxApi;
beforeEach(() => {
  sandbox = new SandboxApi();
});

const template = (image: string) => ({
  metadata: { labels: { a: 'b' } },
  spec: { containers: [{ name: 'c', image }] },
});
const daemonSet = (image = 'one') => ({
  metadata: { name: 'd' },
  spec: { selector: { matchLabels: { a: 'b' } }, template: template(image) },
});
const generationOf = ({ metadata }: UntypedObject): string | undefined =>
  metadata.annotations?.['deprecated.daemonset.template.generation'];

describe('the generation of a template', () => {
  test('starts with 1 and counts changes of the template only', () => {
    const created = sandbox.create('daemonsets.apps', daemonSet());
    expect(generationOf(created)).toBe('1');
    const spec = created['spec'] as object;
    const patient = sandbox.update('daemonsets.apps', { ...created, spec: { ...spec, minReadySeconds: 5 } });
    expect(generationOf(patient)).toBe('1');
    const changed = sandbox.update('daemonsets.apps', { ...patient, spec: { ...spec, template: template('two') } });
    expect(generationOf(changed)).toBe('2');
  });

  test('cannot be changed by clients', () => {
    const created = sandbox.create('daemonsets.apps', daemonSet());
    const metadata = { ...created.metadata, annotations: { own: 'x' } };
    const updated = sandbox.update('daemonsets.apps', { ...created, metadata });
    expect(updated.metadata.annotations).toEqual({ own: 'x', 'deprecated.daemonset.template.generation': '1' });
    const status = sandbox.update(
      'daemonsets.apps',
      { ...updated, metadata: { ...updated.metadata, annotations: {} } },
      'status',
    );
    expect(generationOf(status)).toBe('1');
  });
});

describe('the status of a DaemonSet', () => {
  const rows: { name: string; before?: object; status: object; expected: string[] }[] = [
    { name: 'counts', status: { numberReady: 1 }, expected: [] },
    {
      name: 'has no negative counts',
      status: { numberReady: -1 },
      expected: ['status.numberReady: Invalid value: -1: must be greater than or equal to 0'],
    },
    {
      name: 'forgets no collision',
      before: { collisionCount: 2 },
      status: { collisionCount: 1 },
      expected: ['status.collisionCount: Invalid value: 1: cannot be decremented'],
    },
  ];
  for (const { name, before, status, expected } of rows) {
    test(name, () => {
      const created = sandbox.create('daemonsets.apps', daemonSet());
      const counted = before ? sandbox.update('daemonsets.apps', { ...created, status: before }, 'status') : created;
      expect(refusalOf(() => sandbox.update('daemonsets.apps', { ...counted, status }, 'status'))).toEqual(expected);
    });
  }
});

describe('a revision', () => {
  const revision = { metadata: { name: 'r' }, revision: 1, data: { spec: { '10': '<', '2': 1 } } };

  test('cannot change its data, but can change its number', () => {
    const created = sandbox.create('controllerrevisions.apps', revision);
    const other = { ...created, data: { spec: {} } };
    expect(refusalOf(() => sandbox.update('controllerrevisions.apps', other))).toEqual([
      'data: Invalid value: {"spec":{}}: field is immutable',
    ]);
    expect(sandbox.update('controllerrevisions.apps', { ...created, revision: 2 })['revision']).toBe(2);
  });

  test('has a number that is not negative', () => {
    expect(refusalOf(() => sandbox.create('controllerrevisions.apps', { ...revision, revision: -1 }))).toEqual([
      'revision: Invalid value: -1: must be greater than or equal to 0',
    ]);
  });

  test('is served with the bytes that Go writes', () => {
    sandbox.create('controllerrevisions.apps', revision);
    const json = sandbox.store.get('controllerrevisions.apps', 'default/r' as never)?.json ?? '';
    expect(json.slice(json.indexOf('"data"'))).toBe(String.raw`"data":{"spec":{"10":"\u003c","2":1}}}`);
  });
});
