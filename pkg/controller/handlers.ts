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

/** The one thing an event handler may do with a queue. */
export interface KeySink {
  add(key: ObjectKey): void;
}

/** Queues the object itself, whatever happened to it. */
export function enqueueSelf<T extends KubeObject>(queue: KeySink): Handler<T> {
  return {
    added: (object) => queue.add(keyOf(object)),
    updated: (_before, after) => queue.add(keyOf(after)),
    deleted: (last) => queue.add(keyOf(last)),
  };
}

/** Queues the object's controller if that is of the given kind; when it changes hands, the former one too. */
export function enqueueControllerOwner<T extends KubeObject>(queue: KeySink, ownerKind: Kind): Handler<T> {
  return enqueueMapped<T>(queue, (object) => {
    const key = controllerKeyOf(object, ownerKind);
    return key === undefined ? [] : [key];
  });
}

/** Queues what `map` names, for the state before a change and the state after it. Resyncs queue nothing. */
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
      enqueue(after);
      enqueue(before); // keys are queued once, so this costs only where the two differ
    },
    deleted: enqueue,
  };
}

/** The key of the object's controller, if that is of the given kind. Versions may differ, groups may not. */
export function controllerKeyOf(object: Cached<KubeObject>, ownerKind: Kind): ObjectKey | undefined {
  const owner = controllerOf(object);
  if (owner === undefined || owner.kind !== ownerKind.kind) return undefined;
  if (owner.apiVersion !== apiVersionOf(ownerKind) && splitApiVersion(owner.apiVersion).group !== ownerKind.group) {
    return undefined;
  }
  return objectKey(ownerKind.namespaced ? object.metadata.namespace : undefined, owner.name);
}

/**
 * Queues the object's controller; for an object without one, everybody who might adopt it, but only when that can have
 * changed: pods that run alone have heartbeats too.
 */
export function enqueueOwnerOrAdopters<T extends KubeObject>(
  queue: KeySink,
  ownerKind: Kind,
  whoMayAdopt: (orphan: Cached<T>) => Iterable<ObjectKey>,
): Handler<T> {
  const owner = enqueueControllerOwner<T>(queue, ownerKind);
  const offer = (object: Cached<T>): void => {
    const { metadata } = object as Cached<KubeObject>;
    if (controllerOf({ metadata }) !== undefined || isBeingDeleted(metadata)) return;
    for (const key of whoMayAdopt(object)) queue.add(key);
  };
  return {
    added(object, initial) {
      owner.added?.(object, initial);
      offer(object);
    },
    updated(before, after) {
      owner.updated?.(before, after);
      const released = controllerOf(before) !== undefined && controllerOf(after) === undefined;
      if (released || !isEqualJson(before.metadata.labels, after.metadata.labels)) offer(after);
    },
    deleted(last, missed) {
      owner.deleted?.(last, missed);
    },
  };
}
