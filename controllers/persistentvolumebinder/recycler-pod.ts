import { copyOf, type Pod, type PodSpec, type Unsaved } from '../../pkg/api/index.ts';
import { bytesOf, type Volume } from '../../pkg/volumes/index.ts';

export type RecyclerTemplate = Pick<Unsaved<Pod>, 'metadata' | 'spec'>;

/** How the volumes of one plugin are recycled. */
export interface Recycler {
  readonly template: RecyclerTemplate;
  readonly minimumSeconds: number;
  readonly secondsPerGi: number;
}

export interface Recyclers {
  readonly hostPath: Recycler;
  readonly nfs: Recycler;
}

/** Empties the volume, and fails unless it is empty then. */
export const defaultTemplate: RecyclerTemplate = {
  metadata: { namespace: 'default' },
  spec: {
    restartPolicy: 'Never',
    volumes: [{ name: 'vol' }],
    containers: [
      {
        name: 'pv-recycler',
        image: 'registry.k8s.io/build-image/debian-base:bookworm-v1.0.6',
        command: ['/bin/sh'],
        args: ['-c', 'test -e /scrub && find /scrub -mindepth 1 -delete && test -z "$(ls -A /scrub)" || exit 1'],
        volumeMounts: [{ name: 'vol', mountPath: '/scrub' }],
      },
    ],
  },
};

/**
 * The pod that recycles a volume; undefined if its plugin cannot recycle. Its name is that of the volume, so that a pod of
 * an earlier attempt is found.
 */
export function composeRecyclerPod({ metadata, spec }: Volume, recyclers: Recyclers): Unsaved<Pod> | undefined {
  const { hostPath, nfs } = spec;
  if (hostPath !== undefined)
    return compose(recyclers.hostPath, { hostPath: { path: hostPath.path } }, { metadata, spec });
  if (nfs === undefined) return undefined;
  return compose(recyclers.nfs, { nfs: { server: nfs.server, path: nfs.path } }, { metadata, spec });
}

type VolumeSource = Omit<NonNullable<PodSpec['volumes']>[number], 'name'>;

function compose(recycler: Recycler, source: VolumeSource, volume: Pick<Volume, 'metadata' | 'spec'>): Unsaved<Pod> {
  const { metadata, spec } = copyOf<RecyclerTemplate>(recycler.template);
  const { generateName: _prefix, ...given } = metadata;
  const [first, ...others] = spec.volumes ?? [];
  return {
    metadata: { ...given, name: `recycler-for-${volume.metadata.name}` },
    spec: {
      ...spec,
      activeDeadlineSeconds: deadlineSeconds(recycler, volume),
      volumes: [{ name: first?.name ?? 'vol', ...source }, ...others],
    },
  };
}

function deadlineSeconds({ minimumSeconds, secondsPerGi }: Recycler, { spec }: Pick<Volume, 'spec'>): number {
  const wholeGi = Number(bytesOf(spec.capacity) / 2n ** 30n);
  return Math.max(wholeGi * secondsPerGi, minimumSeconds);
}
