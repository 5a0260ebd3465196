import {
  apiVersionOf,
  controllerOf,
  isEqualJson,
  keyOf,
  objectKey,
  splitApiVersion,
  isBeingDeleted,
  type Cached,
  type Kind,
  type KubeObject,
  type ObjectKey,
} from '../api/index.ts';
import type { Handler } from '../../informers/index.ts';

/** The part of a queue that event handlers use. */
export interface KeySink {
  add(key: ObjectKey): void;
}

/** Enqueues the object itself on every event. */
export function enqueueSelf<T extends KubeObject>(queue: KeySink): Handler<T> {
  return {
    added: (object) => queue.add(keyOf(object)),
    updated: (_before, after) => queue.add(keyOf(after)),
    deleted: (last) => queue.add(keyOf(last)),
  };
}

/** Enqueues the object's controller if it has the given kind. If an update changes the controller, enqueues both. */
export function enqueueControllerOwner<T extends KubeObject>(queue: KeySink, ownerKind: Kind): Handler<T> {
  return enqueueMapped<T>(queue, (object) => {
    const key = controllerKeyOf(object, ownerKind);
    return key === undefined ? [] : [key];
  });
}

/** Enqueues the keys that `map` returns for the states before and after a change. Resyncs enqueue nothing. */
export function enqueueMapped<T extends KubeObject>(
  queue: KeySink,
  map: (object: Cached<T>) => Iterable<ObjectKey>,
): Handler<T> {
  const enqueue = (object: Cached<T>): void => {
    for (const key of map(object)) queue.add(key);
  };
  return {
    added: enqueue,
    updated(before, after) {
      if (before.metadata.resourceVersion === after.metadata.resourceVersion) return;
      // A set: an idle worker takes the first key at once, and a second one would cost another reconcile.
      for (const key of new Set([...map(after), ...map(before)])) queue.add(key);
    },
    deleted: enqueue,
  };
}

/** The key of the object's controller, if it has the given kind. The API version may differ, the group may not. */
export function controllerKeyOf(object: Cached<KubeObject>, ownerKind: Kind): ObjectKey | undefined {
  const owner = controllerOf(object);
  if (owner === undefined || owner.kind !== ownerKind.kind) return undefined;
  if (owner.apiVersion !== apiVersionOf(ownerKind) && splitApiVersion(owner.apiVersion).group !== ownerKind.group) {
    return undefined;
  }
  return objectKey(ownerKind.namespaced ? object.metadata.namespace : undefined, owner.name);
}

/**
 * Enqueues the object's controller. For an orphan, enqueues every possible adopter, but only after a change that can
 * affect adoption: status updates of a pod without a controller must not cost syncs.
 */
export function enqueueOwnerOrAdopters<T extends KubeObject>(
  queue: KeySink,
  ownerKind: Kind,
  adoptersOf: (orphan: Cached<T>) => Iterable<ObjectKey>,
): Handler<T> {
  const owner = enqueueControllerOwner<T>(queue, ownerKind);
  const enqueueAdopters = (object: Cached<T>): void => {
    const { metadata } = object as Cached<KubeObject>;
    if (controllerOf({ metadata }) !== undefined || isBeingDeleted(metadata)) return;
    for (const key of adoptersOf(object)) queue.add(key);
  };
  return {
    added(object, initial) {
      owner.added?.(object, initial);
      enqueueAdopters(object);
    },
    updated(before, after) {
      owner.updated?.(before, after);
      const released = controllerOf(before) !== undefined && controllerOf(after) === undefined;
      if (released || !isEqualJson(before.metadata.labels, after.metadata.labels)) enqueueAdopters(after);
    },
    deleted(last, missed) {
      owner.deleted?.(last, missed);
    },
  };
}
