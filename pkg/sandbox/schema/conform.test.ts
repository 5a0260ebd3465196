import { describe, expect, test } from 'vitest';

import { parseJson } from '../../api/index.ts';
import { conform } from './conform.ts';
import { objectType } from './schema.ts';

const deployment = objectType('io.k8s.api.apps.v1.Deployment');
const pod = objectType('io.k8s.api.core.v1.Pod');
const lease = objectType('io.k8s.api.coordination.v1.Lease');

function read(object: object, type = deployment) {
  const findings = { unknown: [] as string[] };
  return { object: conform({ ...object }, type, findings), unknown: findings.unknown };
}

describe('conform', () => {
  test('drops fields that the type does not have, and names them', () => {
    const { object, unknown } = read({
      spec: { replicas: 1, size: 2, template: { spec: { containers: [{ colour: 'red' }] } } },
    });
    expect(unknown).toEqual(['spec.size', 'spec.template.spec.containers[0].colour']);
    expect(object['spec']).not.toHaveProperty('size');
  });

  test('treats null as absent', () => {
    const { object, unknown } = read({ spec: { replicas: null, template: null } });
    expect(unknown).toEqual([]);
    expect(object['spec']).not.toHaveProperty('replicas');
  });

  test('writes a given zero if Go has a pointer, and omits it if Go has a value', () => {
    const { spec } = read({ spec: { replicas: 0, minReadySeconds: 0, paused: false } }).object;
    expect(spec).toMatchObject({ replicas: 0 });
    expect(spec).not.toHaveProperty('minReadySeconds');
    expect(spec).not.toHaveProperty('paused');
  });

  test('writes the structs that Go always writes', () =>
    expect(read({}).object).toMatchObject({
      metadata: {},
      spec: { template: { metadata: {}, spec: {} } },
      status: {},
    }));

  const scalars: { name: string; object: object; type?: typeof pod; path: string; expected: unknown }[] = [
    {
      name: 'a quantity in its canonical form',
      object: { spec: { containers: [{ resources: { limits: { cpu: 0.5, memory: '1024Mi' } } }] } },
      type: pod,
      path: 'spec.containers[0].resources.limits',
      expected: { cpu: '500m', memory: '1Gi' },
    },
    {
      name: 'a time in UTC, to the second',
      object: { metadata: { deletionTimestamp: '2026-01-01T01:00:00.5+01:00' } },
      path: 'metadata.deletionTimestamp',
      expected: '2026-01-01T00:00:00Z',
    },
    {
      name: 'a microtime to the microsecond',
      object: { spec: { renewTime: '2026-01-01T00:00:00.1234567Z' } },
      type: lease,
      path: 'spec.renewTime',
      expected: '2026-01-01T00:00:00.123456Z',
    },
  ];
  for (const { name, object, type, path, expected } of scalars) {
    test(`writes ${name}`, () => expect(read(object, type).object).toHaveProperty(path, expected));
  }

  test('keeps an integer that a number cannot hold', () => {
    const body = parseJson(Buffer.from('{"metadata":{"generation":9223372036854775807}}')) as object;
    expect(JSON.stringify(read(body).object['metadata'])).toContain('9223372036854775807');
  });

  const mismatches: { name: string; object: object; type?: typeof pod; message: string }[] = [
    {
      name: 'text for a number',
      object: { spec: { replicas: 'x' } },
      message: 'string into Go struct field .spec.replicas',
    },
    { name: 'a fraction for an integer', object: { spec: { replicas: 1.5 } }, message: '.spec.replicas of type int64' },
    { name: 'a number for text', object: { metadata: { name: 1 } }, message: '.metadata.name of type string' },
    {
      name: 'an object for a list',
      object: { metadata: { finalizers: {} } },
      message: '.metadata.finalizers of type list',
    },
    {
      name: 'a list for a map',
      object: { metadata: { labels: [] } },
      message: 'array into Go struct field .metadata.labels',
    },
    { name: 'text for an object', object: { spec: 'x' }, message: '.spec of type DeploymentSpec' },
    {
      name: 'text for a quantity',
      object: { spec: { containers: [{ resources: { limits: { cpu: 'many' } } }] } },
      type: pod,
      message: 'limits.cpu of type Quantity',
    },
    { name: 'a date for a time', object: { metadata: { deletionTimestamp: 'Monday' } }, message: 'of type Time' },
  ];
  for (const { name, object, type, message } of mismatches) {
    test(`refuses ${name}`, () => expect(() => read(object, type)).toThrow(message));
  }
});
