import { describe, expect, test } from 'vitest';

import { parseJson, type PodTemplateSpec } from '../../pkg/api/index.ts';
import { templateHash } from './template-hash.ts';

const template: PodTemplateSpec = {
  metadata: { labels: { app: 'web', tier: 'front' } },
  spec: { containers: [{ name: 'app', image: 'example:1', ports: [{ containerPort: 80 }] }], restartPolicy: 'Always' },
};

describe('templateHash', () => {
  // These hashes are in the names and selectors of existing objects, so they must not change.
  const fixed = [
    { name: 'a template', collisionCount: undefined, expected: 'fccmbdlkkb' },
    { name: 'the same after a collision', collisionCount: 1, expected: 'dcmghdcbmg' },
  ];
  for (const { name, collisionCount, expected } of fixed) {
    test(`${name} has the hash it has always had`, () => expect(templateHash(template, collisionCount)).toBe(expected));
  }

  test('integers beyond 2^53 that are close to each other differ', () => {
    const hashOf = (seconds: string): string =>
      templateHash(parseJson(Buffer.from(`{"spec":{"seconds":${seconds}}}`)) as PodTemplateSpec, undefined);
    expect(hashOf('9007199254740993')).not.toBe(hashOf('9007199254740992'));
    expect(hashOf('9007199254740993')).toBe(hashOf('9007199254740993'));
  });

  test('the order of fields does not matter', () => {
    const reordered: PodTemplateSpec = {
      spec: {
        restartPolicy: 'Always',
        containers: [{ ports: [{ containerPort: 80 }], image: 'example:1', name: 'app' }],
      },
      metadata: { labels: { tier: 'front', app: 'web' } },
    };
    expect(templateHash(reordered, undefined)).toBe(templateHash(template, undefined));
  });

  test('absent fields do not matter', () => {
    const sparse = { ...template, metadata: { ...template.metadata, annotations: undefined, creationTimestamp: null } };
    expect(templateHash(sparse as unknown as PodTemplateSpec, undefined)).toBe(templateHash(template, undefined));
  });

  const changed: { name: string; spec: PodTemplateSpec }[] = [
    { name: 'a label', spec: { ...template, metadata: { labels: { app: 'web', tier: 'back' } } } },
    { name: 'an annotation', spec: { ...template, metadata: { ...template.metadata, annotations: { a: 'b' } } } },
    { name: 'an image', spec: { ...template, spec: { containers: [{ name: 'app', image: 'example:2' }] } } },
  ];
  for (const { name, spec } of changed) {
    test(`another hash for ${name}`, () =>
      expect(templateHash(spec, undefined)).not.toBe(templateHash(template, undefined)));
  }

  test('the order of containers matters', () => {
    const [a, b] = [{ name: 'a' }, { name: 'b' }];
    expect(templateHash({ spec: { containers: [a, b] } }, undefined)).not.toBe(
      templateHash({ spec: { containers: [b, a] } }, undefined),
    );
  });

  test('it is a label value that spells no word', () => {
    for (let count = 0; count < 200; count++) expect(templateHash(template, count)).toMatch(/^[b-df-hj-m]{1,10}$/);
  });
});
