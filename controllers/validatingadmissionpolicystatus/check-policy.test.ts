import { expect, test } from 'vitest';

import { ConfigMaps, Deployments, Pods } from '../../pkg/api/index.ts';
import { checkPolicy } from './check-policy.ts';
import { int, listOf, mapOf, objectOf, string } from './types.ts';

const deployment = objectOf({ spec: objectOf({ replicas: int, parts: listOf(objectOf({ name: string })) }) });
const kinds = [
  { kind: Deployments, type: deployment },
  { kind: Pods, type: objectOf({ spec: objectOf({ nodeName: string }) }) },
];

test('warnings name the field and the kind, in the form of Go', () => {
  const validations = [
    { expression: 'object.spec.replicas > 1', messageExpression: 'object.spec.nodeName' },
    { expression: 'true' },
  ];
  const only = (text: string, field: string, column: number, kind: string): string =>
    `${kind}: ERROR: <input>:1:${column}: undefined field '${field}'\n | ${text}\n | ${'.'.repeat(column - 1)}^\n`;
  expect(checkPolicy({ validations }, { kinds, params: undefined })).toEqual([
    {
      fieldRef: 'spec.validations[0].expression',
      warning: only('object.spec.replicas > 1', 'replicas', 12, '/v1, Kind=Pod'),
    },
    {
      fieldRef: 'spec.validations[0].messageExpression',
      warning: only('object.spec.nodeName', 'nodeName', 12, 'apps/v1, Kind=Deployment'),
    },
  ]);
});

test('the warnings of several kinds are in one text', () => {
  const [found] = checkPolicy({ validations: [{ expression: 'object.foo' }] }, { kinds, params: undefined });
  expect(found?.warning.split('\n')).toEqual([
    "apps/v1, Kind=Deployment: ERROR: <input>:1:7: undefined field 'foo'",
    ' | object.foo',
    ' | ......^',
    '',
    "/v1, Kind=Pod: ERROR: <input>:1:7: undefined field 'foo'",
    ' | object.foo',
    ' | ......^',
    '',
  ]);
});

test('variables have types, but no objects; parameters have those of their kind', () => {
  const variables = [
    { name: 'replicas', expression: 'object.spec.replicas' },
    { name: 'parts', expression: 'object.spec.parts' },
    { name: 'wrong', expression: 'object.foo' },
    { name: 'other', expression: 'quantity("1")' },
  ];
  const expressions = [
    'variables.parts.all(p, p.anything == 1) && variables.wrong == 1',
    'variables.replicas == "1"',
    'params.dta.x == "1"',
    'params.data.x == "1"',
    'variables.other == 2 && object.foo', // the type of the variable is not known
  ];
  const spec = {
    variables,
    paramKind: { apiVersion: 'v1', kind: ConfigMaps.kind },
    validations: expressions.map((expression) => ({ expression })),
  };
  const params = objectOf({ data: mapOf(string) });
  const found = checkPolicy(spec, { kinds: kinds.slice(0, 1), params });
  expect(found.map(({ fieldRef }) => fieldRef)).toEqual([1, 2].map((index) => `spec.validations[${index}].expression`));
});

test('objects of a kind without a type are not checked', () => {
  const validations = [{ expression: 'object.foo == 1' }];
  expect(checkPolicy({ validations }, { kinds: [{ kind: Pods, type: undefined }], params: undefined })).toEqual([]);
});
