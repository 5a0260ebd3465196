import { expect, test } from 'vitest';

import { Deployments, keyOf, ValidatingAdmissionPolicies, type Kind } from '../../pkg/api/index.ts';
import type { Client, RawRequest } from '../../pkg/client/index.ts';
import { build } from '../../test/support/builders.ts';
import { createTestContext, settle, whileRunning, type TestContext } from '../../test/support/controller-context.ts';
import { apiError } from '../../test/support/recording-client.ts';
import './check-policy.ts'; // loaded on demand otherwise, which takes real time
import { createPolicyStatusController } from './policy-status.ts';

const signal = new AbortController().signal;
const text = { type: 'string' };
const document = {
  components: {
    schemas: {
      Deployment: {
        type: 'object',
        properties: { spec: { type: 'object', properties: { replicas: { type: 'integer' } } } },
        'x-kubernetes-group-version-kind': [{ group: 'apps', version: 'v1', kind: 'Deployment' }],
      },
      Other: text,
    },
  },
};
const paths: Readonly<Record<string, unknown>> = {
  // as text, since kube-apiserver calls it so
  '/openapi/v3':
    '{"paths":{"apis/apps/v1":{"serverRelativeURL":"/openapi/v3/apis/apps/v1?hash=1"},' +
    '"apis/example.com/v1":{"serverRelativeURL":"/openapi/v3/apis/example.com/v1?hash=2"}}}',
  '/openapi/v3/apis/apps/v1?hash=1': document,
};

/** A server that serves these kinds, and the OpenAPI document of one of them. */
function contextWith(served: Kind[], broken = ''): TestContext & { readonly asked: string[] } {
  const base = createTestContext({ freeze: true });
  const asked: string[] = [];
  const all = async () => ({
    resources: served.map((kind) => ({ kind, verbs: new Set<string>() })),
    failures: new Map<string, string>(),
  });
  const discovery = { preferred: all, all, kindFor: async () => undefined, refresh: async () => {} };
  const request = async ({ path }: RawRequest): Promise<unknown> => {
    asked.push(path);
    if (broken !== '' && path.startsWith(broken)) throw apiError(503, 'ServiceUnavailable', 'the backend is down');
    return paths[path];
  };
  const client = new Proxy(base.client, {
    get: (target, name) => {
      if (name === 'request') return request;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  }) as Client;
  return { ...base, asked, context: { ...base.context, discovery, clientFor: () => client } };
}

const resourceRules = [
  { apiGroups: ['apps'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['deployments'] },
];
const policy = (expression: string, generation = 1) =>
  build(
    ValidatingAdmissionPolicies,
    { name: 'limits', metadata: { generation } },
    { spec: { matchConstraints: { resourceRules }, validations: [{ expression }] } },
  );
const statusOf = ({ server }: TestContext) => server.stored(ValidatingAdmissionPolicies)[0]?.status;

test('a policy is checked once for each generation', async () => {
  const base = contextWith([Deployments, ValidatingAdmissionPolicies]);
  const seeded = base.server.seed(ValidatingAdmissionPolicies, policy('object.spec.foo == 1'));
  await whileRunning(base, createPolicyStatusController(base.context, { workers: 1 }), async () => {
    await settle();
    expect(statusOf(base)?.observedGeneration).toBe(1);
    expect(statusOf(base)?.typeChecking?.expressionWarnings?.[0]?.warning).toContain("undefined field 'foo'");
    expect(base.asked).toEqual(Object.keys(paths));
    const [stored] = base.server.stored(ValidatingAdmissionPolicies);
    const labels = { a: 'b' };
    const changed = { ...(stored ?? seeded), metadata: { ...(stored ?? seeded).metadata, labels } };
    await base.server.update(ValidatingAdmissionPolicies, changed, signal);
    await settle();
    expect(base.asked).toEqual(Object.keys(paths));
    expect(base.client.writes).toHaveLength(1);
    await base.server.delete(ValidatingAdmissionPolicies, keyOf(seeded), {}, signal);
  });
});

test('a policy without errors has an empty result', async () => {
  const base = contextWith([Deployments, ValidatingAdmissionPolicies]);
  base.server.seed(ValidatingAdmissionPolicies, policy('object.spec.replicas == 1', 4));
  await whileRunning(base, createPolicyStatusController(base.context, { workers: 1 }), async () => {
    await settle();
    expect(statusOf(base)).toEqual({ observedGeneration: 4, typeChecking: {} });
  });
});

test.each(['/openapi/v3/apis/apps', '/openapi/v3'])(
  '%s cannot be read: the status is written without it',
  async (broken) => {
    const base = contextWith([Deployments, ValidatingAdmissionPolicies], broken);
    base.server.seed(ValidatingAdmissionPolicies, policy('object.spec.foo == 1'));
    await whileRunning(base, createPolicyStatusController(base.context, { workers: 1 }), async () => {
      await settle();
      expect(statusOf(base)).toEqual({ observedGeneration: 1, typeChecking: {} });
    });
  },
);

test('params whose document cannot be read have no type', async () => {
  const base = contextWith([Deployments, ValidatingAdmissionPolicies], '/openapi/v3/apis/example.com');
  const given = policy('object.spec.foo == params.spec.limit');
  const paramKind = { apiVersion: 'example.com/v1', kind: 'Limit' };
  base.server.seed(ValidatingAdmissionPolicies, { ...given, spec: { ...given.spec, paramKind } });
  await whileRunning(base, createPolicyStatusController(base.context, { workers: 1 }), async () => {
    await settle();
    expect(statusOf(base)?.observedGeneration).toBe(1);
    expect(statusOf(base)?.typeChecking?.expressionWarnings?.[0]?.warning).toContain("undefined field 'foo'");
  });
});

test('nothing is checked on a server without policies', async () => {
  const base = contextWith([Deployments]);
  await whileRunning(base, createPolicyStatusController(base.context, { workers: 1 }), async () => {
    await settle();
    expect(base.informers.unsynced).toEqual([]);
  });
});
