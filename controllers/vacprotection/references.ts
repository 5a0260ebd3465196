import type { Cached, PersistentVolume, PersistentVolumeClaim } from '../../pkg/api/index.ts';

/** The classes that a claim wants, has, or is being changed to. */
export function classesOfClaim({ spec, status }: Cached<PersistentVolumeClaim>): string[] {
  return distinct([
    spec.volumeAttributesClassName,
    status?.currentVolumeAttributesClassName,
    status?.modifyVolumeStatus?.targetVolumeAttributesClassName,
  ]);
}

export function classesOfVolume({ spec }: Cached<PersistentVolume>): string[] {
  return distinct([spec.volumeAttributesClassName]);
}

/** An empty name is that of no class. */
function distinct(names: readonly (string | null | undefined)[]): string[] {
  return [...new Set(names.filter((name) => typeof name === 'string' && name !== ''))] as string[];
}

/** The classes that an object no longer refers to. */
export function releasedClasses(before: readonly string[], after: readonly string[]): string[] {
  return before.filter((name) => !after.includes(name));
}
