import { describe, expect, test } from 'vitest';

import { Services, type Cached, type Service } from '../api/index.ts';
import { build, frozen, node } from '../../test/support/builders.ts';
import { createHollowCloud } from './cloud.ts';
import { machineAnnotation } from './machine-power.ts';

const { signal } = new AbortController();
const clusterName = 'kubernetes';

function service(
  name: string,
  fields: { readonly loadBalancerIP?: string; readonly shown?: string } = {},
): Cached<Service> {
  const { shown, ...spec } = fields;
  const status = shown === undefined ? {} : { loadBalancer: { ingress: [{ ip: shown }] } };
  return frozen(build<Service>(Services, { namespace: 'a', name }, { spec, status }));
}

describe('a hollow cloud', () => {
  test('gives each load balancer an address of its own, and keeps it', async () => {
    const { loadBalancers, backendsOf } = createHollowCloud();
    const nodes = [frozen(node({ metadata: { name: 'n1' } }))];
    const ensure = async (subject: Cached<Service>) =>
      (await loadBalancers.ensure({ clusterName, service: subject, nodes }, signal)).ingress?.[0]?.ip;
    expect(await ensure(service('a', { shown: '203.0.113.2' }))).toBe('203.0.113.2'); // of an earlier run
    expect(await ensure(service('b'))).toBe('203.0.113.1');
    expect(await ensure(service('c'))).toBe('203.0.113.3');
    expect(await ensure(service('d', { loadBalancerIP: '203.0.113.77' }))).toBe('203.0.113.77');
    expect(await ensure(service('b'))).toBe('203.0.113.1');
    expect(backendsOf('a/b')).toEqual(['n1']);
    await loadBalancers.delete(clusterName, service('b'), signal);
    expect(await loadBalancers.get(clusterName, service('b'), signal)).toBeUndefined();
    await expect(loadBalancers.update({ clusterName, service: service('b'), nodes }, signal)).rejects.toThrow('a/b');
  });

  test('has the routes that were created', async () => {
    const { routes } = createHollowCloud();
    const route = { targetNode: 'a', destinationCidr: '10.0.1.0/24' };
    await routes.create({ clusterName, nameHint: 'u', route }, signal);
    const [listed] = await routes.list(clusterName, signal);
    expect(listed).toMatchObject(route);
    if (listed !== undefined) await routes.delete(clusterName, listed, signal);
    expect(await routes.list(clusterName, signal)).toEqual([]);
  });

  const rows = [
    { name: 'runs', annotation: undefined, exists: true, isShutDown: false },
    { name: 'is shut down', annotation: 'off', exists: true, isShutDown: true },
    { name: 'does not exist', annotation: 'gone', exists: false, isShutDown: false },
    { name: 'runs, whatever else the annotation says', annotation: 'soon', exists: true, isShutDown: false },
  ];
  for (const { name, annotation, ...expected } of rows) {
    test(`has a machine that ${name}`, async () => {
      const { instances } = createHollowCloud();
      const annotations: Record<string, string> = annotation === undefined ? {} : { [machineAnnotation]: annotation };
      const subject = frozen(node({ metadata: { name: 'n', annotations } }));
      expect(await instances.exists(subject, signal)).toBe(expected.exists);
      expect(await instances.isShutDown(subject, signal)).toBe(expected.isShutDown);
      expect(await instances.metadataOf(subject, signal)).toMatchObject({ providerId: 'hollow://n', region: 'hollow' });
    });
  }
});
