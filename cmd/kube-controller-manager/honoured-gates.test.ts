import { globSync, readFileSync } from 'node:fs';

import { expect, test } from 'vitest';

import { controllers } from '../../controllers/registry.ts';
import { knownGates } from './feature-gate-table.ts';
import { honouredGates } from './feature-gates.ts';

test('the gates said to have an effect are those that some code asks for', () => {
  const cwd = new URL('../..', import.meta.url).pathname;
  const files = globSync('{cmd,controllers,informers,pkg}/**/*.ts', { cwd }).filter(
    (file) => !file.endsWith('.test.ts'),
  );
  const asked = files.flatMap((file) => {
    const source = readFileSync(`${cwd}/${file}`, 'utf8');
    return [...source.matchAll(/\b(?:isEnabled|isSet)\(\s*'(\w+)'/g)].map(([, gate = '']) => gate);
  });
  const required = controllers.flatMap(({ requiredGates }) => requiredGates);
  const gates = new Set([...asked, ...required].filter((gate) => knownGates.has(gate)));
  expect([...gates].sort()).toEqual([...honouredGates].sort());
});
