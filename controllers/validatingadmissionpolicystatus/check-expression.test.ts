import { describe, expect, test } from 'vitest';

import { checkExpression } from './check-expression.ts';
import { bool, dyn, int, listOf, mapOf, namespaceType, objectOf, requestType, simple, string } from './types.ts';

const container = objectOf({ name: string, image: string, ports: listOf(int) });
const object = objectOf({
  metadata: objectOf({
    name: string,
    labels: mapOf(string),
    finalizers: listOf(string),
    creationTimestamp: simple('timestamp'),
  }),
  spec: objectOf({ replicas: int, paused: bool, containers: listOf(container), maxSurge: dyn }),
});
const variables = new Map([
  ['object', object],
  ['oldObject', object],
  ['request', requestType],
  ['namespaceObject', namespaceType],
]);

/** The places and messages of all errors. */
function problemsOf(expression: string): string[] | 'not understood' {
  const checked = checkExpression(expression, variables);
  if (!checked.isUnderstood) return 'not understood';
  const lines = checked.problem?.split('\n') ?? [];
  return lines.filter((line) => line.startsWith('ERROR: <input>:')).map((line) => line.slice('ERROR: <input>:'.length));
}

/** What the compiler of the Go binary reports for each of them. */
const rows: readonly (readonly [expression: string, problems: readonly string[]])[] = [
  ['object.spec.replicas <= 5', []],
  ['object.spec.foo > 1', ["1:12: undefined field 'foo'"]],
  ['object.foo.bar.baz == 1', ["1:7: undefined field 'foo'"]],
  ['has(object.spec.foo) && !has(object.bar)', ["1:4: undefined field 'foo'", "1:29: undefined field 'bar'"]],
  ['has ( object.foo )', ["1:5: undefined field 'foo'"]],
  ['has(object.metadata.name.foo)', ["1:4: type 'string' does not support field selection"]],
  ['object . spec . foo == 1', ["1:15: undefined field 'foo'"]],
  ['object.spec.containers.all(c, c.nme == "a")', ["1:32: undefined field 'nme'"]],
  [
    'object.spec.containers.map(c, c.image).exists(i, i.foo == 1)',
    ["1:51: type 'string' does not support field selection"],
  ],
  ['object.spec.containers.filter(c, c.x == 1).size() == 0', ["1:35: undefined field 'x'"]],
  ['object.spec.containers[0].foo == 1', ["1:26: undefined field 'foo'"]],
  ['object.metadata.labels.app == "x" && "app" in object.metadata.labels', []],
  ['object.metadata.labels["app"].foo', ["1:30: type 'string' does not support field selection"]],
  ['object.metadata.labels.all(k, k.startsWith("a") && k.size() < 3)', []],
  ['object.metadata.finalizers.foo == 1', ["1:27: type 'list(string)' does not support field selection"]],
  ['object.spec.maxSurge.foo == 1', []],
  ['object.spec.replicas == "x"', ["1:22: found no matching overload for '_==_' applied to '(int, string)'"]],
  ['(object.spec.replicas) != ("x")', ["1:24: found no matching overload for '_!=_' applied to '(int, string)'"]],
  ['object.metadata.name > 3', ["1:22: found no matching overload for '_>_' applied to '(string, int)'"]],
  [
    'object.metadata.labels == "x"',
    ["1:24: found no matching overload for '_==_' applied to '(map(string, string), string)'"],
  ],
  [
    'object.metadata.creationTimestamp == "x"',
    ["1:35: found no matching overload for '_==_' applied to '(timestamp, string)'"],
  ],
  ['object.spec.replicas > 1.5 && object.spec.replicas in [1, 2]', []],
  ['object.spec == null && object.metadata.creationTimestamp == null', []],
  ['object.metadata.name == null', ["1:22: found no matching overload for '_==_' applied to '(string, null)'"]],
  ['"a" + string(object.spec.replicas) + object.foo', ["1:44: undefined field 'foo'"]],
  ['request.userInfo.groups.exists(g, g == "a") && request.options.any == 1', []],
  ['namespaceObject.metadata.uid == "x"', ["1:25: undefined field 'uid'"]],
  ['oldObject.spec.a == object.spec.b', ["1:15: undefined field 'a'", "1:32: undefined field 'b'"]],
  ['object.spec.paused ? object.spec.replicas > 1 : true', []],
];

describe('an expression has the errors that Go finds:', () => {
  for (const [expression, problems] of rows) test(expression, () => expect(problemsOf(expression)).toEqual(problems));
});

const skipped = [
  'authorizer.group("").resource("pods").check("get").allowed() && object.foo == 1',
  'object.?spec.foo == 1',
  'quantity(object.foo).isInteger()',
  'dyn(object).foo == 1',
  'unknown.foo == 1',
  'object.spec == 3', // the message has the name of a type that differs each time
  'object.metadata.name && object.foo', // another error, which is not reported here
  'object.foo == 1 == true', // Go gives all comparisons the same precedence
  'object.spec.paused ? object.foo : 1',
  'object.foo == "ü"', // wide characters move the marks
  'object.foo ==',
];

describe('an expression that is not wholly understood is not judged:', () => {
  for (const expression of skipped) test(expression, () => expect(problemsOf(expression)).toBe('not understood'));
});

test('an error is shown with its line', () => {
  expect(checkExpression('true &&\n  object.foo == 1', variables)).toMatchObject({
    problem: "ERROR: <input>:2:9: undefined field 'foo'\n |   object.foo == 1\n | ........^",
  });
});
