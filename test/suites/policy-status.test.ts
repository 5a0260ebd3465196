import { afterAll, beforeAll, expect, test } from 'vitest';

import { objectKey, ValidatingAdmissionPolicies, type ValidatingAdmissionPolicy } from '../../pkg/api/index.ts';
import { ClientBuilder, loadKubeconfig, type Client } from '../../pkg/client/index.ts';
import { systemClock } from '../../pkg/time/index.ts';
import { eventually } from '../support/eventually.ts';
import { policySpec, untilChecked } from '../support/policies.ts';
import { defineWidgets } from '../support/quota-user.ts';
import { startEither, type ManagerName } from '../support/side-by-side.ts';
import { useCluster } from './use-cluster.ts';

const cluster = useCluster();
const controllers = ['validatingadmissionpolicy-status-controller'];
let clients: ClientBuilder;

beforeAll(async () => {
  const connection = await loadKubeconfig({ path: cluster().kubeconfig() }, systemClock);
  clients = new ClientBuilder({ connection, clock: systemClock, userAgent: 'suite' });
});
afterAll(() => clients?.close());

const deployments = { group: 'apps', resources: ['deployments'] };
const policies: Readonly<Record<string, ValidatingAdmissionPolicy['spec']>> = {
  correct: policySpec({ ...deployments, expressions: ['object.spec.replicas < 5 && object.metadata.namespace != ""'] }),
  misspelt: policySpec({
    ...deployments,
    expressions: ['object.spec.replcas < 5 || has(object.spec.pause)', 'object.metadata.name > 3'],
    message: '"not " + object.nme',
  }),
  several: policySpec({
    resources: ['pods', 'configmaps'],
    expressions: ['object.spec.containers.all(c, c.name != "")'],
  }),
  loops: policySpec({
    resources: ['pods'],
    expressions: [
      'object.spec.containers.exists(c, c.env.all(e, e.nam == c.name))',
      'object.spec.volumes.all(v,\n  v.foo)',
    ],
  }),
  'with-variables': policySpec({
    ...deployments,
    variables: [
      { name: 'containers', expression: 'object.spec.template.spec.containers' },
      { name: 'count', expression: 'object.spec.replicas' },
    ],
    expressions: ['variables.containers.all(c, c.anything == 1) && variables.count == "3"'],
  }),
  'with-parameters': policySpec({
    ...deployments,
    paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
    expressions: ['object.spec.replicas < int(params.data.most) && params.dta.most != ""'],
  }),
  custom: policySpec({
    group: 'quota.example.com',
    resources: ['widgets'],
    expressions: ['object.metadata.nme == "x"'],
  }),
  wildcard: policySpec({ group: '*', resources: ['*'], expressions: ['object.nothing == 1'] }),
  unknown: policySpec({ group: 'example.com', resources: ['nothings'], expressions: ['object.nothing == 1'] }),
};

/** The statuses that one of the managers writes, by policy. */
async function statusesBy(manager: ManagerName, client: Client, signal: AbortSignal): Promise<Record<string, unknown>> {
  const stop = await startEither(manager, cluster(), { controllers });
  try {
    const statuses: Record<string, unknown> = {};
    for (const [name, spec] of Object.entries(policies)) {
      await client.create(ValidatingAdmissionPolicies, { metadata: { name }, spec }, signal);
      statuses[name] = (await untilChecked(client, name, signal)).status;
    }
    const { validations } = policySpec({ resources: [], expressions: ['object.spec.replicas < 5'] });
    const patch = { type: 'merge', body: { spec: { validations } } } as const;
    await client.patch(ValidatingAdmissionPolicies, objectKey(undefined, 'misspelt'), patch, signal);
    statuses['corrected'] = (await untilChecked(client, 'misspelt', signal)).status;
    return statuses;
  } finally {
    await stop();
    for (const name of Object.keys(policies)) {
      await client.delete(ValidatingAdmissionPolicies, objectKey(undefined, name), {}, signal);
    }
  }
}

test('policies get the same status from both controller managers', async ({ signal }) => {
  const client = clients.clientFor('user');
  await defineWidgets(client, signal);
  const path = '/openapi/v3/apis/quota.example.com/v1';
  await eventually(async () => {
    return JSON.stringify(await client.request({ method: 'GET', path }, signal)).includes('"kind":"Widget"');
  }, signal);
  const ours = await statusesBy('ours', client, signal);
  expect(ours).toEqual(await statusesBy('go', client, signal));
  expect(ours['misspelt']).toMatchObject({
    typeChecking: {
      expressionWarnings: [
        { fieldRef: 'spec.validations[0].expression', warning: expect.stringContaining("undefined field 'replcas'") },
        { fieldRef: 'spec.validations[0].messageExpression' },
        { fieldRef: 'spec.validations[1].expression', warning: expect.stringContaining("'(string, int)'") },
        { fieldRef: 'spec.validations[1].messageExpression' },
      ],
    },
  });
  expect(ours['correct']).toEqual({ observedGeneration: 1, typeChecking: {} });
  expect(ours['corrected']).toEqual({ observedGeneration: 2 }); // an apply that leaves nothing of the field removes it
});

test('the status belongs to the field manager of the Go binary', async ({ signal }) => {
  const stop = await startEither('ours', cluster(), { controllers });
  try {
    const client = clients.clientFor('user');
    await client.create(
      ValidatingAdmissionPolicies,
      { metadata: { name: 'owned' }, spec: policies['correct'] },
      signal,
    );
    await untilChecked(client, 'owned', signal);
    const path = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/owned';
    const { body } = await cluster().request({ method: 'GET', path });
    const { managedFields } = (body as ValidatingAdmissionPolicy).metadata;
    const entry = { manager: 'validatingadmissionpolicy-status', operation: 'Apply', subresource: 'status' };
    expect(managedFields).toContainEqual(expect.objectContaining(entry));
  } finally {
    await stop();
  }
});
