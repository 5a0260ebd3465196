import {
  apiVersionOf,
  controllerReference,
  isBeingDeleted,
  isControlledBy,
  isEqualJson,
  keyOf,
  ownValue,
  setOwn,
  type Cached,
  type Kind,
  type KubeObject,
  type ObjectKey,
  type ObjectMeta,
} from '../api/index.ts';
import { DefinitionError } from './definition-error.ts';

/** An object of that name exists and has another controller. Retried: the other object may be deleted. */
export class ResourceExistsError extends Error {
  override readonly name = 'ResourceExistsError';
  readonly reason = 'ErrResourceExists';
}

/** The configuration that is applied for an owned object. */
export interface OwnedConfiguration {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta & { readonly name: string };
  readonly [field: string]: unknown;
}

/** Adds kind, namespace and controller reference to the desired object. */
export function ownedConfiguration(
  owner: { readonly kind: Kind; readonly object: Cached<KubeObject> },
  kind: Kind,
  desired: Readonly<Record<string, unknown>> & { readonly metadata: Cached<ObjectMeta> },
): OwnedConfiguration {
  const { name, namespace = kind.namespaced ? owner.object.metadata.namespace : undefined } = desired.metadata;
  const what = `ensure ${kind.kind} ${JSON.stringify(name)}`;
  if (name === undefined || name === '') {
    throw new DefinitionError(`${what}: a name is needed, because the object is found by it`);
  }
  if (owner.kind.namespaced && namespace !== owner.object.metadata.namespace) {
    throw new DefinitionError(
      `${what}: an owner in ${String(owner.object.metadata.namespace)} cannot own in ${String(namespace)}`,
    );
  }
  const others = desired.metadata.ownerReferences ?? [];
  const metadata = {
    ...desired.metadata,
    name,
    ...(namespace !== undefined && { namespace }),
    ownerReferences: [...others, controllerReference(owner.kind, owner.object)],
  } as OwnedConfiguration['metadata']; // the labels and annotations are only sent
  return { ...desired, apiVersion: apiVersionOf(kind), kind: kind.kind, metadata };
}

export type EnsurePlan = 'create' | 'apply' | 'leave' | 'refuse';

export interface EnsureFacts {
  readonly configuration: OwnedConfiguration;
  readonly existing: Cached<KubeObject> | undefined;
  readonly owner: Cached<KubeObject>;
  /** Undefined after a restart. */
  readonly lastApplied: Applied | undefined;
}

/** An applied configuration, and how the server stored it: `1000m` of CPU is stored as `1`. */
export interface Applied {
  readonly json: string;
  readonly stored: unknown;
}

export function appliedAs(configuration: OwnedConfiguration, answer: Cached<KubeObject>): Applied {
  return { json: JSON.stringify(configuration), stored: project(answer, configuration) };
}

/** The fields of `wanted`, with their values in `answer`. */
function project(answer: unknown, wanted: unknown): unknown {
  if (Array.isArray(wanted) && Array.isArray(answer) && answer.length === wanted.length) {
    return wanted.map((item, index) => project(answer[index], item));
  }
  if (!isFields(wanted) || !isFields(answer)) return answer;
  const fields: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(wanted)) setOwn(fields, name, project(ownValue(answer, name), value));
  return fields;
}

/**
 * The action for an owned object. The object is left alone if the same configuration was applied before and every field
 * of it still has its value: a reconcile without a change costs no request.
 */
export function planEnsure({ configuration, existing, owner, lastApplied }: EnsureFacts): EnsurePlan {
  if (existing === undefined) return 'create';
  if (!isControlledBy(existing, owner)) return 'refuse';
  if (isBeingDeleted(existing.metadata)) return 'leave'; // its deletion enqueues the owner, which creates it again
  const isSame = lastApplied?.json === JSON.stringify(configuration);
  return isSame && contains(existing, lastApplied.stored) ? 'leave' : 'apply';
}

/** Whether all fields of `wanted` have these values in `actual`. Items of lists are compared in order. */
export function contains(actual: unknown, wanted: unknown): boolean {
  if (wanted === undefined) return true;
  if (Array.isArray(wanted)) {
    if (!Array.isArray(actual) || actual.length !== wanted.length) return false;
    return wanted.every((item, index) => contains(actual[index], item));
  }
  if (!isFields(wanted)) return isEqualJson(actual, wanted);
  if (!isFields(actual)) return Object.keys(wanted).length === 0 && actual === undefined;
  return Object.entries(wanted).every(
    // The items of a cached list have no apiVersion and kind.
    ([name, value]) => contains(ownValue(actual, name), value) || (isTypeField(name) && !Object.hasOwn(actual, name)),
  );
}

function isTypeField(name: string): boolean {
  return name === 'apiVersion' || name === 'kind';
}

function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The configurations that a controller has applied, by owner. */
export class AppliedConfigurations {
  readonly #byOwner = new Map<ObjectKey, Map<string, Applied>>();

  get(owner: ObjectKey, configuration: OwnedConfiguration): Applied | undefined {
    return this.#byOwner.get(owner)?.get(idOf(configuration));
  }

  set(owner: ObjectKey, configuration: OwnedConfiguration, answer: Cached<KubeObject>): void {
    const applied = this.#byOwner.get(owner) ?? new Map<string, Applied>();
    this.#byOwner.set(owner, applied);
    applied.set(idOf(configuration), appliedAs(configuration, answer));
  }

  forget(owner: ObjectKey): void {
    this.#byOwner.delete(owner);
  }
}

function idOf(configuration: OwnedConfiguration): string {
  return `${configuration.apiVersion} ${configuration.kind} ${keyOf(configuration)}`;
}
