import {
  compileSelector,
  copyOf,
  findCondition,
  formatTime,
  isBeingDeleted,
  isConditionTrue,
  keyOf,
  setOwn,
  type PodDisruptionBudgetCondition,
  type ObjectKey,
  type Pod,
  type PodCondition,
  type PodDisruptionBudget,
  type PodDisruptionBudgetStatus,
} from '../../api/index.ts';
import { badRequest, conflict, Failure, forbidden, tooManyRequests } from '../failure.ts';
import { isFields, type Fields } from '../schema/index.ts';
import type { Entry } from '../storage/index.ts';
import type { Api } from './api.ts';
import type { WriteOptions } from './create.ts';
import { deleteObject, type Deletion } from './remove.ts';
import { storeUpdate } from './update.ts';

/** The limit of evicted pods that the disruption controller has not yet observed. */
const maxDisruptedPods = 2000;

const budgets = { group: 'policy', resource: 'poddisruptionbudget', kind: 'PodDisruptionBudget' };

/** Deletes a pod unless a disruption budget forbids it. */
export function evictPod(api: Api, key: ObjectKey, eviction: Fields, given: WriteOptions): void {
  const pods = api.registry.get('', 'v1', 'pods');
  const pod = podAt(api, key);
  const metadata = isFields(eviction['metadata']) ? eviction['metadata'] : {};
  if (metadata['name'] !== pod.metadata.name) {
    throw badRequest('name in URL does not match name in Eviction object');
  }
  const deleteOptions = isFields(eviction['deleteOptions']) ? eviction['deleteOptions'] : {};
  const deletion: Deletion = deleteOptions;
  const isTrial = Array.isArray(deleteOptions['dryRun']) && deleteOptions['dryRun'].length > 0;
  const options = { ...given, dryRun: given.dryRun || isTrial };
  if (!isSpared(pod)) takeFromBudget(api, pod, options);
  checkPreconditions(pod, deletion);
  if (!options.dryRun) markEvicted(api, key);
  // The condition has given the pod a new version, and the precondition has been checked already.
  const { resourceVersion: _checked, ...preconditions } = deletion.preconditions ?? {};
  deleteObject(api, { resource: pods, key }, { ...deletion, preconditions }, options);
}

function podAt(api: Api, key: ObjectKey): Pod {
  return api.get(api.registry.get('', 'v1', 'pods'), key).object as unknown as Pod; // the objects stored as pods
}

/** Whether no budget counts the pod: it is not running, or it is terminating. */
function isSpared({ metadata, status }: Pod): boolean {
  return ['Succeeded', 'Failed', 'Pending'].includes(status?.phase ?? '') || isBeingDeleted(metadata);
}

function checkPreconditions({ metadata }: Pod, { preconditions = {} }: Deletion): void {
  const { uid = '', resourceVersion = '' } = preconditions;
  const subject = { group: '', resource: 'Pod', kind: 'Pod' };
  if (uid !== '' && uid !== metadata.uid) {
    const why = `the UID in the precondition (${uid}) does not match the UID in record (${metadata.uid}). The object might have been deleted and then recreated`;
    throw conflict(subject, metadata.name, why);
  }
  if (resourceVersion === '' || resourceVersion === metadata.resourceVersion) return;
  const why = `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${metadata.resourceVersion}). The object might have been modified`;
  throw conflict(subject, metadata.name, why);
}

/** The reason for the deletion, for controllers that count disruptions apart from failures. */
function markEvicted(api: Api, key: ObjectKey): void {
  const { status, ...pod } = podAt(api, key);
  const present = findCondition(status?.conditions, 'DisruptionTarget');
  const isSame = present !== undefined && present.status === 'True';
  const condition: PodCondition = {
    type: 'DisruptionTarget',
    status: 'True',
    reason: 'EvictionByEvictionAPI',
    message: 'Eviction API: evicting',
    lastTransitionTime: isSame ? present.lastTransitionTime : formatTime(api.nowMs),
  };
  api.store.put('pods', key, { ...pod, status: { ...status, conditions: replaced(status?.conditions, condition) } });
}

/** Counts the eviction in the pod's budget. Throws if the budget allows no disruption. */
function takeFromBudget(api: Api, pod: Pod, options: WriteOptions): void {
  const [old, ...others] = budgetsOf(api, pod);
  if (old === undefined) return;
  if (others.length > 0) {
    const message = 'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.';
    throw new Failure(500, '', message);
  }
  const budget = old.object as unknown as PodDisruptionBudget; // the objects stored as budgets
  const isReady = isConditionTrue(pod.status?.conditions, 'Ready');
  if (!isReady && sparesUnhealthy(budget)) return;
  const status = decrement(budget, pod.metadata.name, api.nowMs);
  const resource = api.registry.get('policy', 'v1', 'poddisruptionbudgets');
  const next: Fields = { ...copyOf(old.object), status };
  storeUpdate(api, resource, { key: keyOf(budget), old, next }, { ...options, target: 'status' });
}

function budgetsOf(api: Api, { metadata }: Pod): Entry[] {
  return [...api.store.entries('poddisruptionbudgets.policy')].filter(({ object }) => {
    const { metadata: own, spec } = object as unknown as PodDisruptionBudget; // the objects stored as budgets
    return own.namespace === metadata.namespace && compileSelector(spec?.selector)(metadata.labels);
  });
}

/** Whether a pod that is not ready may be evicted without being counted. */
function sparesUnhealthy({ spec, status }: PodDisruptionBudget): boolean {
  if (spec?.unhealthyPodEvictionPolicy === 'AlwaysAllow') return true;
  const { currentHealthy = 0, desiredHealthy = 0 } = status ?? {};
  return currentHealthy >= desiredHealthy && desiredHealthy > 0;
}

/** The status of the budget with one allowed disruption less. */
function decrement(budget: PodDisruptionBudget, podName: string, nowMs: number): PodDisruptionBudgetStatus {
  const { metadata } = budget;
  const status: PodDisruptionBudgetStatus = budget.status ?? {};
  const { disruptionsAllowed: allowed = 0 } = status;
  if ((status.observedGeneration ?? 0) < (metadata.generation ?? 0)) {
    throw refusal(`The disruption budget ${metadata.name} is still being processed by the server.`, 10);
  }
  if (allowed < 0) throw forbidden(budgets, metadata.name, 'pdb disruptions allowed is negative');
  if (Object.keys(status.disruptedPods ?? {}).length > maxDisruptedPods) {
    const why = 'DisruptedPods map too big - too many evictions not confirmed by PDB controller';
    throw forbidden(budgets, metadata.name, why);
  }
  if (allowed === 0) throw refusal(whyNot(metadata.name, status));
  const disruptedPods = { ...status.disruptedPods };
  setOwn(disruptedPods, podName, formatTime(nowMs));
  const disruptionsAllowed = allowed - 1;
  const conditions = disruptionsAllowed === 0 ? withInsufficientPods(status, nowMs) : status.conditions;
  return { ...status, disruptionsAllowed, disruptedPods, conditions };
}

function refusal(cause: string, retryAfterSeconds?: number): Failure {
  const message = "Cannot evict pod as it would violate the pod's disruption budget.";
  return tooManyRequests(message, [{ reason: 'DisruptionBudget', message: cause }], retryAfterSeconds);
}

function whyNot(name: string, status: PodDisruptionBudgetStatus): string {
  const { currentHealthy = 0, desiredHealthy = 0, conditions } = status;
  const condition = findCondition(conditions, 'DisruptionAllowed');
  const says = condition?.status === 'False' && condition.message !== '';
  if (says && condition.reason === 'SyncFailed') {
    return `The disruption budget ${name} does not allow evicting pods currently because it failed sync: ${condition.message}`;
  }
  if (currentHealthy <= desiredHealthy) {
    return `The disruption budget ${name} needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`;
  }
  const always = `The disruption budget ${name} does not allow evicting pods currently`;
  return says ? `${always} (${condition.reason}): ${condition.message}` : always;
}

function withInsufficientPods(status: PodDisruptionBudgetStatus, nowMs: number): PodDisruptionBudgetCondition[] {
  const present = findCondition(status.conditions, 'DisruptionAllowed');
  const isSame = present !== undefined && present.status === 'False';
  return replaced(status.conditions, {
    type: 'DisruptionAllowed',
    status: 'False',
    reason: 'InsufficientPods',
    message: '',
    observedGeneration: status.observedGeneration,
    lastTransitionTime: isSame ? present.lastTransitionTime : formatTime(nowMs),
  });
}

/** The conditions, with this one in place of the one of its type, or at the end. */
function replaced<C extends { type: string }>(conditions: readonly C[] | undefined, condition: NoInfer<C>): C[] {
  const all = [...(conditions ?? [])];
  const index = all.findIndex(({ type }) => type === condition.type);
  if (index < 0) all.push(condition);
  else all[index] = condition;
  return all;
}
