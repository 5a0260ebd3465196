import {
  CSIDrivers,
  keyOf,
  objectKey,
  PersistentVolumeClaims,
  PersistentVolumes,
  Pods,
  type Cached,
  type ObjectKey,
  type Pod,
} from '../../pkg/api/index.ts';
import {
  podsByClaim,
  RefusedError,
  runWorkers,
  type Controller,
  type ControllerContext,
  type ReconcileResult,
} from '../../pkg/controller/index.ts';
import { attachableVolumeOf, isVolumeKnown, type AttachableVolume } from '../../pkg/volumes/index.ts';
import { isPodFinished } from '../../pkg/pods/index.ts';
import { conflictEvent, VolumeUse } from './conflicts.ts';
import { mountsSelinux, registerHandlers } from './handlers.ts';
import { labelsOf, volumeLabel } from './labels.ts';
import { ConflictMetrics } from './metrics.ts';

const name = 'selinux-warning-controller';

/** Warns about pods that use a volume with different SELinux labels. It writes nothing but events. */
export function createSelinuxWarning(context: ControllerContext): Controller {
  const queue = context.queueFor('selinux_warning');
  const recorder = context.recorderFor('selinux_warning');
  const informers = {
    pods: context.informers.informerFor(Pods),
    claims: context.informers.informerFor(PersistentVolumeClaims),
    volumes: context.informers.informerFor(PersistentVolumes),
    drivers: context.informers.informerFor(CSIDrivers),
  };
  const { claims, drivers, pods, volumes } = informers;
  const metrics = new ConflictMetrics(context.metrics);
  const use = new VolumeUse((ended, begun) => metrics.changed(ended, begun));
  const found = {
    claim: (key: ObjectKey) => claims.store.get(key),
    volume: (volumeName: string) => volumes.store.get(objectKey(undefined, volumeName)),
  };
  pods.addIndex(podsByClaim);
  const handlers = registerHandlers({ informers, queue, use });

  /** Plugins for storage networks set labels with the mount; of CSI drivers, those that say so. */
  const isSupported = ({ csi }: AttachableVolume): boolean =>
    csi === undefined || mountsSelinux(drivers.store.get(objectKey(undefined, csi.driver)));

  /** Returns the names of volumes that the pod itself mounts with different labels. */
  function observe(pod: Cached<Pod>): string[] {
    const labels = labelsOf(pod);
    const ambiguous: string[] = [];
    for (const volume of pod.spec.volumes ?? []) {
      const own = labels.get(volume.name);
      if (own === undefined) continue; // no container mounts it
      if (!isVolumeKnown(volume, pod, found)) continue; // the claim or its volume enqueues the pod when they are bound
      const attachable = attachableVolumeOf(volume, pod, found);
      const [label = '', ...others] = own;
      if (others.length > 0) ambiguous.push(volume.name);
      else if (attachable !== undefined) track(pod, attachable, label);
    }
    return ambiguous;
  }

  function track(pod: Cached<Pod>, volume: AttachableVolume, label: string): void {
    const effective = volumeLabel(pod, label, isSupported(volume));
    for (const conflict of use.add(volume.uniqueName, volume.csi?.driver, keyOf(pod), effective)) {
      const about = pods.store.get(conflict.pod);
      if (about === undefined) return; // deleted, and the conflict with it
      recorder.event(Pods, about, conflictEvent(conflict));
    }
  }

  async function reconcile(key: ObjectKey): Promise<ReconcileResult> {
    const pod = pods.store.get(key);
    if (pod === undefined || isPodFinished(pod)) {
      use.remove(key);
      return {};
    }
    const ambiguous = observe(pod);
    for (const volume of ambiguous) {
      const message = `Volume ${JSON.stringify(volume)} is mounted twice with different SELinux labels inside this pod`;
      recorder.event(Pods, pod, { type: 'Warning', reason: 'MultipleSELinuxLabels', message });
    }
    if (ambiguous.length > 0) throw new RefusedError(`pod ${key} mounts volumes with several SELinux labels`);
    return {};
  }

  const work = { name, context, queue, reconcile, caches: handlers, workers: 1, primary: pods.store };
  return { name, run: (signal) => runWorkers(work, signal) };
}
