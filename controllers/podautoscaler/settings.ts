import type { FeatureGates } from '../../pkg/controller/index.ts';
import { approximateValue } from '../../pkg/quantities/index.ts';
import type { Cached, HorizontalPodAutoscaler } from '../../pkg/api/index.ts';
import type { Tolerances } from './replicas.ts';

export type Autoscaler = Cached<HorizontalPodAutoscaler>;

/** Flags and gates. */
export interface Settings {
  readonly syncPeriodMs: number;
  readonly downscaleStabilizationMs: number;
  readonly tolerance: number;
  readonly cpuInitializationMs: number;
  readonly initialReadinessDelayMs: number;
  readonly configurableTolerance: boolean;
  readonly scaleToZero: boolean;
  readonly podLevelResources: boolean;
}

type Gated = 'configurableTolerance' | 'scaleToZero' | 'podLevelResources';

export type FlagSettings = Omit<Settings, Gated>;

export function settingsOf(flags: FlagSettings, gates: FeatureGates): Settings {
  return {
    ...flags,
    configurableTolerance: gates.isEnabled('HPAConfigurableTolerance'),
    scaleToZero: gates.isEnabled('HPAScaleToZero'),
    podLevelResources: gates.isEnabled('PodLevelResources'),
  };
}

/** The tolerances of the autoscaler's `behavior`, or of the flag. */
export function tolerancesOf({ spec }: Autoscaler, settings: Settings): Tolerances {
  const { tolerance, configurableTolerance } = settings;
  const of = (text: string | undefined): number =>
    (configurableTolerance && text !== undefined ? approximateValue(text) : undefined) ?? tolerance;
  return { scaleDown: of(spec.behavior?.scaleDown?.tolerance), scaleUp: of(spec.behavior?.scaleUp?.tolerance) };
}

export function minReplicasOf({ spec }: Autoscaler): number {
  return spec.minReplicas ?? 1;
}
