import { describe, expect, test } from 'vitest';

import { Deployments } from '../api/index.ts';
import { controllerFor } from './controller.ts';
import { DefinitionError } from './definition-error.ts';
import { manifestsOf, type ManifestOptions } from './manifests.ts';

const controller = controllerFor(Deployments, { name: 'test', reconcile: async () => {} });

interface Made {
  readonly kind: string;
  readonly metadata: { readonly namespace?: string };
  readonly rules?: readonly { readonly resources: readonly string[]; readonly verbs: readonly string[] }[];
  readonly spec?: { readonly template: { readonly spec: { readonly containers: readonly object[] } } };
}

function made(options: Partial<ManifestOptions>) {
  const { items } = manifestsOf({ name: 'op', image: 'op:1', controllers: [controller], ...options });
  const find = (kind: string): Made | undefined => (items as unknown as Made[]).find((each) => each.kind === kind);
  return {
    may: (kind: string) => find(kind)?.rules?.map(({ resources, verbs }) => `${resources.join()}: ${verbs.join()}`),
    container: find('Deployment')?.spec?.template.spec.containers[0],
    role: find('Role'),
  };
}

describe('manifestsOf follows the options of runManager', () => {
  test('has plain probes, and permissions for the lease in the namespace of the manager', () => {
    const { may, container, role } = made({});
    expect(container).toMatchObject({
      ports: [{ name: 'http', containerPort: 8080 }],
      livenessProbe: { httpGet: { path: '/healthz', port: 8080, scheme: 'HTTP' } },
    });
    expect(may('Role')).toEqual(['leases: get,create,update']);
    expect(role?.metadata.namespace).toBe('op');
    expect(may('ClusterRole')).not.toContain('tokenreviews: create');
  });

  for (const server of [
    { secure: true, port: 8443 },
    { certFile: '/tls/crt', port: 8443 },
  ]) {
    test(`probes a secure server by HTTPS, and may review tokens: ${JSON.stringify(server)}`, () => {
      const { may, container } = made({ server });
      expect(container).toMatchObject({
        ports: [{ name: 'https', containerPort: 8443 }],
        readinessProbe: { httpGet: { path: '/readyz', port: 8443, scheme: 'HTTPS' } },
      });
      expect(may('ClusterRole')).toEqual(
        expect.arrayContaining(['tokenreviews: create', 'subjectaccessreviews: create']),
      );
    });
  }

  test('probes no server where there is none', () => {
    const { container } = made({ server: false });
    expect(Object.keys(container ?? {})).not.toEqual(expect.arrayContaining(['livenessProbe']));
  });

  test('refuses a port that only the process knows', () => {
    expect(() => made({ server: { port: 'any' } })).toThrow(DefinitionError);
  });

  test('has permissions for candidates in a coordinated election, where the lease is', () => {
    const { may, role } = made({ leaderElection: { namespace: 'leases', coordination: {} } });
    expect(may('Role')).toEqual(['leases: get,create,update', 'leasecandidates: get,watch,create,update']);
    expect(role?.metadata.namespace).toBe('leases');
  });

  test('has no permissions for leases without leader election', () => {
    expect(made({ leaderElection: false }).role).toBeUndefined();
  });
});
