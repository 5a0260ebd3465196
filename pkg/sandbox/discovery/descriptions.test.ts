import { describe as suite, expect, test } from 'vitest';

import { describe, parseDeclaration } from './descriptions.ts';

suite('parseDeclaration', () => {
  test('separates the comments of a class, of its fields and of the file', () => {
    const text = [
      '/**',
      ' * Made by a machine.',
      ' */',
      '/**',
      '* A thing.',
      '*/',
      'export declare class V1Thing {',
      '    /**',
      "    * The thing\\'s size.",
      '    */',
      "    'size'?: number;",
      "    'other'?: V1Other;",
      '}',
    ].join('\n');
    const { type, fields } = parseDeclaration(text);
    expect(type).toBe('A thing.');
    expect([...fields]).toEqual([['size', "The thing's size."]]);
  });
});

suite('describe', () => {
  test('knows types of all groups, also where groups share a name', () => {
    for (const name of ['apps.v1.Deployment', 'core.v1.Event', 'discovery.v1.EndpointPort']) {
      expect(describe(`io.k8s.api.${name}`).type, name).toBeTypeOf('string');
    }
    expect(describe('io.k8s.api.apps.v1.DeploymentSpec').fields.get('replicas')).toContain('pods');
  });

  test('has no description of undeclared types', () => {
    expect(describe('example.v1.Absent')).toEqual({ type: undefined, fields: new Map() });
  });
});
