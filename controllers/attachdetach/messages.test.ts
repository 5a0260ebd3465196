import { expect, test } from 'vitest';

import { conflictEvent } from './messages.ts';

const pod = (name: string, namespace = 'default') => ({ metadata: { name, namespace } });

test.each([
  [
    'Volume is already exclusively attached to one node, waiting on detach before it can be attached to another node',
    [],
  ],
  ['Volume is already used by pod(s) a, b', [pod('a'), pod('b')]],
  ['Volume is already used by pod(s) a and 2 pod(s) in different namespaces', [pod('a'), pod('b', 'x'), pod('c', 'y')]],
  ['Volume is already used by 1 pod(s) in different namespaces', [pod('secret', 'x')]],
])('%s', (text, users) => {
  expect(conflictEvent('v', pod('waiting'), users).message).toBe(`Waiting for detach for volume "v" ${text}`);
});
