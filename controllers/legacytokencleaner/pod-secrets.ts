import type { Cached, Container, Pod, PodSpec } from '../../pkg/api/index.ts';

/** The names of all Secrets that a pod refers to. */
export function secretNamesOf({ spec }: Cached<Pod>): readonly string[] {
  const containers = [
    ...(spec.initContainers ?? []),
    ...spec.containers,
    ...((spec.ephemeralContainers ?? []) as readonly Cached<Container>[]),
  ];
  const names = [
    ...(spec.imagePullSecrets ?? []).map(({ name }) => name),
    ...containers.flatMap(secretNamesOfContainer),
    ...(spec.volumes ?? []).flatMap(secretNamesOfVolume),
  ];
  return names.filter((name): name is string => name !== undefined && name !== '');
}

type Names = readonly (string | undefined)[];

function secretNamesOfContainer({ env = [], envFrom = [] }: Cached<Container>): Names {
  return [
    ...envFrom.map(({ secretRef }) => secretRef?.name),
    ...env.map(({ valueFrom }) => valueFrom?.secretKeyRef?.name),
  ];
}

type Volume = NonNullable<PodSpec['volumes']>[number];

function secretNamesOfVolume(volume: Cached<Volume>): Names {
  return [
    volume.secret?.secretName,
    ...(volume.projected?.sources ?? []).map(({ secret }) => secret?.name),
    volume.csi?.nodePublishSecretRef?.name,
    volume.azureFile?.secretName,
    volume.cephfs?.secretRef?.name,
    volume.cinder?.secretRef?.name,
    volume.flexVolume?.secretRef?.name,
    volume.iscsi?.secretRef?.name,
    volume.rbd?.secretRef?.name,
    volume.scaleIO?.secretRef?.name,
    volume.storageos?.secretRef?.name,
  ];
}
