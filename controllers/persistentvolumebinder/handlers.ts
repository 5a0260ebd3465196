import {
  keyOf,
  objectKey,
  type KubeObject,
  type ObjectKey,
  type PersistentVolume,
  type PersistentVolumeClaim,
} from '../../pkg/api/index.ts';
import type { KeySink } from '../../pkg/controller/index.ts';
import type { Handler, Store } from '../../informers/index.ts';
import { keyOfReference } from '../../pkg/volumes/index.ts';
import { forgetClaim, forgetVolume, type OperationDeps } from './start-operation.ts';

export interface HandlerDeps extends Pick<OperationDeps, 'claims' | 'volumes' | 'index' | 'operations' | 'times'> {
  readonly claimQueue: KeySink;
  readonly volumeQueue: KeySink;
}

/** Enqueues volumes, and the claim of a volume that is gone: it is lost. */
export function handleVolumes(deps: HandlerDeps): Handler<PersistentVolume> {
  const { claimQueue, volumeQueue, volumes, index } = deps;
  const enqueue = (key: ObjectKey): void => {
    index.set(key, volumes.get(key));
    volumeQueue.add(key);
  };
  return {
    added: (volume) => enqueue(keyOf(volume)),
    updated: (_before, after) => enqueue(keyOf(after)),
    deleted(last) {
      enqueue(keyOf(last));
      forgetVolume(last, deps);
      const { claimRef } = last.spec;
      if (claimRef !== undefined) claimQueue.add(keyOfReference(claimRef));
    },
  };
}

/** Enqueues claims, and the volumes of a claim that is gone: they are released. */
export function handleClaims(deps: HandlerDeps): Handler<PersistentVolumeClaim> {
  const { claimQueue, volumeQueue, claims, index } = deps;
  const enqueue = (key: ObjectKey): void => {
    claims.settle(key);
    claimQueue.add(key);
  };
  return {
    added: (claim) => enqueue(keyOf(claim)),
    updated: (_before, after) => enqueue(keyOf(after)),
    deleted(last) {
      enqueue(keyOf(last));
      forgetClaim(last, deps);
      const { volumeName = '' } = last.spec;
      if (volumeName !== '') volumeQueue.add(objectKey(undefined, volumeName));
      for (const key of index.volumesFor(keyOf(last))) volumeQueue.add(key);
    },
  };
}

export function enqueueAll<T extends KubeObject>(store: Pick<Store<T>, 'list'>, queue: KeySink): void {
  for (const object of store.list()) queue.add(keyOf(object));
}
