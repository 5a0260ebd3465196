import {
  keyOf,
  objectKey,
  type Cached,
  type CSIDriver,
  type ObjectKey,
  type PersistentVolume,
  type PersistentVolumeClaim,
  type Pod,
} from '../../pkg/api/index.ts';
import { podsByClaim, type KeySink } from '../../pkg/controller/index.ts';
import type { HandlerRegistration, Informer } from '../../informers/index.ts';
import { isPodFinished } from '../../pkg/pods/index.ts';
import type { VolumeUse } from './conflicts.ts';

export interface HandlerDeps {
  readonly informers: {
    readonly pods: Informer<Pod>;
    readonly claims: Informer<PersistentVolumeClaim>;
    readonly volumes: Informer<PersistentVolume>;
    readonly drivers: Informer<CSIDriver>;
  };
  readonly queue: KeySink;
  readonly use: VolumeUse;
}

/** Whether a driver sets SELinux labels with the mount. */
export function mountsSelinux(driver: Cached<CSIDriver> | undefined): boolean {
  return driver?.spec.seLinuxMount === true;
}

export function registerHandlers({ informers, queue, use }: HandlerDeps): HandlerRegistration[] {
  const { claims, drivers, pods, volumes } = informers;
  const enqueue = (pod: Cached<Pod>): void => {
    if ((pod.spec.volumes ?? []).length > 0) queue.add(keyOf(pod));
  };
  const enqueueUsers = (claim: ObjectKey): void => pods.store.byIndex(podsByClaim, claim).forEach(enqueue);
  const enqueueBound = ({ spec: { claimRef } }: Cached<PersistentVolume>): void => {
    if (claimRef?.uid !== undefined) enqueueUsers(objectKey(claimRef.namespace, claimRef.name ?? ''));
  };
  const enqueueDriver = ({ metadata }: Cached<CSIDriver>): void => {
    for (const key of use.podsOfDriver(metadata.name)) queue.add(key);
  };
  return [
    pods.addHandler({
      added: enqueue,
      updated(before, after) {
        // Labels and volumes of a pod never change.
        if (isPodFinished(after) && !isPodFinished(before)) enqueue(after);
      },
      deleted: enqueue,
    }),
    claims.addHandler({
      added: (claim) => enqueueUsers(keyOf(claim)),
      updated(before, after) {
        const isSame =
          before.spec?.volumeName === after.spec?.volumeName && before.status?.phase === after.status?.phase;
        if (!isSame) enqueueUsers(keyOf(after));
      },
    }),
    volumes.addHandler({
      added: enqueueBound,
      updated(before, after) {
        if (before.spec.claimRef?.uid !== after.spec.claimRef?.uid) enqueueBound(after);
      },
    }),
    drivers.addHandler({
      added: enqueueDriver,
      updated(before, after) {
        if (mountsSelinux(before) !== mountsSelinux(after)) enqueueDriver(after);
      },
      deleted: enqueueDriver,
    }),
  ];
}
