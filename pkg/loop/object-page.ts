import {
  controllerOf,
  objectKey,
  resourceName,
  type Cached,
  type CoreEvent,
  type Kind,
  type KubeObject,
  type ObjectKey,
} from '../api/index.ts';
import { itemOf, ownerUidOf, shownKinds } from './items.ts';
import type { ConditionLine, EventLine, Item, ObjectPage, ReconcileRecord, Wait } from './protocol.ts';
import type { Caches } from './picture-view.ts';

/** Which object a page is about. */
export interface ObjectPath {
  readonly kind: Kind;
  readonly key: ObjectKey;
  readonly namespace: string | undefined;
  readonly name: string;
}

/** What only the loop knows of an object. */
export interface ObjectFacts {
  readonly waits: readonly Wait[];
  readonly history: readonly ReconcileRecord[];
  readonly events: readonly EventLine[];
  readonly recordedSinceMs: number;
}

const mostOwned = 200;
/** Longer chains are loops: owners are what users wrote. */
const longestChain = 8;

/**
 * Finds the kind by its resource or kind, in the words of kubectl: `deployments.apps`, `deployments`, `deployment`. Only
 * kinds that this process caches have pages.
 */
export function findObject(caches: Caches, resource: string, namespace: string, name: string): ObjectPath | undefined {
  const wanted = resource.toLowerCase();
  const kinds = caches.inspect().map(({ kind }) => kind);
  const names = (kind: Kind): readonly string[] => [resourceName(kind), kind.resource, kind.kind.toLowerCase()];
  const byName = (index: number): Kind | undefined => kinds.find((kind) => names(kind)[index] === wanted);
  const kind = byName(0) ?? byName(1) ?? byName(2);
  if (kind === undefined) return undefined;
  const own = kind.namespaced && namespace !== '-' ? namespace : undefined;
  return { kind, key: objectKey(own, name), namespace: own, name };
}

export function composeObjectPage(caches: Caches, path: ObjectPath, facts: ObjectFacts): ObjectPage {
  const { kind, namespace, name } = path;
  const object = readObject(caches, path);
  const base = { kind: kind.kind, resource: resourceName(kind), namespace, name };
  if (object === undefined) {
    const text = 'not in the cache';
    return { ...base, exists: false, state: 'ended', text, conditions: [], owners: [], owned: [], ...facts };
  }
  const { state, text } = itemOf(kind, object);
  const { status } = object as { readonly status?: { readonly observedGeneration?: unknown } | undefined };
  const observed = status?.observedGeneration;
  return {
    ...base,
    exists: true,
    state,
    text,
    generation: object.metadata.generation,
    observedGeneration: typeof observed === 'number' ? observed : undefined,
    conditions: conditionsOf(object),
    owners: ownersOf(caches, object),
    owned: ownedBy(caches, object.metadata.uid),
    ...facts,
  };
}

function readObject(caches: Caches, { kind, key }: ObjectPath): Cached<KubeObject> | undefined {
  return caches.find(kind)?.store.get(key);
}

/** Conditions are for people. Every other field of a status or a spec may be a secret, and is left out. */
function conditionsOf(object: Cached<KubeObject>): ConditionLine[] {
  const { status } = object as { readonly status?: { readonly conditions?: unknown } | undefined };
  if (!Array.isArray(status?.conditions)) return [];
  const conditions: readonly unknown[] = status.conditions;
  return conditions.filter(isRecord).map((condition) => ({
    type: textOf(condition['type']),
    status: textOf(condition['status']),
    reason: textOf(condition['reason']),
    message: textOf(condition['message']),
    since: textOf(condition['lastTransitionTime']),
  }));
}

function ownersOf(caches: Caches, object: Cached<KubeObject>): Item[] {
  const owners: Item[] = [];
  let child: Cached<KubeObject> | undefined = object;
  while (child !== undefined && owners.length < longestChain) {
    const reference = controllerOf(child);
    const kind = shownKinds.find((each) => each.kind.kind === reference?.kind)?.kind;
    if (reference === undefined || kind === undefined) return owners;
    const owner: Cached<KubeObject> | undefined = caches
      .find(kind)
      ?.store.get(objectKey(child.metadata.namespace, reference.name));
    if (owner === undefined || owner.metadata.uid !== reference.uid) return owners;
    owners.push(itemOf(kind, owner));
    child = owner;
  }
  return owners;
}

/** Looks through the caches: an index, once added, would cost memory and time for as long as the process runs. */
function ownedBy(caches: Caches, uid: string): Item[] {
  const owned = shownKinds.flatMap(({ kind, toItem }) => {
    const objects = caches.find(kind)?.store.list() ?? [];
    return objects.filter((object) => ownerUidOf(object) === uid).map(toItem);
  });
  return owned.slice(0, mostOwned);
}

/** Newest first. */
export function eventLines(events: readonly CoreEvent[]): EventLine[] {
  const lines = events.map((event) => ({
    type: event.type ?? '',
    reason: event.reason ?? '',
    message: event.message ?? '',
    count: event.series?.count ?? event.count ?? 1,
    source: event.source?.component ?? event.reportingComponent ?? '',
    last: textOf(
      event.series?.lastObservedTime ?? event.lastTimestamp ?? event.eventTime ?? event.metadata.creationTimestamp,
    ),
  }));
  return lines.toSorted((a, b) => (a.last < b.last ? 1 : -1));
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
