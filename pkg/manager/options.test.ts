import { describe, expect, test } from 'vitest';

import type { ControllerDefinition } from '../controller/index.ts';
import { ManagerError } from './errors.ts';
import { checkOptions, type ManagerOptions } from './options.ts';

function controller(name: string): ControllerDefinition {
  return { name, create: () => ({ name, run: async () => {} }) };
}

const good: ManagerOptions = { name: 'my-operator', controllers: [controller('a'), controller('b')] };

describe('checkOptions', () => {
  const accepted: readonly { name: string; options: Partial<ManagerOptions> }[] = [
    { name: 'a name and controllers', options: {} },
    { name: 'no controllers', options: { controllers: [] } },
    { name: 'a name with a domain', options: { name: 'operator.example.com' } },
    { name: 'shorter durations', options: { leaderElection: { renewDeadlineMs: 5000 } } },
  ];
  for (const { name, options } of accepted) {
    test(`accepts ${name}`, () => expect(() => checkOptions({ ...good, ...options })).not.toThrow());
  }

  const refused: readonly { name: string; options: Partial<ManagerOptions>; message: RegExp }[] = [
    { name: 'a name that cannot name a Lease', options: { name: 'My Operator' }, message: /^name: "My Operator" must/ },
    { name: 'an empty name', options: { name: '' }, message: /^name: "" must/ },
    {
      name: 'two controllers of one name',
      options: { controllers: [controller('a'), controller('a')] },
      message: /^controllers: two have the name "a"$/,
    },
    { name: 'a controller without a name', options: { controllers: [controller('')] }, message: /an empty name$/ },
    { name: 'a certificate without its key', options: { server: { certFile: 'x' } }, message: /^server: certFile and/ },
    {
      name: 'one lease for both parts of a migration',
      options: { leaderElection: { migration: { name: 'my-operator', controllers: new Set(['a']) } } },
      message: /^leaderElection: the migration needs a lease of its own, got "my-operator"$/,
    },
    {
      name: 'durations that are not safe, by the names of the options',
      options: { leaderElection: { renewDeadlineMs: 20_000 } },
      message: /^leaderElection: invalid value "15s" for leaseDurationMs: must be greater, .* than renewDeadlineMs$/,
    },
  ];
  for (const { name, options, message } of refused) {
    test(`refuses ${name}`, () => {
      const check = (): void => checkOptions({ ...good, ...options });
      expect(check).toThrow(ManagerError);
      expect(check).toThrow(message);
    });
  }
});
