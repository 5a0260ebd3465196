import { describe, expect, test } from 'vitest';

import { HorizontalPodAutoscalers, type HorizontalPodAutoscaler } from '../../pkg/api/index.ts';
import { build, frozen } from '../../test/support/builders.ts';
import { optionsOf } from './index.ts';
import { settingsOf, tolerancesOf, type Settings } from './settings.ts';

const settings: Settings = {
  syncPeriodMs: 15_000,
  downscaleStabilizationMs: 300_000,
  tolerance: 0.25,
  cpuInitializationMs: 300_000,
  initialReadinessDelayMs: 30_000,
  configurableTolerance: true,
  scaleToZero: false,
  podLevelResources: true,
};
const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web' };

type Behavior = HorizontalPodAutoscaler['spec']['behavior'];

describe('the tolerances of an autoscaler', () => {
  const up: Behavior = { scaleUp: { tolerance: '300m' } };
  const both: Behavior = { scaleUp: { tolerance: '300m' }, scaleDown: { tolerance: '0' } };
  const rows: [name: string, behavior: Behavior, configurable: boolean, scaleUp: number, scaleDown: number][] = [
    ['are those of its behavior', both, true, 0.3, 0],
    ['are that of the flag in a direction without one', up, true, 0.3, 0.25],
    ['are that of the flag without a behavior', undefined, true, 0.25, 0.25],
    ['are that of the flag while HPAConfigurableTolerance is off', both, false, 0.25, 0.25],
  ];
  test.each(rows)('%s', (_name, behavior, configurableTolerance, scaleUp, scaleDown) => {
    const spec = { scaleTargetRef, maxReplicas: 3, ...(behavior && { behavior }) };
    const autoscaler = frozen(build<HorizontalPodAutoscaler>(HorizontalPodAutoscalers, { name: 'web' }, { spec }));
    expect(tolerancesOf(autoscaler, { ...settings, configurableTolerance })).toEqual({ scaleUp, scaleDown });
  });
});

describe('the settings', () => {
  const gated = {
    HPAConfigurableTolerance: 'configurableTolerance',
    HPAScaleToZero: 'scaleToZero',
    PodLevelResources: 'podLevelResources',
  };
  const off = { configurableTolerance: false, scaleToZero: false, podLevelResources: false };
  test.each(Object.entries(gated))('follow the gate %s', (gate, setting) => {
    const made = settingsOf(settings, { isEnabled: (name) => name === gate });
    expect(made).toEqual({ ...settings, ...off, [setting]: true });
  });

  test('follow the flags', () => {
    const given = optionsOf({
      'concurrent-horizontal-pod-autoscaler-syncs': 1,
      'horizontal-pod-autoscaler-cpu-initialization-period': 2,
      'horizontal-pod-autoscaler-downscale-stabilization': 3,
      'horizontal-pod-autoscaler-initial-readiness-delay': 4,
      'horizontal-pod-autoscaler-sync-period': 5,
      'horizontal-pod-autoscaler-tolerance': 6,
    });
    expect(given).toEqual({
      workers: 1,
      cpuInitializationMs: 2,
      downscaleStabilizationMs: 3,
      initialReadinessDelayMs: 4,
      syncPeriodMs: 5,
      tolerance: 6,
    });
  });
});
