import { isBeingDeleted, type Cached, type Pod, type StatefulSet, type Unsaved } from '../../pkg/api/index.ts';
import { isPodFinished } from '../../pkg/pods/index.ts';
import { claimTemplatesOf, planClaims, type ClaimsPlan, type KnownClaims } from './claims.ts';
import { hasIdentity, hasStorage, newPod, withIdentity, type Versions } from './identity.ts';
import { podNameOf } from './ordinals.ts';
import {
  isAvailable,
  isRunningAndReady,
  isUnavailable,
  type Arrangement,
  type Availability,
  type Condemned,
} from './replicas.ts';
import { hasStaleClaim, planRetention, podAsUser, type RetentionPlan } from './retention.ts';
import { selectOutdated } from './rolling.ts';

/** One write, or a few that belong together, for one pod. */
export type Step =
  /** The pod has finished: the next sync creates another. */
  | { readonly kind: 'replace'; readonly pod: Cached<Pod> }
  | {
      readonly kind: 'create';
      readonly pod: Unsaved<Pod>;
      readonly claims: ClaimsPlan;
      readonly retention: RetentionPlan;
    }
  /** The pod cannot start, because its claims were deleted. */
  | {
      readonly kind: 'provide';
      readonly podName: string;
      readonly claims: ClaimsPlan;
      readonly retention: RetentionPlan;
    }
  /** The pod, its volumes or the owners of its claims have to be updated. `fixed`: the desired pod. */
  | {
      readonly kind: 'update';
      readonly podName: string;
      readonly fixed: Pod | undefined;
      readonly claims: ClaimsPlan;
      readonly retention: RetentionPlan;
    };

/** The writes of one sync, in order. Each part is empty if an earlier part has to wait. */
export interface PodsPlan {
  /** One pod at a time. Otherwise the steps of several replicas run in parallel. */
  readonly isOrdered: boolean;
  /** The steps for each replica; in order, up to the first for which the others have to wait. */
  readonly replicas: readonly (readonly Step[])[];
  /** The owners of claims that belong to pods of a scale-down. */
  readonly retention: readonly RetentionPlan[];
  readonly scaleDown: readonly Cached<Pod>[];
  /** Whether the sync comes to the update: no earlier part has to wait, and the strategy is not OnDelete. */
  readonly reachesUpdate: boolean;
  /** Pods to delete because they are not at the update revision. */
  readonly outdated: readonly Cached<Pod>[];
}

/** Whether the plan creates or deletes pods. */
export function isChangingPods({ replicas, scaleDown, outdated }: PodsPlan): boolean {
  const changes = ({ kind }: Step): boolean => kind === 'create' || kind === 'replace';
  return scaleDown.length > 0 || outdated.length > 0 || replicas.some((steps) => steps.some(changes));
}

export interface PlanInput extends Availability {
  readonly set: Cached<StatefulSet>;
  readonly arrangement: Arrangement;
  readonly versions: Versions;
  readonly claims: KnownClaims;
  /** Undefined unless the gate is on. */
  readonly maxUnavailable: number | undefined;
}

const nothing: PodsPlan = {
  isOrdered: true,
  replicas: [],
  retention: [],
  scaleDown: [],
  reachesUpdate: false,
  outdated: [],
};

export function planPods(input: PlanInput): PodsPlan {
  const { set, arrangement } = input;
  if (isBeingDeleted(set.metadata)) return nothing;
  const isOrdered = set.spec.podManagementPolicy !== 'Parallel';
  const { steps, isBlocked } = planReplicas(input, isOrdered);
  if (isBlocked) return { ...nothing, isOrdered, replicas: steps };
  const retention = arrangement.condemned
    .map(({ pod, ordinal }) => planRetention(set, podAsUser(pod, ordinal), input.claims))
    .filter(({ update }) => update.length > 0);
  const plan = { isOrdered, replicas: steps, retention, scaleDown: selectCondemned(input, isOrdered) };
  const isScaled = !isOrdered || arrangement.condemned.length === 0; // scaling comes before updates
  const reachesUpdate = isScaled && set.spec.updateStrategy?.type !== 'OnDelete';
  return { ...plan, reachesUpdate, outdated: reachesUpdate ? selectOutdated(input) : [] };
}

function planReplicas(
  input: PlanInput,
  isOrdered: boolean,
): { readonly steps: readonly (readonly Step[])[]; readonly isBlocked: boolean } {
  const steps: (readonly Step[])[] = [];
  for (const { ordinal, pod } of input.arrangement.replicas) {
    const planned = pod === undefined ? planMissing(input, ordinal) : planPod(input, pod, ordinal);
    steps.push(planned);
    if (isOrdered && (pod === undefined || isInTheWay(pod, input))) return { steps, isBlocked: true };
  }
  return { steps, isBlocked: false };
}

/** Whether the pods after this one have to wait for it. */
function isInTheWay(pod: Cached<Pod>, availability: Availability): boolean {
  return (
    isPodFinished(pod) || isBeingDeleted(pod.metadata) || !isRunningAndReady(pod) || !isAvailable(pod, availability)
  );
}

function planMissing({ set, versions, claims }: PlanInput, ordinal: number): readonly Step[] {
  const user = { name: podNameOf(set, ordinal), uid: undefined, ordinal };
  if (hasStaleClaim(set, user, claims)) return [];
  return [
    {
      kind: 'create',
      pod: newPod(set, versions, ordinal),
      claims: planClaims(set, ordinal, claims),
      retention: planRetention(set, user, claims),
    },
  ];
}

function planPod(input: PlanInput, pod: Cached<Pod>, ordinal: number): readonly Step[] {
  const { set, claims: known } = input;
  if (isPodFinished(pod)) return isBeingDeleted(pod.metadata) ? [] : [{ kind: 'replace', pod }];
  const retention = planRetention(set, podAsUser(pod, ordinal), known);
  const steps: Step[] = [];
  const isProvided = pod.status?.phase === 'Pending' && claimTemplatesOf(set).length > 0;
  if (isProvided) {
    const claims = planClaims(set, ordinal, known);
    steps.push({ kind: 'provide', podName: pod.metadata.name, claims, retention });
  }
  const isOrdered = set.spec.podManagementPolicy !== 'Parallel';
  if (isOrdered && isInTheWay(pod, input)) return steps;
  const update = planUpdate(input, pod, ordinal, isProvided ? undefined : retention);
  return update === undefined ? steps : [...steps, update];
}

const noClaims: ClaimsPlan = { create: [], terminating: [] };
const noRetention: RetentionPlan = { conflicts: [], update: [] };

/** Without `retention`, the step before this one writes the claims. A second write would have an old resource version. */
function planUpdate(
  { set, claims: known }: PlanInput,
  pod: Cached<Pod>,
  ordinal: number,
  retention: RetentionPlan | undefined,
): Extract<Step, { kind: 'update' }> | undefined {
  const storage = hasStorage(set, pod);
  const isFixed = storage && hasIdentity(set, pod);
  const changesOwners = retention !== undefined && retention.update.length > 0;
  if (isFixed && !changesOwners) return undefined;
  return {
    kind: 'update',
    podName: pod.metadata.name,
    fixed: isFixed ? undefined : withIdentity(set, pod, ordinal),
    claims: storage || retention === undefined ? noClaims : planClaims(set, ordinal, known),
    retention: changesOwners ? retention : noRetention,
  };
}

/** In order: the highest ordinal, if it is available or the first unavailable pod. Otherwise: all. */
function selectCondemned(input: PlanInput, isOrdered: boolean): readonly Cached<Pod>[] {
  const { arrangement } = input;
  const isLeft = ({ pod }: Condemned): boolean => !isBeingDeleted(pod.metadata);
  if (!isOrdered) return arrangement.condemned.filter(isLeft).map(({ pod }) => pod);
  const [next] = arrangement.condemned;
  if (next === undefined || !isLeft(next)) return [];
  const isHealthy = isRunningAndReady(next.pod) && isAvailable(next.pod, input);
  return isHealthy || next.pod === firstUnavailable(input) ? [next.pod] : [];
}

/** The unavailable pod with the lowest ordinal. Pods that the set should keep come first. */
function firstUnavailable(input: PlanInput): Cached<Pod> | undefined {
  const { replicas, condemned } = input.arrangement;
  const pods = [...replicas, ...condemned.toReversed()].map(({ pod }) => pod);
  return pods.find((pod) => isUnavailable(pod, input));
}
