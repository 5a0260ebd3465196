import { describe, expect, test } from 'vitest';

import { exitCodes } from './exit-codes.ts';
import { gateDependencies, knownGates } from './feature-gate-table.ts';
import { honouredGates, resolveGates } from './feature-gates.ts';

describe('resolveGates', () => {
  test('starts from the defaults', () => {
    const gates = resolveGates([]);
    expect(gates.isEnabled('ComponentStatusz')).toBe(true);
    expect(gates.isEnabled('GenericWorkload')).toBe(false);
    expect(gates.isSet('ComponentStatusz')).toBe(false);
  });

  test('takes gates with and without their component', () => {
    const gates = resolveGates(['ComponentFlagz=false', 'kube:GenericWorkload=true']);
    expect(gates.isEnabled('ComponentFlagz')).toBe(false);
    expect(gates.isEnabled('GenericWorkload')).toBe(true);
  });

  test('AllAlpha moves every alpha gate but those named', () => {
    const gates = resolveGates(['GangScheduling=false', 'WorkloadAwarePreemption=false', 'AllAlpha=true']);
    expect(gates.isEnabled('HPAScaleToZero')).toBe(true);
    expect(gates.isEnabled('GangScheduling')).toBe(false);
    expect(gates.isEnabled('ClusterTrustBundle')).toBe(false);
  });

  test('AllBeta=false leaves GA gates on', () => {
    const gates = resolveGates(['AllBeta=false', 'AllAlpha=false']);
    expect(gates.isEnabled('ComponentStatusz')).toBe(false);
    expect(gates.isEnabled('SidecarContainers')).toBe(true);
  });

  test('says which gates change nothing here', () => {
    const { withoutEffect } = resolveGates(['QOSReserved=true', 'EnvFiles=true', 'ComponentFlagz=false']);
    expect(withoutEffect).toEqual(['QOSReserved']);
  });

  test('a gate that Kubernetes does not have is a mistake of ours', () => {
    expect(() => resolveGates([]).isEnabled('NoSuchGate')).toThrow('NoSuchGate');
  });
});

const refused = [
  { entry: 'NoSuchGate=true', why: 'unrecognized feature gate: NoSuchGate' },
  { entry: 'SidecarContainers=false', why: 'cannot set feature gate SidecarContainers to false' },
  { entry: 'ComponentFlagz', why: 'not of the form' },
  { entry: 'ComponentFlagz=maybe', why: 'must be true or false' },
  { entry: 'wardle:ComponentFlagz=true', why: 'component not registered: wardle' },
  { entry: 'GangScheduling=true', why: 'depends on features that are disabled: [GenericWorkload]' },
];

describe('resolveGates refuses', () => {
  for (const { entry, why } of refused) {
    test(entry, () => {
      expect(() => resolveGates([entry])).toThrow(`--feature-gates: `);
      expect(() => resolveGates([entry])).toThrow(why);
      expect(() => resolveGates([entry])).toThrow(expect.objectContaining({ exitCode: exitCodes.usage }));
    });
  }
});

describe('the table of gates', () => {
  test('holds every gate that something here depends on', () => {
    const named = [...honouredGates, ...Object.keys(gateDependencies), ...Object.values(gateDependencies).flat()];
    expect(named.filter((name) => !knownGates.has(name))).toEqual([]);
  });
});
