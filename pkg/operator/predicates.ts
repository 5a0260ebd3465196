import { isBeingDeleted, isEqualJson, type Cached, type KubeObject } from '../api/index.ts';

/**
 * Whether an event causes a reconcile. `before` is absent for an object that was added. Resyncs, deletions and their
 * start, and objects that are being deleted when the program starts always pass, so that no controller can miss them.
 */
export type Predicate<T extends KubeObject = KubeObject> = (
  object: Cached<T>,
  before: Cached<T> | undefined,
) => boolean;

/** The spec has changed: the API server counts generations. Kinds without generations, such as ConfigMaps, always pass. */
export const generationChanged: Predicate = ({ metadata }, before) =>
  before === undefined || metadata.generation === undefined || metadata.generation !== before.metadata.generation;

export const labelsChanged: Predicate = ({ metadata }, before) =>
  before === undefined || !isEqualJson(metadata.labels, before.metadata.labels, { emptyIsAbsent: true });

export const annotationsChanged: Predicate = ({ metadata }, before) =>
  before === undefined || !isEqualJson(metadata.annotations, before.metadata.annotations, { emptyIsAbsent: true });

/** Whether one of the predicates passes: those of any object, such as `generationChanged`, and those of the kind. */
export function anyOf<T extends KubeObject>(...predicates: readonly NoInfer<Predicate<T>>[]): Predicate<T>;
/** The kind of the predicates, where nothing else tells it. */
export function anyOf<T extends KubeObject>(...predicates: readonly Predicate<T>[]): Predicate<T>;
export function anyOf<T extends KubeObject>(...predicates: readonly Predicate<T>[]): Predicate<T> {
  return (object, before) => predicates.some((predicate) => predicate(object, before));
}

/** Whether the first sight of an object passes: one that is being deleted always does. */
export function additionPasses<T extends KubeObject>(when: Predicate<T> | undefined, object: Cached<T>): boolean {
  return when === undefined || isDeleted(object) || when(object, undefined);
}

/** Whether an update passes: a resync and the start of a deletion always do. */
export function updatePasses<T extends KubeObject>(
  when: Predicate<T> | undefined,
  before: Cached<T>,
  after: Cached<T>,
): boolean {
  if (when === undefined || isResync(before, after)) return true;
  const startsDeletion = isDeleted(after) && !isDeleted(before);
  return startsDeletion || when(after, before);
}

function isResync(before: Cached<KubeObject>, after: Cached<KubeObject>): boolean {
  return before.metadata.resourceVersion === after.metadata.resourceVersion;
}

function isDeleted({ metadata }: Cached<KubeObject>): boolean {
  return isBeingDeleted(metadata);
}
