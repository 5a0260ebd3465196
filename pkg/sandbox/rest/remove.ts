import { formatTime, parseTime, isBeingDeleted, ExactInteger, type UntypedObject } from '../../api/index.ts';
import { conflict, forbidden, invalid } from '../failure.ts';
import { storageId, type Resource } from '../registry/index.ts';
import { rulesOf } from '../rules/index.ts';
import { isFields } from '../schema/index.ts';
import { Entry } from '../storage/index.ts';
import type { Api, ObjectTarget } from './api.ts';
import type { WriteOptions } from './create.ts';

export interface Deletion {
  readonly gracePeriodSeconds?: number | undefined;
  readonly propagationPolicy?: string | undefined;
  readonly orphanDependents?: boolean | undefined;
  readonly preconditions?: { readonly uid?: string | undefined; readonly resourceVersion?: string | undefined };
}

export interface Removal {
  readonly entry: Entry;
  /** Undefined: the object is terminating, not yet removed. */
  readonly removed: boolean;
}

const policies = ['Background', 'Foreground', 'Orphan'];
const lastingNamespaces = new Set(['default', 'kube-system', 'kube-public']);

/** Removes an object, or marks it as terminating if it has finalizers or a grace period. */
export function deleteObject(
  api: Api,
  { resource, key }: ObjectTarget,
  deletion: Deletion,
  options: WriteOptions,
): Removal {
  const old = api.get(resource, key);
  const { metadata } = old.object;
  checkPreconditions(resource, old.object, deletion);
  const storage = storageId(resource);
  if (storage === 'namespaces' && lastingNamespaces.has(metadata.name)) {
    throw forbidden(resource, metadata.name, 'this namespace may not be deleted');
  }
  const finalizers = planFinalizers(old.object, resource, deletion);
  const graceSeconds = graceOf(old.object, storage, deletion);
  const next = markDeleted(api, old.object, { finalizers, graceSeconds });
  const lasts = finalizers.length > 0 || hasSpecFinalizers(next) || (next.metadata.deletionGracePeriodSeconds ?? 0) > 0;
  if (options.dryRun) return { entry: new Entry(next, old.version), removed: !lasts };
  if (!lasts) return { entry: api.store.remove(storage, key, next), removed: true };
  const isSame = JSON.stringify(next) === JSON.stringify(old.object);
  return { entry: isSame ? old : api.store.put(storage, key, next), removed: false };
}

function checkPreconditions(resource: Resource, { metadata }: UntypedObject, { preconditions }: Deletion): void {
  const { uid, resourceVersion } = preconditions ?? {};
  if (uid !== undefined && uid !== metadata.uid) {
    const why = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${metadata.uid}`;
    throw conflict(resource, metadata.name, why);
  }
  if (resourceVersion === undefined || resourceVersion === metadata.resourceVersion) return;
  const why = `Precondition failed: ResourceVersion in precondition: ${resourceVersion}, ResourceVersion in object meta: ${metadata.resourceVersion}`;
  throw conflict(resource, metadata.name, why);
}

/** The propagation policy is stored as a finalizer, which the garbage collector handles and removes. */
function planFinalizers({ metadata }: UntypedObject, resource: Resource, deletion: Deletion): string[] {
  const { propagationPolicy, orphanDependents } = deletion;
  if (propagationPolicy !== undefined && (orphanDependents !== undefined || !policies.includes(propagationPolicy))) {
    const detail =
      orphanDependents === undefined
        ? `supported values: ${policies.map((each) => JSON.stringify(each)).join(', ')}`
        : 'orphanDependents and deletionPropagation cannot be both set';
    const error = { type: 'Invalid', field: 'propagationPolicy', value: propagationPolicy, detail } as const;
    throw invalid({ group: '', resource: '', kind: 'DeleteOptions' }, '', [error]);
  }
  const present = metadata.finalizers ?? [];
  const others = present.filter((finalizer) => finalizer !== 'orphan' && finalizer !== 'foregroundDeletion');
  const rules = rulesOf(storageId(resource), resource.type.kind === 'custom');
  if (propagationPolicy === 'Orphan' || orphanDependents === true) return [...others, 'orphan'];
  if (propagationPolicy === 'Foreground') return [...others, 'foregroundDeletion'];
  if (propagationPolicy === 'Background' || orphanDependents === false) return others;
  // Without a policy in the request, existing finalizers stay. If there are none, the default of the kind applies.
  if (others.length < present.length) return [...present];
  return rules.orphansByDefault === true ? [...others, 'orphan'] : others;
}

/** Only pods have a grace period, and only those that a kubelet has to stop. */
function graceOf(object: UntypedObject, storage: string, { gracePeriodSeconds }: Deletion): number {
  if (storage !== 'pods') return 0;
  const spec = isFields(object['spec']) ? object['spec'] : {};
  const status = isFields(object['status']) ? object['status'] : {};
  const own = spec['terminationGracePeriodSeconds'];
  const isPlaced = typeof spec['nodeName'] === 'string' && spec['nodeName'] !== '';
  const isOver = status['phase'] === 'Succeeded' || status['phase'] === 'Failed';
  if (!isPlaced || isOver) return 0;
  return Math.max(0, gracePeriodSeconds ?? (typeof own === 'number' || own instanceof ExactInteger ? Number(own) : 30));
}

function markDeleted(
  api: Api,
  object: UntypedObject,
  { finalizers, graceSeconds }: { readonly finalizers: string[]; readonly graceSeconds: number },
): UntypedObject {
  const metadata = { ...object.metadata };
  if (finalizers.length > 0) metadata.finalizers = finalizers;
  else delete metadata.finalizers;
  const { deletionTimestamp, deletionGracePeriodSeconds = 0 } = metadata;
  const deletesAtMs = parseTime(deletionTimestamp);
  if (deletesAtMs === undefined) {
    metadata.deletionTimestamp = formatTime(api.nowMs + graceSeconds * 1000);
    metadata.deletionGracePeriodSeconds = graceSeconds;
    if (metadata.generation !== undefined) metadata.generation += 1;
  } else if (graceSeconds < deletionGracePeriodSeconds) {
    // A second delete may only shorten the grace period, counted from the first delete.
    const startedMs = deletesAtMs - deletionGracePeriodSeconds * 1000;
    metadata.deletionTimestamp = formatTime(Math.max(startedMs + graceSeconds * 1000, api.nowMs));
    metadata.deletionGracePeriodSeconds = graceSeconds;
  }
  const next: UntypedObject = { ...object, metadata };
  if (object.kind === 'Namespace' && object.apiVersion === 'v1') {
    const status = isFields(object['status']) ? object['status'] : {};
    next['status'] = { ...status, phase: 'Terminating' };
  }
  return next;
}

function hasSpecFinalizers(object: UntypedObject): boolean {
  if (object.kind !== 'Namespace' || object.apiVersion !== 'v1') return false;
  const { spec } = object;
  return isFields(spec) && Array.isArray(spec['finalizers']) && spec['finalizers'].length > 0;
}

/** Whether an update removed the last finalizer of a terminating object. */
export function isFinished(object: UntypedObject, old: UntypedObject): boolean {
  const { deletionGracePeriodSeconds = 0, finalizers = [] } = object.metadata;
  if (!isBeingDeleted(object.metadata) || finalizers.length > 0 || hasSpecFinalizers(object)) return false;
  const had = (old.metadata.finalizers ?? []).length > 0 || hasSpecFinalizers(old);
  return had && deletionGracePeriodSeconds === 0;
}
