import type { FeatureGates } from '../../pkg/controller/index.ts';
import { exitCodes, StartupError } from './exit-codes.ts';
import { gateDependencies, knownGates } from './feature-gate-table.ts';

/**
 * Gates that the code reads; a test compares this list with the code. Any other known gate is accepted without effect.
 */
export const honouredGates: ReadonlySet<string> = new Set([
  'APIServerIdentity',
  'CBORServingAndStorage',
  'ClusterTrustBundle',
  'ComponentFlagz',
  'ComponentStatusz',
  'ControllerManagerReleaseLeaderElectionLockOnExit',
  'CoordinatedLeaderElection',
  'DRADeviceTaintRules',
  'DRADeviceTaints',
  'DRAPrioritizedList',
  'DRAResourcePoolStatus',
  'DRAWorkloadResourceClaims',
  'DeploymentReplicaSetTerminatingReplicas',
  'DRAExtendedResource',
  'GenericWorkload',
  'InformerResourceVersion',
  'DynamicResourceAllocation',
  'HPAConfigurableTolerance',
  'HPAScaleToZero',
  'LoggingAlphaOptions',
  'LoggingBetaOptions',
  'MaxUnavailableStatefulSet',
  'MultiCIDRServiceAllocator',
  'MutableSchedulingDirectivesForSuspendedJobs',
  'PersistentVolumeClaimUnusedSinceTime',
  'PodCertificateRequest',
  'PodDeletionCost',
  'PodLevelResources',
  'PreferSameTrafficDistribution',
  'SELinuxChangePolicy',
  'SeparateTaintEvictionController',
  'StaleControllerConsistencyDaemonSet',
  'StatefulSetSemanticRevisionComparison',
  'StorageVersionAPI',
  'StorageVersionMigrator',
  'TaintTolerationComparisonOperators',
  'VolumeAttributesClass',
  'WorkloadWithJob',
]);

export interface ResolvedGates extends FeatureGates {
  /** Whether the gate was set, even if to its default. */
  isSet(gate: string): boolean;
  /** Known gates that were changed from their default and have no effect. */
  readonly withoutEffect: readonly string[];
  readonly all: ReadonlyMap<string, boolean>;
}

/** Parses `Gate=true` and `kube:Gate=true` entries. Throws a `StartupError` that names the gate. */
export function resolveGates(entries: readonly string[]): ResolvedGates {
  const set = new Map(entries.filter((entry) => entry !== '').map(parseEntry));
  const all = new Map<string, boolean>();
  for (const [name, { stage, enabledByDefault, locked }] of knownGates) {
    const group = locked ? undefined : set.get(stage === 'alpha' ? 'AllAlpha' : stage === 'beta' ? 'AllBeta' : '');
    all.set(name, set.get(name) ?? group ?? enabledByDefault);
  }
  checkDependencies(all);
  const moved = [...set.keys()].filter((name) => all.get(name) !== knownGates.get(name)?.enabledByDefault);
  return {
    all,
    withoutEffect: moved.filter((name) => knownGates.has(name) && !honouredGates.has(name)),
    isSet: (gate) => set.has(gate),
    isEnabled(gate) {
      const enabled = all.get(gate);
      if (enabled === undefined) throw new UnknownGateError(gate);
      return enabled;
    },
  };
}

/** Code asked for a gate that Kubernetes 1.36 does not have. */
class UnknownGateError extends Error {
  override readonly name = 'UnknownGateError';
  readonly reason = 'UnknownGate';

  constructor(gate: string) {
    super(`feature gate ${gate} does not exist in Kubernetes 1.36`);
  }
}

function parseEntry(entry: string): [name: string, enabled: boolean] {
  const [, component = 'kube', name = '', value = ''] = /^(?:([^:=]*):)?([^=]*)=(.*)$/.exec(entry.trim()) ?? [];
  if (name === '') throw refuse(`"${entry}" is not of the form Gate=true`);
  if (component !== 'kube' && component !== '') throw refuse(`component not registered: ${component}`);
  if (value !== 'true' && value !== 'false')
    throw refuse(`invalid value of ${name}: "${value}", must be true or false`);
  const enabled = value === 'true';
  if (name === 'AllAlpha' || name === 'AllBeta') return [name, enabled];
  const spec = knownGates.get(name);
  if (spec === undefined) throw refuse(`unrecognized feature gate: ${name}`);
  if (spec.locked && enabled !== spec.enabledByDefault) {
    throw refuse(`cannot set feature gate ${name} to ${value}, feature is locked to ${String(spec.enabledByDefault)}`);
  }
  return [name, enabled];
}

function checkDependencies(all: ReadonlyMap<string, boolean>): void {
  for (const [name, needed] of Object.entries(gateDependencies)) {
    const off = needed.filter((dependency) => all.get(dependency) === false);
    if (all.get(name) === true && off.length > 0) {
      throw refuse(`${name} is enabled, but depends on features that are disabled: [${off.join(' ')}]`);
    }
  }
}

function refuse(problem: string): StartupError {
  return new StartupError(exitCodes.usage, `--feature-gates: ${problem}`);
}
