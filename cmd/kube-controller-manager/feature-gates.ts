import type { FeatureGates } from '../../pkg/controller/index.ts';
import { exitCodes, StartupError } from './exit-codes.ts';
import { gateDependencies, knownGates } from './feature-gate-table.ts';

/**
 * Gates that something in this process asks for; a test keeps the list true. Setting any other known gate is allowed
 * and changes nothing.
 */
export const honouredGates: ReadonlySet<string> = new Set([
  'ComponentFlagz',
  'ComponentStatusz',
  'ControllerManagerReleaseLeaderElectionLockOnExit',
  'DeploymentReplicaSetTerminatingReplicas',
  'LoggingAlphaOptions',
  'LoggingBetaOptions',
  'MutableSchedulingDirectivesForSuspendedJobs',
  'PodDeletionCost',
  'PreferSameTrafficDistribution',
  'SeparateTaintEvictionController',
  'TaintTolerationComparisonOperators',
]);

export interface ResolvedGates extends FeatureGates {
  /** Set by hand, also when to the default. */
  isSet(gate: string): boolean;
  /** Known gates set away from their default that nothing here asks for. */
  readonly withoutEffect: readonly string[];
  readonly all: ReadonlyMap<string, boolean>;
}

/** Takes `Gate=true` and `kube:Gate=true` entries. Throws a `StartupError` that names the gate. */
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
      if (enabled === undefined) throw new Error(`feature gate ${gate} is not one of Kubernetes 1.36`);
      return enabled;
    },
  };
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
  if (name === 'CoordinatedLeaderElection' && enabled) {
    throw refuse('CoordinatedLeaderElection is not available: leaving the choice of leader to the server is not built');
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
