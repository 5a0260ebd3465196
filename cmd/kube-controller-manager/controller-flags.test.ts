import { describe, expect, test } from 'vitest';

import { controllers } from '../../controllers/registry.ts';
import { allFlags, initialValue } from './flags/index.ts';
import { knownControllers } from './known-controllers.ts';

describe('every controller', () => {
  test('has the name, aliases, gates and default of Kubernetes', () => {
    for (const { name, aliases, requiredGates, onByDefault } of controllers) {
      const known = knownControllers.find((each) => each.name === name);
      expect({ name, aliases, requiredGates, onByDefault }).toEqual(known);
    }
  });

  test('takes options that are flags, with the defaults of those flags', () => {
    for (const { options } of controllers) {
      for (const [name, value] of Object.entries(options.parse({}))) {
        const flag = allFlags.get(name);
        if (flag === undefined) throw new Error(`--${name} is not a flag`);
        expect({ [name]: value }).toEqual({ [name]: initialValue(name, flag) });
      }
      const unknown = Object.keys(options.shape).filter((name) => !allFlags.has(name));
      expect(unknown).toEqual([]);
    }
  });
});
