import { describe, expect, test } from 'vitest';

import { DaemonSets, parseJson, type ControllerRevision } from '../api/index.ts';
import { daemonSet } from '../../test/support/builders.ts';
import { newRevision, revisionHash, revisionName } from './new-revision.ts';
import { revisionData, templateOfRevision, templatePatch, type Revised } from './revision-data.ts';

const template = String.raw`{"metadata":{"labels":{"2":"b","10":"a","1.5":"c"},"annotations":{"x":"a<b>&c\u2028\n\u0001\b\f"}},"spec":{"terminationGracePeriodSeconds":9007199254740993,"x":9223372036854775807,"y":-0.5,"z":1e-7,"containers":[{"name":"app","a&b":"é","ok":true,"resources":{}}]}}`;
/** What the Go binary stores for this template, and the hashes that it computes for it. */
const golden = String.raw`{"spec":{"template":{"$patch":"replace","metadata":{"annotations":{"x":"a\u003cb\u003e\u0026c\u2028\n\u0001\b\f"},"labels":{"1.5":"c","10":"a","2":"b"}},"spec":{"containers":[{"a\u0026b":"é","name":"app","ok":true,"resources":{}}],"terminationGracePeriodSeconds":9007199254740992,"x":9223372036854776000,"y":-0.5,"z":1e-7}}}}`;

function ownerOf(json: string): Revised {
  return {
    ...daemonSet({ name: 'web' }),
    spec: { template: parseJson(Buffer.from(json)) as Revised['spec']['template'] },
  };
}

describe('the data of a revision', () => {
  test('has the bytes that Go writes', () => expect(templatePatch(ownerOf(template))).toBe(golden));

  test('is recognised after it was stored', () => {
    const stored = { data: parseJson(Buffer.from(golden)) } as Pick<ControllerRevision, 'data'>;
    expect(revisionData(stored)).toBe(golden);
  });

  test('is recognised as Kubernetes 1.33 wrote it, with a null creation time', () => {
    const before = {
      spec: { template: { $patch: 'replace', metadata: { creationTimestamp: null, labels: { a: 'b' } } } },
    };
    expect(revisionData({ data: before })).toBe(templatePatch(ownerOf('{"metadata":{"labels":{"a":"b"}}}')));
  });

  test('restores the template', () => {
    const owner = daemonSet({ name: 'web' });
    const made = newRevision({ kind: DaemonSets, owner, revision: 1n, collisionCount: undefined, hashLabel: 'hash' });
    const stored = { ...made, data: JSON.parse(JSON.stringify(made.data)) } as ControllerRevision;
    expect(templateOfRevision(stored)).toEqual(owner.spec.template);
  });

  test('restores nothing if it is not that of a template', () => {
    for (const data of [undefined, null, 'x', {}, { spec: null }, { spec: { template: 1 } }]) {
      expect(templateOfRevision({ data } as unknown as ControllerRevision)).toBeUndefined();
    }
  });
});

describe('the name of a revision', () => {
  test('ends in the hash that Go computes', () => {
    expect(revisionHash(golden, undefined)).toBe('76775f7799');
    expect(revisionHash(golden, 0)).toBe('7f77db885c');
    expect(revisionHash(golden, 12)).toBe('86b6967cf8');
  });

  test('is never longer than a name may be', () => {
    expect(revisionName('web', 'abc')).toBe('web-abc');
    expect(revisionName('a'.repeat(253), '2'.repeat(10))).toBe(`${'a'.repeat(223)}-2222222222`);
  });
});

describe('newRevision', () => {
  const owner = daemonSet({ name: 'web', annotations: { note: 'x' } });
  const describedAs = { kind: DaemonSets, owner, revision: 3n, collisionCount: undefined, hashLabel: 'hash' };

  test('has the labels of the template, the annotations of its owner and the hash', () => {
    const { metadata, revision } = newRevision(describedAs);
    const hash = revisionHash(templatePatch(owner), undefined);
    expect(metadata).toMatchObject({
      name: `web-${hash}`,
      namespace: 'default',
      labels: { app: 'web', hash },
      annotations: { note: 'x' },
      ownerReferences: [{ apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'web', controller: true }],
    });
    expect(revision).toBe(3);
  });

  test('has another name after a collision', () => {
    const after = newRevision({ ...describedAs, collisionCount: 1 });
    expect(after.metadata.name).not.toBe(newRevision(describedAs).metadata.name);
  });
});
