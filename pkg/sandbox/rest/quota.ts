import {
  keyOf,
  resourceName,
  splitKey,
  type Cached,
  type ObjectKey,
  type Pod,
  type ResourceQuota,
  type UntypedObject,
} from '../../api/index.ts';
import {
  chargeQuotas,
  createCountEvaluator,
  createPodEvaluator,
  createResourceClaimEvaluator,
  isIgnoredByQuota,
  missingPodResources,
  resourceListOf,
  serviceEvaluator,
  volumeClaimEvaluator,
  type Evaluator,
} from '../../quota/index.ts';
import { forbidden } from '../failure.ts';
import type { Resource } from '../registry/index.ts';
import type { Api } from './api.ts';

const pods = { podLevel: true };

export interface ChargedChange {
  readonly key: ObjectKey;
  readonly object: UntypedObject;
  /** Absent for a new object. */
  readonly old?: UntypedObject | undefined;
  readonly isStatus?: boolean | undefined;
  readonly dryRun: boolean;
}

/**
 * Charges a write to the quotas of its namespace, as the admission plugin ResourceQuota does: by the limits and the usage
 * in their statuses. Throws 403 if one of them does not allow it.
 */
export function chargeForWrite(api: Api, resource: Resource, change: ChargedChange): void {
  if (!resource.namespaced || api.store.count('resourcequotas') === 0 || !isCharged(resource, change)) return;
  const { namespace } = splitKey(change.key);
  const quotas = [...api.store.entries('resourcequotas')]
    .map(({ object }) => object as unknown as ResourceQuota) // objects stored under this name are quotas
    .filter(({ metadata }) => metadata.namespace === namespace);
  if (quotas.length === 0) return;
  const missing = (names: Iterable<string>): string | undefined =>
    missingPodResources(change.object as unknown as Cached<Pod>, names, pods);
  const isPod = resourceName(resource) === 'pods';
  const charges = chargeQuotas(evaluatorOf(api, resource), quotas, { ...change, ...(isPod && { missing }) });
  if ('refusal' in charges) throw forbidden(resource, change.object.metadata.name, charges.refusal);
  if (change.dryRun) return;
  for (const { quota, used } of charges.charged) {
    const status = { ...quota.status, used: resourceListOf(used) };
    api.store.put('resourcequotas', keyOf(quota), { ...quota, status } as unknown as UntypedObject);
  }
}

/** Which writes of a resource can change what it costs. */
function isCharged(resource: Resource, { object, old, isStatus = false }: ChargedChange): boolean {
  const name = resourceName(resource);
  if (isIgnoredByQuota(name)) return false;
  if (old === undefined) return true;
  if (name === 'persistentvolumeclaims') return true;
  if (isStatus) return false;
  if (name === 'services' || name === 'resourceclaims.resource.k8s.io') return true;
  return name === 'pods' && hasDeadline(object) !== hasDeadline(old);
}

function hasDeadline(object: UntypedObject): boolean {
  const deadline = (object as unknown as Cached<Pod>).spec.activeDeadlineSeconds;
  return deadline !== undefined && deadline !== null;
}

function evaluatorOf(api: Api, resource: Resource): Evaluator {
  const name = resourceName(resource);
  const special: readonly Evaluator[] = [
    createPodEvaluator({ ...pods, nowMs: () => api.nowMs }),
    serviceEvaluator,
    volumeClaimEvaluator,
    createResourceClaimEvaluator(undefined),
  ];
  return special.find((evaluator) => evaluator.resource === name) ?? createCountEvaluator(name);
}
