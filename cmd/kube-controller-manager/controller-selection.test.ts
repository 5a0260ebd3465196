import { describe, expect, test } from 'vitest';

import { controllers } from '../../controllers/registry.ts';
import { defineController, type ControllerDescriptor } from '../../pkg/controller/index.ts';
import { selectControllers } from './controller-selection.ts';
import { exitCodes } from './exit-codes.ts';
import { resolveGates } from './feature-gates.ts';
import { knownControllers } from './known-controllers.ts';

function descriptor(name: string): ControllerDescriptor {
  const known = knownControllers(controllers).find((entry) => entry.name === name);
  if (known === undefined) throw new Error(`no such controller: ${name}`);
  const create = (): never => {
    throw new Error('not to be created');
  };
  return defineController({ ...known, create });
}

const registered = [
  'job-controller',
  'token-cleaner-controller',
  'storageversion-garbage-collector-controller',
  'serviceaccount-token-controller',
].map(descriptor);

const token = 'serviceaccount-token-controller';

const rows = [
  {
    name: 'the star selects the controllers that are on by default, tokens first',
    requested: ['*'],
    enabled: [token, 'job-controller'],
  },
  {
    name: 'a name adds one that is off by default',
    requested: ['*', 'tokencleaner'],
    enabled: [token, 'job-controller', 'token-cleaner-controller'],
  },
  { name: 'a minus leaves one out', requested: ['*', '-job'], enabled: [token] },
  { name: 'without a star only those named run', requested: ['job-controller'], enabled: [token, 'job-controller'] },
  { name: 'the first mention counts', requested: ['-job', 'job', '*'], enabled: [token] },
  { name: 'tokens can be left out by name', requested: ['*', '-serviceaccount-token'], enabled: ['job-controller'] },
];

describe('selectControllers', () => {
  for (const { name, requested, enabled } of rows) {
    test(name, () => {
      const selection = selectControllers(requested, registered, resolveGates([]));
      expect(selection.enabled.map((each) => each.name)).toEqual(enabled);
    });
  }

  test('reports controllers that a gate disables', () => {
    const selection = selectControllers(['*'], registered, resolveGates([]));
    expect(selection.gatedOff).toContain('storageversion-garbage-collector-controller');
  });

  test('a gate lets a controller run', () => {
    const selection = selectControllers(['*'], registered, resolveGates(['StorageVersionAPI=true']));
    expect(selection.enabled.map(({ name }) => name)).toContain('storageversion-garbage-collector-controller');
  });

  test('lists the known names when one is unknown', () => {
    const select = (): unknown => selectControllers(['*', '-nope'], registered, resolveGates([]));
    expect(select).toThrow(/"nope" is not in the list of known controllers: .*job-controller/);
    expect(select).toThrow(expect.objectContaining({ exitCode: exitCodes.usage }));
  });
});
